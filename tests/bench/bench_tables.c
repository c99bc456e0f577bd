// SPDX-License-Identifier: Apache-2.0
/*
 * How far techniques of regression are off on rows that they have not seen: ten made tables of
 * storage measurements and of smooth functions, learned by their logarithms, the mean relative
 * error of each, and the geometric mean over the tables. Every figure is an error and depends on
 * seeds alone, not on the load of the machine.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/models/regression/choice/select.h"
#include "tests/support/tap.h"

#define NR_TRAIN  400
#define NR_UNSEEN 400
#define NR_VARS	  5
#define NOISE	  0.03 /* relative, of a measurement */
/* the simplest within that share of the best is taken, as blkcast fit does */
#define WITHIN 0.02

/* A variable: steps of a grid, or a range. */
struct axis {
	double low, high;
	int nr_steps; /* 0: any value between */
	bool doubling;
};

struct made_table {
	const char *name;
	struct axis axes[NR_VARS];
	double (*response)(const double *x);
};

/* Mean value analysis of x[0] clients at a server of x[1] ms and a delay of x[2] ms. */
static double closed_queue(const double *x)
{
	double queue = 0, response = x[1];

	for (int n = 1; n <= (int)x[0]; n++) {
		response = x[1] * (1 + queue);
		queue = n * response / (response + x[2] + 0.1 * x[3]);
	}
	return response * (1 + 0.02 * x[4]);
}

static double two_servers(const double *x)
{
	double a = 0, b = 0, ra = 0, rb = 0;

	for (int n = 1; n <= (int)x[0]; n++) {
		ra = x[1] * (1 + a);
		rb = x[2] * (1 + b);
		a = n * ra / (ra + rb + x[3]);
		b = n * rb / (ra + rb + x[3]);
	}
	return ra + rb + 0.01 * x[4];
}

static double open_queue(const double *x)
{
	return x[1] / (1 - fmin(0.95, x[0])) * (1 + x[2] * x[2]) / 2 + x[3] + 0.1 * x[4];
}

/* Threads, size in KiB, reads in %, file set in GiB, 1 random: a disk behind a cache. */
static double cached_disk(const double *x)
{
	double hit = x[4] > 0.5 ? fmin(1, 24 / x[3]) : 0.9;
	double miss = 6 * (x[4] > 0.5) + 0.5 + x[1] / 120, read = x[2] / 100;

	return (read * (1 - hit) * miss + (1 - read) * (0.4 + x[1] / 300) + 0.05) *
	       (1 + 0.7 * (x[0] - 1));
}

static double solid_state(const double *x)
{
	double service = 0.08 + x[1] / 2000 + (1 - x[2] / 100) * 0.06;

	return fmax(service, service * x[0] / 8) + (x[3] > 32 ? 0.02 * log2(x[3] / 32) : 0) +
	       0.05 * x[4];
}

static double throttled(const double *x)
{
	double rate = fmin(3000 + 200 * x[3], 120000 / x[1]);

	return fmax(1000 * x[0] / rate, 0.3 + x[1] / 500) * (1 + 0.1 * x[4]) + x[2] / 500;
}

static double interference(const double *x)
{
	double other = x[2] * (0.3 + x[3] / 256), own = x[0] * (0.3 + x[1] / 256);

	return (own + other) * (1 + 0.15 * x[4] * (own > other));
}

static double friedman_1(const double *x)
{
	return 10 + 10 * sin(M_PI * x[0] * x[1]) + 20 * pow(x[2] - 0.5, 2) + 10 * x[3] + 5 * x[4];
}

static double friedman_2(const double *x)
{
	return 50 + sqrt(x[0] * x[0] + pow(x[1] * x[2] - 1 / (x[1] * x[3]), 2)) + x[4];
}

static double friedman_3(const double *x)
{
	return 0.3 + atan((x[1] * x[2] - 1 / (x[1] * x[3])) / x[0]) + 0.01 * x[4];
}

static const struct made_table tables[] = {
	{ "closed queue",
	  { { 1, 60, 60, false },
	    { 0.2, 5, 0, false },
	    { 1, 100, 0, false },
	    { 0, 10, 0, false },
	    { 0, 4, 5, false } },
	  closed_queue },
	{ "two servers",
	  { { 1, 40, 40, false },
	    { 0.2, 5, 0, false },
	    { 0.2, 5, 0, false },
	    { 0, 50, 0, false },
	    { 0, 4, 5, false } },
	  two_servers },
	{ "open queue",
	  { { 0.05, 0.9, 0, false },
	    { 0.5, 8, 0, false },
	    { 0.5, 3, 6, false },
	    { 0.1, 2, 0, false },
	    { 0, 4, 5, false } },
	  open_queue },
	{ "cached disk",
	  { { 1, 64, 7, true },
	    { 4, 256, 7, true },
	    { 0, 100, 6, false },
	    { 1, 100, 0, false },
	    { 0, 1, 2, false } },
	  cached_disk },
	{ "solid state",
	  { { 1, 64, 7, true },
	    { 4, 1024, 9, true },
	    { 0, 100, 5, false },
	    { 1, 256, 9, true },
	    { 0, 1, 2, false } },
	  solid_state },
	{ "throttled",
	  { { 1, 64, 7, true },
	    { 4, 256, 7, true },
	    { 0, 100, 5, false },
	    { 0, 8, 5, false },
	    { 0, 1, 2, false } },
	  throttled },
	{ "interference",
	  { { 1, 32, 0, false },
	    { 4, 64, 5, true },
	    { 1, 32, 0, false },
	    { 4, 64, 5, true },
	    { 0, 1, 2, false } },
	  interference },
	{ "friedman 1",
	  { { 0, 1, 0, false },
	    { 0, 1, 0, false },
	    { 0, 1, 0, false },
	    { 0, 1, 0, false },
	    { 0, 1, 0, false } },
	  friedman_1 },
	{ "friedman 2",
	  { { 1, 100, 0, false },
	    { 125, 1750, 0, false },
	    { 0.05, 1, 0, false },
	    { 1, 11, 0, false },
	    { 0, 4, 5, false } },
	  friedman_2 },
	{ "friedman 3",
	  { { 1, 100, 0, false },
	    { 125, 1750, 0, false },
	    { 0.05, 1, 0, false },
	    { 1, 11, 0, false },
	    { 0, 4, 5, false } },
	  friedman_3 },
};

static const char *const chosen[] = { "mars-ia", "cubist", "ensemble", "gp", "stack" };

#define NR_CHOSEN TAP_NR(chosen)
#define BAGGED	  NR_CHOSEN	  /* the ensemble with fifteen bags */
#define AUTOMATIC (NR_CHOSEN + 1) /* what blkcast fit would select */
#define NR_SERIES (NR_CHOSEN + 2)

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "bench_tables: %s: %s\n", what, strerror(-ret));
	exit(1);
}

static double draw(const struct axis *a, struct rng *r)
{
	double share = rng_uniform(r);

	if (a->nr_steps > 1)
		share = (double)rng_below(r, (uint64_t)a->nr_steps) / (a->nr_steps - 1);
	if (a->doubling)
		return a->low * pow(a->high / a->low, share);
	return a->low + share * (a->high - a->low);
}

static void make(const struct made_table *t, struct dataset *d, size_t nr, struct rng *r,
		 bool noisy)
{
	must(dataset_alloc(d, nr, NR_VARS, false), t->name);
	for (size_t i = 0; i < nr; i++) {
		double x[NR_VARS];

		for (size_t v = 0; v < NR_VARS; v++)
			x[v] = d->x[v * nr + i] = draw(&t->axes[v], r);
		/*
		 * Training rows are learned by their logarithms, so that errors count by their
		 * ratio.
		 */
		d->y[i] = noisy ? log(t->response(x)) + NOISE * rng_normal(r) : t->response(x);
	}
}

/* The mean relative error on the unseen rows of a technique with these parameters. */
static double error_of(const struct technique *t, const double *p, const struct schema *s,
		       const struct dataset *d, const struct dataset *unseen)
{
	double *rows = dataset_rows(unseen), *out = calloc(unseen->nr_rows, sizeof(*out)), sum = 0;
	struct model m;

	must(rows && out ? model_fit(&m, t, p, s, d) : -12, t->name);
	must(model_predict(&m, rows, unseen->nr_rows, out), t->name);
	for (size_t i = 0; i < unseen->nr_rows; i++)
		sum += fabs(out[i] / unseen->y[i] - 1) / (double)unseen->nr_rows;
	model_release(&m);
	free(rows);
	free(out);
	return sum;
}

/* Shares of new measurements inside their 90 % intervals: of all, and of a third by size. */
struct coverage {
	double all, third;
	size_t nr;
};

static int by_prediction(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Adds how many noisy measurements of unseen rows lie inside; the highest third by prediction. */
static void cover(struct coverage *c, struct candidate *best, const struct schema *s,
		  const struct dataset *d, const struct dataset *unseen)
{
	size_t n = unseen->nr_rows;
	double *rows = dataset_rows(unseen), *out = calloc(n, sizeof(*out));
	double *inside = calloc(2 * n, sizeof(*inside));
	struct model m;
	struct rng r;

	rng_stream(&r, 8, c->nr);
	must(rows && out && inside ? model_fit(&m, best->technique, best->parameters, s, d) : -12,
	     "coverage");
	candidate_give(best, &m);
	must(model_predict(&m, rows, n, out), "coverage");
	for (size_t i = 0; i < n; i++) {
		double low, high, y = unseen->y[i] * exp(NOISE * rng_normal(&r));

		model_interval(&m, 0.9, rows + i * unseen->nr_vars, out[i], &low, &high);
		inside[2 * i] = out[i];
		inside[2 * i + 1] = y >= low && y <= high;
	}
	qsort(inside, n, 2 * sizeof(*inside), by_prediction);
	for (size_t i = 0; i < n; i++) {
		c->all += inside[2 * i + 1] / (double)n;
		if (i >= n - n / 3)
			c->third += inside[2 * i + 1] / (double)(n / 3);
	}
	c->nr++;
	model_release(&m);
	free(rows);
	free(out);
	free(inside);
}

static struct coverage covered[3]; /* as selected, and on the linear scale mars-ia and cubist */

/* Learns the response itself, whose errors grow with it, with standard parameters. */
static void cover_linear(const struct schema *s, const struct dataset *d,
			 const struct dataset *unseen)
{
	static const char *const names[] = { "mars-ia", "cubist" };
	struct schema linear = *s;
	struct dataset exponents = *d;
	double *y = calloc(d->nr_rows, sizeof(*y));

	must(y ? 0 : -12, "coverage");
	for (size_t i = 0; i < d->nr_rows; i++)
		y[i] = exp(d->y[i]);
	exponents.y = y;
	linear.log = false;
	for (size_t k = 0; k < TAP_NR(names); k++) {
		struct select_config config = { .schema = &linear,
						.data = &exponents,
						.standard = true };
		struct candidate c = { .technique = technique_find(names[k]) };

		must(select_candidate(&c, &config), names[k]);
		cover(&covered[1 + k], &c, &linear, &exponents, unseen);
		candidate_release(&c);
	}
	free(y);
}

/* Errors of all series on one table. */
static void judge(const struct schema *s, const struct dataset *d, const struct dataset *unseen,
		  double *errors)
{
	struct select_config config = {
		.schema = s, .data = d, .splits = 4, .explorations = 5, .iterations = 10
	};
	struct candidate c[16] = { 0 };
	size_t nr = 0, best;
	double p[PARAMETERS_MAX] = { 0 };

	for (size_t i = 0; techniques[i]; i++) {
		const struct technique *t = techniques[i];

		if (t->by_name)
			continue;
		c[nr].technique = t;
		config.known = c;
		config.nr_known = nr;
		must(select_candidate(&c[nr], &config), t->name);
		for (size_t k = 0; k < NR_CHOSEN; k++)
			if (t == technique_find(chosen[k]))
				errors[k] = error_of(t, c[nr].parameters, s, d, unseen);
		if (t == &technique_ensemble) {
			memcpy(p, c[nr].parameters, sizeof(p));
			p[t->nr_parameters - 1] = 15;
			errors[BAGGED] = error_of(t, p, s, d, unseen);
		}
		nr++;
	}
	best = select_best(c, nr, WITHIN);
	printf("# %s selected\n", c[best].technique->name);
	errors[AUTOMATIC] = error_of(c[best].technique, c[best].parameters, s, d, unseen);
	cover(&covered[0], &c[best], s, d, unseen);
	cover_linear(s, d, unseen);
	for (size_t i = 0; i < nr; i++)
		candidate_release(&c[i]);
}

static void one_table(const struct made_table *t, uint64_t stream, double *errors)
{
	struct schema s = { .response = strdup("y"), .log = true, .nr = NR_VARS };
	struct dataset d, unseen;
	struct rng r;

	s.variables = calloc(NR_VARS, sizeof(*s.variables));
	for (size_t v = 0; s.variables && v < NR_VARS; v++)
		s.variables[v].name = strdup("x");
	rng_stream(&r, 7, stream);
	make(t, &d, NR_TRAIN, &r, true);
	make(t, &unseen, NR_UNSEEN, &r, false);
	schema_take_ranges(&s, &d);
	must(dataset_make_folds(&d, 10, 1, NULL), t->name);
	judge(&s, &d, &unseen, errors);
	dataset_release(&d);
	dataset_release(&unseen);
	schema_release(&s);
}

static void print_coverage(void)
{
	static const char *const names[] = { "selected automatically", "mars-ia, linear",
					     "cubist, linear" };

	for (size_t k = 0; k < TAP_NR(covered); k++)
		printf("figure\tten made tables, inside 90 %% intervals: %s\t%.3f\t\t0.87 to "
		       "0.93\tin the highest third of the predictions; %.3f in all\n",
		       names[k], covered[k].third / (double)covered[k].nr,
		       covered[k].all / (double)covered[k].nr);
}

int main(void)
{
	double logarithms[NR_SERIES] = { 0 };

	lsq_single_thread();
	for (size_t i = 0; i < TAP_NR(tables); i++) {
		double errors[NR_SERIES];

		one_table(&tables[i], i, errors);
		printf("# %-14s", tables[i].name);
		for (size_t k = 0; k < NR_SERIES; k++) {
			logarithms[k] += log(errors[k]) / TAP_NR(tables);
			printf(" %6.2f %%", 100 * errors[k]);
		}
		printf("\n");
		fflush(stdout);
	}
	for (size_t k = 0; k < NR_SERIES; k++)
		printf("figure\tten made tables, unseen rows: %s\t%.3f\t%%\t%s\tgeometric mean of the "
		       "mean relative errors\n",
		       k < NR_CHOSEN ? chosen[k]
		       : k == BAGGED ? "ensemble with 15 bags"
				     : "selected automatically",
		       100 * exp(logarithms[k]), k == AUTOMATIC ? "<= 5" : "");
	print_coverage();
	return 0;
}
