// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/regression/choice/select.h"
#include "analyzer/models/regression/technique.h"
#include "analyzer/models/storage/fit/calibrate_phi.h"

#define FOLDS	     5
#define SPLITS	     4
#define EXPLORATIONS 3
#define ITERATIONS   4

struct learning {
	struct table table;
	struct schema schema;
	struct dataset data;
	struct candidate candidate;
};

static void calibrate_phi_release(struct learning *l)
{
	candidate_release(&l->candidate);
	dataset_release(&l->data);
	schema_release(&l->schema);
	table_release(&l->table);
}

const char *const mix_variable_names[MIX_NR_VARIABLES] = { "clients_ratio", "size_ratio", "clients",
							   "read_bytes", "write_bytes" };

static const char *const ln_names[MIX_NR_VARIABLES] = { "ln_clients_ratio", "ln_size_ratio",
							"ln_clients", "ln_read_bytes",
							"ln_write_bytes" };

/*
 * Chooses the variables and the response of a model: the variables of the thesis alone or the
 * logarithms of all variables; the response itself or its logarithm.
 */
struct how {
	bool by_size, all, logarithm;
};

static int read_points(struct learning *l, const struct mix_point *points, size_t nr,
		       const struct how *how, struct err *err)
{
	const char *predictors[MIX_NR_VARIABLES];
	struct dataset_spec spec = { .response = "y",
				     .predictors = predictors,
				     .log = how->logarithm };
	struct buf text;
	int ret;

	for (int v = 0; v < MIX_NR_VARIABLES; v++) {
		bool of_size = v != MIX_CLIENTS_RATIO && v != MIX_CLIENTS;

		if ((v <= MIX_SIZE_RATIO || how->all) && (!of_size || how->by_size))
			predictors[spec.nr_predictors++] =
				how->all ? ln_names[v] : mix_variable_names[v];
	}
	buf_init(&text);
	for (int v = 0; v < MIX_NR_VARIABLES; v++)
		buf_printf(&text, "%s,%s,", mix_variable_names[v], ln_names[v]);
	buf_printf(&text, "y\n");
	for (size_t i = 0; i < nr; i++) {
		for (int v = 0; v < MIX_NR_VARIABLES; v++)
			buf_printf(&text, "%.17g,%.17g,", points[i].x[v], log(points[i].x[v]));
		buf_printf(&text, "%.17g\n", points[i].y);
	}
	ret = text.error ? text.error
			 : table_parse(&l->table, "mix", (const char *)text.data, text.len, err);
	buf_release(&text);
	return ret ? ret : dataset_read(&l->data, &l->schema, &l->table, &spec, err);
}

static int calibrate_phi_learn(struct learning *l, const struct mix_point *points, size_t nr,
			       const struct how *how, uint64_t seed, unsigned int nr_threads,
			       struct err *err)
{
	struct select_config c = { .schema = &l->schema,
				   .data = &l->data,
				   .splits = SPLITS,
				   .explorations = EXPLORATIONS,
				   .iterations = ITERATIONS,
				   .nr_threads = nr_threads };
	int ret = read_points(l, points, nr, how, err);

	if (!ret)
		ret = dataset_make_folds(&l->data, FOLDS, seed, err);
	l->candidate.technique = how->by_size || how->all ? &technique_mars_ia : &technique_mars;
	return ret ? ret : select_candidate(&l->candidate, &c);
}

static int calibrate_phi_make(struct model *out, struct learning *l)
{
	struct candidate *c = &l->candidate;
	int ret = model_fit(out, c->technique, c->parameters, &l->schema, &l->data);

	if (ret)
		return ret;
	candidate_give(c, out);
	return 0;
}

int mix_fit(struct model *out, const struct mix_point *points, size_t nr, bool by_size,
	    uint64_t seed, unsigned int nr_threads, struct err *err)
{
	struct learning tries[4];
	int ret = 0, best = 0;

	memset(tries, 0, sizeof(tries));
	for (int i = 0; i < 4; i++) {
		struct how how = { .by_size = by_size, .all = i & 2, .logarithm = i & 1 };

		ret = calibrate_phi_learn(&tries[i], points, nr, &how, seed, nr_threads, err);
		if (tries[i].candidate.quality.mean_relative_error <
		    tries[best].candidate.quality.mean_relative_error)
			best = i;
		if (ret)
			goto out;
	}
	ret = calibrate_phi_make(out, &tries[best]);
out:
	if (ret && err && !err->code)
		err_set(err, -ret, "phi cannot be generalized: %s", strerror(-ret));
	for (int i = 0; i < 4; i++)
		calibrate_phi_release(&tries[i]);
	return ret;
}

double mix_at(const struct model *m, const double x[MIX_NR_VARIABLES])
{
	double row[MIX_NR_VARIABLES] = { 0 }, y = NAN;

	if (m->schema.nr > MIX_NR_VARIABLES)
		return NAN;
	for (size_t i = 0; i < m->schema.nr; i++) {
		const struct variable *v = &m->schema.variables[i];
		int k = 0;

		bool ln = !strncmp(v->name, "ln_", 3);

		while (k < MIX_NR_VARIABLES &&
		       strcmp((ln ? ln_names : mix_variable_names)[k], v->name) != 0)
			k++;
		if (k == MIX_NR_VARIABLES)
			return NAN;
		row[i] = fmin(fmax(ln ? log(x[k]) : x[k], v->low), v->high);
	}
	return model_predict(m, row, 1, &y) ? NAN : y;
}
