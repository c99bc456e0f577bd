/* SPDX-License-Identifier: Apache-2.0 */
/* What every technique owes, held against each of them in turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/choice/objective.h"
#include "tests/support/regression_data.h"
#include "tests/support/tap.h"

#define NR_SETS		 40
#define NR_SETS_OF_MEANS 8 /* each of them is several fits */

struct bench {
	struct dataset data, train, test;
	struct schema schema;
	double *rows;
	struct sweep_input in;
};

static void bench_init(struct bench *b, size_t nr, bool factor, uint64_t seed)
{
	regression_data(&b->data, &b->schema, nr, factor, seed);
	ok_int(dataset_make_folds(&b->data, 5, seed, NULL), 0);
	ok_int(dataset_subset(&b->train, &b->data, 0, false), 0);
	ok_int(dataset_subset(&b->test, &b->data, 0, true), 0);
	b->rows = dataset_rows(&b->test);
	b->in = (struct sweep_input){ &b->schema, &b->train, b->rows, b->test.nr_rows, NULL };
}

static void bench_release(struct bench *b)
{
	dataset_release(&b->data);
	dataset_release(&b->train);
	dataset_release(&b->test);
	schema_release(&b->schema);
	free(b->rows);
}

/* Within the searched range, mostly near its lower end, where sets differ most. */
static void random_set(const struct technique *t, struct rng *r, double *p)
{
	for (unsigned int i = 0; i < t->nr_parameters; i++) {
		const struct parameter *q = &t->parameters[i];
		double share = pow(rng_uniform(r), q->whole ? 3 : 8);

		p[i] = q->low + share * (q->high - q->low);
		if (q->whole)
			p[i] = rint(p[i]);
		if (strcmp(q->name, "bags") == 0)
			p[i] = 1 + fmod(p[i], 3); /* more bags are more of the same, and slow */
	}
}

/* One sweep asked for many sets, against a sweep of its own for each; then backwards. */
static void shares(const struct technique *t, const struct bench *b)
{
	double sets[NR_SETS][PARAMETERS_MAX], *shared, *alone;
	size_t n = b->test.nr_rows;
	void *sweep = NULL, *one = NULL;
	int nr = t->nr_parts ? NR_SETS_OF_MEANS : NR_SETS, differ = 0;
	struct rng r;

	shared = calloc(NR_SETS * n, sizeof(*shared));
	alone = calloc(n, sizeof(*alone));
	rng_seed(&r, 9);
	ok_int(t->open(&sweep, t, &b->in), 0);
	for (int i = 0; i < nr; i++) {
		random_set(t, &r, sets[i]);
		ok_int(t->predict(sweep, sets[i], shared + (size_t)i * n), 0);
	}
	for (int i = nr - 1; i >= 0; i--) {
		ok_int(t->open(&one, t, &b->in), 0);
		ok_int(t->predict(one, sets[i], alone), 0);
		differ += memcmp(alone, shared + (size_t)i * n, n * sizeof(*alone)) != 0;
		t->close(one);
		ok_int(t->predict(sweep, sets[i], alone), 0);
		differ += memcmp(alone, shared + (size_t)i * n, n * sizeof(*alone)) != 0;
	}
	ok_int(differ, 0);
	t->close(sweep);
	free(shared);
	free(alone);
}

static void sharing_changes_nothing(void)
{
	for (size_t i = 0; techniques[i]; i++) {
		struct bench b;

		tap_note("%s", techniques[i]->name);
		bench_init(&b, 150, i % 2, 3);
		shares(techniques[i], &b);
		bench_release(&b);
	}
}

/* The model a sweep hands over, saved and loaded, predicts what the sweep does. */
static void round_trip(const struct technique *t, const struct bench *b)
{
	double p[PARAMETERS_MAX] = { 0 }, *sweeps, *models, *loaded;
	size_t n = b->test.nr_rows;
	struct model m, back;
	json_t *root, *again;
	char *text;
	void *sweep;

	sweeps = calloc(3 * n, sizeof(*sweeps));
	models = sweeps + n;
	loaded = models + n;
	technique_standard(t, technique_nr_columns(&b->schema), p);
	if (strcmp(t->name, "cubist") == 0) {
		p[1] = 3;
		p[2] = 4;
	}
	ok_int(t->open(&sweep, t, &b->in), 0);
	ok_int(t->predict(sweep, p, sweeps), 0);
	for (size_t i = 0; i < n && t->bounded; i++) {
		struct limits l = limits_of(&b->train);

		sweeps[i] = limits_keep(&l, sweeps[i]);
	}
	t->close(sweep);
	ok_int(model_fit(&m, t, p, &b->schema, &b->train), 0);
	ok_int(model_predict(&m, b->rows, n, models), 0);
	ok_int(model_json(&m, &root, NULL), 0);
	text = json_dumps(root, JSON_REAL_PRECISION(17));
	again = json_loads(text, 0, NULL);
	ok_int(model_from_json(&back, again, NULL), 0);
	ok_int(model_predict(&back, b->rows, n, loaded), 0);
	for (size_t i = 0; i < n; i++) {
		/* The order of additions differs between sweep and model. */
		ok_near(models[i], sweeps[i], 1e-9);
		ok_near(loaded[i], models[i], 0);
	}
	json_decref(root);
	json_decref(again);
	free(text);
	free(sweeps);
	model_release(&m);
	model_release(&back);
}

/*
 * The ensemble predicts the mean of what mars-ia, kept within its limits, and cubist predict alone.
 */
static void ensemble_is_mean(void)
{
	double p[PARAMETERS_MAX] = { 0 }, mean[3][64];
	const struct technique *t = technique_find("ensemble");
	struct model m, mars, cubist;
	struct bench b;

	bench_init(&b, 200, true, 4);
	technique_standard(t, technique_nr_columns(&b.schema), p);
	ok_int(model_fit(&m, t, p, &b.schema, &b.train), 0);
	ok_int(model_fit(&mars, technique_find("mars-ia"), p, &b.schema, &b.train), 0);
	ok_int(model_fit(&cubist, technique_find("cubist"), p + 3, &b.schema, &b.train), 0);
	ok_eq(m.nr_members, 2);
	ok_int(model_predict(&m, b.rows, b.test.nr_rows, mean[0]), 0);
	ok_int(model_predict(&mars, b.rows, b.test.nr_rows, mean[1]), 0);
	ok_int(model_predict(&cubist, b.rows, b.test.nr_rows, mean[2]), 0);
	for (size_t i = 0; i < b.test.nr_rows; i++)
		ok_near(mean[0][i], 0.5 * mean[1][i] + 0.5 * mean[2][i], 1e-12);
	model_release(&m);
	model_release(&mars);
	model_release(&cubist);
	bench_release(&b);
}

/* Fifteen bags by default, each of another sample of the rows. */
static void bags_differ(void)
{
	double p[PARAMETERS_MAX] = { 0 };
	const struct technique *t = technique_find("mars-bag");
	struct model m;
	struct bench b;
	int same = 0;

	bench_init(&b, 100, false, 4);
	technique_standard(t, technique_nr_columns(&b.schema), p);
	ok_int(model_fit(&m, t, p, &b.schema, &b.train), 0);
	ok_eq(m.nr_members, 15);
	for (size_t i = 0; i < m.nr_members; i++) {
		ok_near(m.members[i].share, 1.0 / 15, 1e-15);
		for (size_t k = 0; k < i; k++)
			same += m.members[i].terms.nr == m.members[k].terms.nr &&
				m.members[i].terms.coefficients[0] ==
					m.members[k].terms.coefficients[0];
	}
	ok_int(same, 0);
	model_release(&m);
	bench_release(&b);
}

/*
 * What MARS and least squares say stays within the responses of training and a tenth of their
 * range.
 */
static void sums_are_bounded(void)
{
	static const char *const names[] = { "lrm", "lrm-ia", "mars", "mars-ia", "mars-bag" };

	for (size_t k = 0; k < TAP_NR(names); k++) {
		const struct technique *t = technique_find(names[k]);
		double p[PARAMETERS_MAX] = { 0 }, far[5] = { 9, -7, 11, 40, -3 }, out;
		struct limits l;
		struct model m;
		struct bench b;

		bench_init(&b, 100, false, 4);
		l = limits_of(&b.train);
		technique_standard(t, technique_nr_columns(&b.schema), p);
		ok_int(model_fit(&m, t, p, &b.schema, &b.train), 0);
		for (int sign = -1; sign <= 1; sign += 2) {
			for (int v = 0; v < 5; v++)
				far[v] *= sign;
			ok_int(model_predict(&m, far, 1, &out), 0);
			ok(out >= l.low && out <= l.high);
		}
		model_release(&m);
		bench_release(&b);
	}
}

static void saved_is_fitted(void)
{
	for (size_t i = 0; techniques[i]; i++) {
		struct bench b;

		tap_note("%s", techniques[i]->name);
		bench_init(&b, 200, true, 4);
		round_trip(techniques[i], &b);
		bench_release(&b);
	}
}

static void threads_change_nothing(void)
{
	for (size_t i = 0; techniques[i]; i++) {
		struct objective_config config = { .technique = techniques[i] };
		double p[3][PARAMETERS_MAX] = { { 0 } }, cost[2][3];
		struct rng r;
		struct bench b;

		bench_init(&b, 120, true, 5);
		config.schema = &b.schema;
		config.data = &b.data;
		rng_seed(&r, 2);
		for (int k = 0; k < 3; k++)
			random_set(techniques[i], &r, p[k]);
		for (int k = 0; k < 2; k++) {
			struct objective *o = NULL;

			config.nr_threads = k ? 5 : 1;
			ok_int(objective_new(&o, &config), 0);
			ok_int(objective_eval(o, p[0], 3, NULL, cost[k]), 0);
			objective_free(o);
		}
		ok(memcmp(cost[0], cost[1], sizeof(cost[0])) == 0);
		bench_release(&b);
	}
}

/* A row of weight 2 is that row twice: for what is fitted, not for spans counted in rows. */
static void weights_are_rows(void)
{
	static const char *const exact[] = { "lrm", "lrm-ia", "cart" };

	for (size_t i = 0; i < TAP_NR(exact); i++) {
		const struct technique *t = technique_find(exact[i]);
		double p[PARAMETERS_MAX] = { 0 }, a[60], c[60];
		struct dataset w, twice;
		struct model ma, mb;
		struct bench b;

		if (!t)
			continue;
		bench_init(&b, 60, true, 6);
		technique_standard(t, technique_nr_columns(&b.schema), p);
		p[0] = 2; /* cart: so small that counts of rows stop nothing */
		ok_int(dataset_alloc(&w, 60, 6, true), 0);
		ok_int(dataset_alloc(&twice, 120, 6, false), 0);
		for (size_t k = 0; k < 120; k++) {
			for (size_t v = 0; v < 6; v++) {
				twice.x[v * 120 + k] = b.data.x[v * 60 + k % 60];
				w.x[v * 60 + k % 60] = b.data.x[v * 60 + k % 60];
			}
			twice.y[k] = w.y[k % 60] = b.data.y[k % 60];
			w.weight[k % 60] = 2;
		}
		ok_int(model_fit(&ma, t, p, &b.schema, &w), 0);
		ok_int(model_fit(&mb, t, p, &b.schema, &twice), 0);
		free(b.rows);
		b.rows = dataset_rows(&b.data);
		ok_int(model_predict(&ma, b.rows, 60, a), 0);
		ok_int(model_predict(&mb, b.rows, 60, c), 0);
		for (int k = 0; k < 60; k++)
			ok_near(a[k], c[k], 1e-8);
		model_release(&ma);
		model_release(&mb);
		dataset_release(&w);
		dataset_release(&twice);
		bench_release(&b);
	}
}

/* Data no model can do much with: finite answers all the same. */
static void poor_data(void)
{
	for (int kind = 0; kind < 5; kind++) {
		for (size_t i = 0; techniques[i]; i++) {
			const struct technique *t = techniques[i];
			size_t nr = kind == 3 ? 3 : 30;
			double p[PARAMETERS_MAX] = { 0 }, out[30];
			struct model m;
			struct bench b;

			bench_init(&b, kind == 3 ? 5 : 30, true, 7);
			for (size_t k = 0; k < b.data.nr_rows; k++) {
				if (kind == 0)
					b.data.y[k] = 0;
				if (kind == 1) /* all rows alike */
					for (size_t v = 0; v < 6; v++)
						b.data.x[v * 30 + k] = 1;
				if (kind == 2)
					b.data.y[k] = 1e100 * (k % 2 ? 1 : -1);
				if (kind == 4)
					b.data.x[k] = 1e12 + (double)k * 1e-3;
			}
			technique_standard(t, technique_nr_columns(&b.schema), p);
			ok_int(model_fit(&m, t, p, &b.schema, &b.data), 0);
			free(b.rows);
			b.rows = dataset_rows(&b.data);
			ok_int(model_predict(&m, b.rows, nr, out), 0);
			for (size_t k = 0; k < nr; k++)
				if (!isfinite(out[k]))
					ok(!"a prediction is not finite");
			model_release(&m);
			bench_release(&b);
		}
	}
}

static const struct tap_test tests[] = {
	{ "what a sweep shares between parameter sets changes no prediction",
	  sharing_changes_nothing },
	{ "a model predicts what its sweep did, saved and loaded too", saved_is_fitted },
	{ "the ensemble is the mean of mars-ia and cubist", ensemble_is_mean },
	{ "bagged MARS is fifteen models of different samples", bags_differ },
	{ "sums of terms stay within the training range and a tenth", sums_are_bounded },
	{ "any number of threads gives the same bits", threads_change_nothing },
	{ "a weight of two is a row twice", weights_are_rows },
	{ "poor data gives finite predictions", poor_data },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
