/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model: holds a fitted regression model and the facts about its training. A model is saved as
 * JSON, which formats/model.md describes.
 */
#ifndef ANALYZER_REGRESSION_MODEL_H
#define ANALYZER_REGRESSION_MODEL_H

#include <jansson.h>
#include <stdbool.h>

#include "analyzer/models/regression/form/forest.h"
#include "analyzer/models/regression/form/gp.h"
#include "analyzer/models/regression/form/model_reach.h"
#include "analyzer/models/regression/form/neighbours.h"
#include "analyzer/models/regression/form/rules.h"
#include "analyzer/models/regression/form/spread.h"
#include "analyzer/models/regression/form/terms.h"
#include "analyzer/models/regression/table/dataset.h"

#define PARAMETERS_MAX 8
#define MEMBERS_MAX    101 /* most members of a mean of models */

struct technique;

/*
 * This struct holds the accuracy on rows that the model had not seen, which are those of the
 * held-out folds.
 */
struct quality {
	double cv_rmse;
	double r2; /* 1 - SSE / SST; NaN where the response does not vary */
	/* over the rows whose response is not 0; NaN if there is none */
	double mean_relative_error;
	double p95_relative_error;
};

enum model_form {
	MODEL_TERMS,
	MODEL_FOREST,
	MODEL_RULES,
	MODEL_GP,
	MODEL_MEMBERS, /* a weighted mean of the models in `members` */
};

/* A zeroed model is empty. */
struct model {
	const struct technique *technique;
	double parameters[PARAMETERS_MAX];
	struct schema schema;
	struct dataset data; /* the training rows, which updates and neighbours need */
	struct quality quality;
	double *fold_rmse; /* data.nr_folds */
	/* y - held-out prediction|, ascending, data.nr_rows values; NULL if unknown */
	double *residuals;
	/* spread of these residuals; empty means unknown, and the same everywhere */
	struct spread spread;
	struct reach reach;   /* empty until model_take_reach(); a loaded model has it */
	enum model_form form; /* selects which of the following members is used */
	struct terms terms;
	struct limits limits; /* limits of the sum of terms */
	struct forest forest;
	struct rules rules;
	struct neighbours neighbours; /* k 0 means none */
	struct gp gp;
	/*
	 * Each member has its own technique, parameters and form; its schema and data are those of
	 * this model.
	 */
	struct model *members;
	size_t nr_members;
	double share; /* weight of a member in the mean */
};

void model_release(struct model *m);
/* Fits a technique to d. The data and the schema are copied. Returns 0 or -ENOMEM. */
int model_fit(struct model *m, const struct technique *t, const double *p, const struct schema *s,
	      const struct dataset *d);
/*
 * Predicts in units of the response. rows has nr x schema.nr values, row-major. Memory is
 * allocated only for neighbours and members.
 */
int model_predict(const struct model *m, const double *rows, size_t nr, double *out);
/* Adds a member that is empty except for schema and data. Returns NULL if there is no memory. */
struct model *model_add_member(struct model *m);
/* Returns the name of the model's parts, such as "terms" or "leaves". */
const char *model_parts_name(const struct model *m);
/* Returns the response of training row i, in its own units. */
double model_measured(const struct model *m, size_t i);
/*
 * Returns half the width of the interval that holds a new response with that probability, if the
 * width were the same everywhere. It is the ceil((n + 1) level)-th smallest held-out residual
 * (split conformal prediction: Lei et al., Distribution-free predictive inference for regression,
 * JASA 113, 2018), or NaN if too few residuals are known.
 */
double model_half_width(const struct model *m, double level);
/*
 * Computes the interval around the prediction of a row that holds a new response with that
 * probability. The width follows the errors of the model near that prediction (spread.h); it is a
 * ratio if the logarithm was learned, and NaN if too few residuals are known.
 */
void model_interval(const struct model *m, double level, const double *row, double predicted,
		    double *low, double *high);
/* Learns for which rows the model may be asked (model_reach.h). Returns 0 or -ENOMEM. */
int model_take_reach(struct model *m);
/* Returns whether a row lies where the model was trained, and otherwise the reason. */
struct reach_finding model_look(const struct model *m, const double *row);
/* Returns the number of terms, leaves or rules. */
size_t model_size(const struct model *m);
void model_print(const struct model *m, struct buf *out);
/*
 * Writes a C function `double name(const double *x)` that returns the same numbers as
 * model_predict().
 */
int model_export_c(const struct model *m, const char *name, struct buf *out);

/*
 * Sets *root to the model as JSON, which the caller owns, or to NULL after an error. Returns 0,
 * -ENOMEM, or -EDOM if a number of the model is not finite, with a message in err.
 */
int model_json(const struct model *m, json_t **root, struct err *err);
int model_from_json(struct model *m, const json_t *root, struct err *err);

#endif
