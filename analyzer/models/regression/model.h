/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: a fitted regression model with what is known about its making. Saved as JSON, described
 * in formats/model.md.
 */
#ifndef ANALYZER_REGRESSION_MODEL_H
#define ANALYZER_REGRESSION_MODEL_H

#include <jansson.h>
#include <stdbool.h>

#include "analyzer/models/regression/dataset.h"
#include "analyzer/models/regression/forest.h"
#include "analyzer/models/regression/gp.h"
#include "analyzer/models/regression/neighbours.h"
#include "analyzer/models/regression/model_reach.h"
#include "analyzer/models/regression/rules.h"
#include "analyzer/models/regression/spread.h"
#include "analyzer/models/regression/terms.h"

#define PARAMETERS_MAX 7
#define MEMBERS_MAX    101 /* of a mean of models */

struct technique;

/* How well it did on rows it had not seen: the held-out folds. */
struct quality {
	double cv_rmse;
	double r2;		    /* 1 - SSE / SST; NaN where the response does not vary */
	double mean_relative_error; /* over rows with a response other than 0; NaN without any */
	double p95_relative_error;
};

enum model_form {
	MODEL_TERMS,
	MODEL_FOREST,
	MODEL_RULES,
	MODEL_GP,
	MODEL_MEMBERS, /* a weighted mean of the models in members */
};

/* A zeroed one is empty. */
struct model {
	const struct technique *technique;
	double parameters[PARAMETERS_MAX];
	struct schema schema;
	struct dataset data; /* the training rows, for updates and neighbours */
	struct quality quality;
	double *fold_rmse;    /* data.nr_folds */
	double *residuals;    /* |y - held-out prediction|, ascending; data.nr_rows; NULL unknown */
	struct spread spread; /* of those residuals; empty: unknown, the same everywhere */
	struct reach reach;   /* empty until model_take_reach(); of a loaded model it is there */
	enum model_form form; /* which of these it is */
	struct terms terms;
	struct limits limits; /* of the terms' sum */
	struct forest forest;
	struct rules rules;
	struct neighbours neighbours; /* k 0: none */
	struct gp gp;
	/* Each with a technique, parameters and a form of its own; schema and data are those of this model. */
	struct model *members;
	size_t nr_members;
	double share; /* of a member: its weight in the mean */
};

void model_release(struct model *m);
/* Fits a technique to d (copied, as is the schema). 0, -ENOMEM. */
int model_fit(struct model *m, const struct technique *t, const double *p, const struct schema *s,
	      const struct dataset *d);
/* In units of the response. rows: nr x schema.nr, row-major. No allocation but for neighbours and members. */
int model_predict(const struct model *m, const double *rows, size_t nr, double *out);
/* Makes room for one more member, which is empty but for schema and data; NULL where there is no memory. */
struct model *model_add_member(struct model *m);
/* What the parts of the model are called, "terms" or "leaves". */
const char *model_parts_name(const struct model *m);
/* The response of training row i, in its own units. */
double model_measured(const struct model *m, size_t i);
/*
 * Half the width of the interval that holds a new response with that probability, were it the same
 * everywhere: split conformal on the held-out residuals (Lei et al., JASA 113, 2018): the
 * ceil((n + 1) level)-th smallest. NaN where too few residuals are known.
 */
double model_half_width(const struct model *m, double level);
/*
 * The interval around the prediction of a row that holds a new response with that probability; as wide as the
 * errors are where the model predicts that much (spread.h). A ratio where the logarithm was learned.
 * NaN where too few residuals are known.
 */
void model_interval(const struct model *m, double level, const double *row, double predicted,
		    double *low, double *high);
/* Learns where the model may be asked (model_reach.h). 0 or -ENOMEM. */
int model_take_reach(struct model *m);
/* Whether a row lies where the model was trained, and if not, why. */
struct reach_finding model_look(const struct model *m, const double *row);
/* Terms, leaves or rules. */
size_t model_size(const struct model *m);
void model_print(const struct model *m, struct buf *out);
/* A C function `double name(const double *x)`: the same numbers as model_predict(). */
int model_export_c(const struct model *m, const char *name, struct buf *out);

/*
 * The standard deviation of a new measurement at each row, in the scale that was learned: of a Gaussian process,
 * whose prediction has one. 0, -ENOTSUP for other models, -ENOMEM, -ERANGE.
 */
int model_deviation(const struct model *m, const double *rows, size_t nr, double *out);

json_t *model_json(const struct model *m);
int model_from_json(struct model *m, const json_t *root, struct err *err);

#endif
