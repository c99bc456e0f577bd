/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gp: Gaussian process regression (Rasmussen and Williams, Gaussian Processes for Machine Learning,
 * 2006, chapters 2, 4 and 5). The response is a constant mean plus a smooth random function whose
 * covariance falls with distance (Matern 5/2), plus noise:
 *
 *	cov(f(a), f(b)) = variance * k(r),  k(r) = (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r),
 *	r^2 = sum over the variables of ((a_v - b_v) / length_v)^2
 *
 * Every variable has a length of its own. A number may enter by its logarithm; two levels of a
 * factor differ by 1, whichever they are. The noise is noise_ratio * variance, divided by the weight
 * of the row. Fitting costs O(rows^3), and a prediction O(rows).
 */
#ifndef ANALYZER_REGRESSION_GP_H
#define ANALYZER_REGRESSION_GP_H

#include <jansson.h>

#include "analyzer/models/regression/dataset.h"
#include "base/buf.h"

/* More rows than this take more than half a minute and 64 MiB to fit, and are refused. */
#define GP_ROWS_MAX 2000

/* A zeroed one is empty. */
struct gp {
	size_t nr_rows, nr_vars;
	bool *logarithm; /* per variable: it enters by its logarithm */
	double *length;	 /* per variable, in the units in which it enters */
	double mean;	 /* of the response, far from all training rows */
	double variance; /* of the random function */
	double noise_ratio;
	double *coefficients; /* per training row: inverse of the covariance times y - mean */
	double *points;	      /* training rows as they enter, over the lengths; row-major */
};

/* Room for the arrays, all 0. 0 or -ENOMEM. */
int gp_alloc(struct gp *g, size_t nr_rows, size_t nr_vars);
void gp_release(struct gp *g);
/*
 * Chooses lengths, scales and noise by the largest marginal likelihood (from several starts, always
 * the same ones), on at most 256 of the rows; then conditions on all of them. 0, -ENOMEM, -EFBIG
 * for more than GP_ROWS_MAX rows, -ERANGE where the numbers cannot be computed with.
 */
int gp_fit(struct gp *g, const struct schema *s, const struct dataset *d);
/*
 * Conditions on the rows with the lengths, logarithms and noise_ratio that g has: sets points,
 * coefficients, mean and variance (the likeliest one). *likelihood: the logarithm of the marginal
 * likelihood; may be NULL. 0, -ENOMEM, -ERANGE.
 */
int gp_condition(struct gp *g, const struct schema *s, const struct dataset *d, double *likelihood);
/* rows: nr x nr_vars, row-major. No allocation. */
void gp_predict(const struct gp *g, const struct schema *s, const double *rows, size_t nr,
		double *out);
/*
 * The standard deviation of a new measurement at each row, noise included: exact for this process.
 * d: the training rows. Factors the covariance anew. 0, -ENOMEM, -ERANGE.
 */
int gp_deviation(const struct gp *g, const struct schema *s, const struct dataset *d,
		 const double *rows, size_t nr, double *out);
void gp_print(const struct gp *g, const struct schema *s, struct buf *out);
json_t *gp_json(const struct gp *g);
/* d: the training rows. Checks everything. 0, -ENOMEM, -EINVAL. */
int gp_from_json(struct gp *g, const json_t *root, const struct schema *s, const struct dataset *d,
		 struct err *err);
/* C: arrays and the function `static double NAME(const double *x)`, with the same sums as gp_predict(). */
void gp_export(const struct gp *g, const struct schema *s, const char *name, struct buf *out);

#endif
