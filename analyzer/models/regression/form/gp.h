/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: Gaussian process regression (Rasmussen and Williams, Gaussian Processes for Machine
 * Learning, 2006, chapters 2, 4 and 5). The response is a constant mean plus a smooth random
 * function whose covariance falls with distance (Matern 5/2), plus noise:
 *
 *	cov(f(a), f(b)) = variance * k(r),  k(r) = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r),
 *	r^2 = sum over the variables of ((a_v - b_v) / length_v)^2
 *
 * Every variable has its own length. A number may enter by its logarithm. Any two different levels
 * of a factor have the difference 1. The variance of the noise is noise_ratio * variance, divided
 * by the weight of the row. Fitting costs O(rows^3), and a prediction costs O(rows).
 */
#ifndef ANALYZER_REGRESSION_GP_H
#define ANALYZER_REGRESSION_GP_H

#include "analyzer/models/regression/table/dataset.h"
#include "base/data/fields_json.h"
#include "base/memory/buf.h"

/* A larger table would take more than half a minute and 64 MiB to fit, and is refused. */
#define GP_ROWS_MAX 2000

/* A zeroed process is empty. */
struct gp {
	/* mean of the response, which is the prediction far from all training rows */
	double mean;
	size_t nr_rows, nr_vars;
	bool *logarithm; /* per variable: it enters by its logarithm */
	double *length;	 /* per variable, in the units in which it enters */
	double variance; /* of the random function */
	double noise_ratio;
	double *coefficients; /* per training row: the inverse of the covariance times y - mean */
	double *points;	      /* training rows as they enter, divided by the lengths; row-major */
};

/* Allocates the arrays and sets them to 0. Returns 0 or -ENOMEM. */
int gp_alloc(struct gp *g, size_t nr_rows, size_t nr_vars);
void gp_release(struct gp *g);
/*
 * Chooses lengths, scales and noise by the largest marginal likelihood on at most 256 of the rows.
 * The search has several starts, which are the same in every call. Then the function conditions on
 * all rows. Returns 0, -ENOMEM, -EFBIG for more than GP_ROWS_MAX rows, or -ERANGE if the
 * computation fails numerically.
 */
int gp_fit(struct gp *g, const struct schema *s, const struct dataset *d);
/*
 * Conditions on the rows with the lengths, logarithms and noise_ratio of g: sets points,
 * coefficients, mean and variance (the most likely one). *likelihood becomes the logarithm of the
 * marginal likelihood; it may be NULL. Returns 0, -ENOMEM or -ERANGE.
 */
int gp_condition(struct gp *g, const struct schema *s, const struct dataset *d, double *likelihood);
/* rows has nr x nr_vars values, row-major. The function allocates no memory. */
void gp_predict(const struct gp *g, const struct schema *s, const double *rows, size_t nr,
		double *out);
void gp_print(const struct gp *g, const struct schema *s, struct buf *out);
int gp_json(const struct gp *g, json_t **out);
/* d holds the training rows, and the context of r is their schema. All values are checked. */
int gp_from_json(struct gp *g, struct fields_json *r, const json_t *value, const struct dataset *d);
/*
 * Writes C arrays and the function `static double NAME(const double *x)`, which adds in the same
 * order as gp_predict().
 */
void gp_export(const struct gp *g, const struct schema *s, const char *name, struct buf *out);

#endif
