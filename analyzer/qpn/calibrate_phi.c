// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/qpn/calibrate_phi.h"
#include "analyzer/regression/select.h"
#include "analyzer/regression/technique.h"

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

static void release(struct learning *l)
{
	candidate_release(&l->candidate);
	dataset_release(&l->data);
	schema_release(&l->schema);
	table_release(&l->table);
}

static int read_points(struct learning *l, const struct phi_point *points, size_t nr, bool by_size,
		       bool logarithm, struct err *err)
{
	static const char *const predictors[] = { "clients_ratio", "size_ratio" };
	struct dataset_spec spec = { .response = "phi",
				     .predictors = predictors,
				     .nr_predictors = by_size ? 2 : 1,
				     .log = logarithm };
	struct buf text;
	int error;

	buf_init(&text);
	buf_printf(&text, "clients_ratio,size_ratio,phi\n");
	for (size_t i = 0; i < nr; i++)
		buf_printf(&text, "%.17g,%.17g,%.17g\n", points[i].clients_ratio,
			   points[i].size_ratio, points[i].phi);
	error = text.error ? text.error
			   : table_parse(&l->table, "phi", (const char *)text.data, text.len, err);
	buf_release(&text);
	return error ? error : dataset_read(&l->data, &l->schema, &l->table, &spec, err);
}

static int learn(struct learning *l, const struct phi_point *points, size_t nr, bool by_size,
		 bool logarithm, uint64_t seed, unsigned int nr_threads, struct err *err)
{
	struct select_config c = { .schema = &l->schema,
				   .data = &l->data,
				   .splits = SPLITS,
				   .explorations = EXPLORATIONS,
				   .iterations = ITERATIONS,
				   .nr_threads = nr_threads };
	int error = read_points(l, points, nr, by_size, logarithm, err);

	if (!error)
		error = dataset_make_folds(&l->data, FOLDS, seed, err);
	l->candidate.technique = by_size ? &technique_mars_ia : &technique_mars;
	return error ? error : select_candidate(&l->candidate, &c);
}

static int make(struct model *out, struct learning *l)
{
	struct candidate *c = &l->candidate;
	int error = model_fit(out, c->technique, c->parameters, &l->schema, &l->data);

	if (error)
		return error;
	out->quality = c->quality;
	out->residuals = c->residuals;
	out->fold_rmse = c->fold_rmse;
	c->residuals = c->fold_rmse = NULL;
	return 0;
}

int phi_fit(struct model *out, const struct phi_point *points, size_t nr, bool by_size,
	    uint64_t seed, unsigned int nr_threads, struct err *err)
{
	struct learning tries[2];
	int error = 0, best;

	memset(tries, 0, sizeof(tries));
	for (int i = 0; i < 2 && !error; i++)
		error = learn(&tries[i], points, nr, by_size, i, seed, nr_threads, err);
	best = tries[1].candidate.quality.mean_relative_error <
	       tries[0].candidate.quality.mean_relative_error;
	if (!error)
		error = make(out, &tries[best]);
	if (error && err && !err->code)
		err_set(err, -error, "phi cannot be generalized: %s", strerror(-error));
	for (int i = 0; i < 2; i++)
		release(&tries[i]);
	return error;
}
