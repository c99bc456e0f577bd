/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_cases: mean response times by storage_fit.h, in as many cases as the data call for.
 *
 * One form fits one bottleneck; where another takes over (a channel's requests per second give way
 * to its bytes, a host's queue fills) the terms change. The runs are cut in two by clients, size or
 * file set, and each part again, as long as a cut lowers the BIC by CASES_EVIDENCE. The threshold
 * lies in the gap between two measured levels where the fits on its two sides are equal. Seed 004
 * has two such cases by file set and two by clients, cut by eye. O(cuts x rows) per level.
 */
#ifndef ANALYZER_STORAGE_CASES_H
#define ANALYZER_STORAGE_CASES_H

#include "analyzer/models/storage/storage_fit.h"

#define STORAGE_CASES_MAX 8
/* Very strong evidence (Kass, Raftery: Bayes factors, JASA 90, 1995). */
#define CASES_EVIDENCE 10
/* Relative errors below this are rounding: more terms do not pay. */
#define CASES_LEAST_ERROR 1e-6

enum storage_axis {
	STORAGE_AXIS_CLIENTS,
	STORAGE_AXIS_SIZE,
	STORAGE_AXIS_FILE_SET,
	STORAGE_NR_AXES,
};

/* Holds where low < x <= high on every axis. */
struct storage_case {
	double low[STORAGE_NR_AXES], high[STORAGE_NR_AXES];
	struct storage_fit fit;
};

struct storage_cases {
	struct storage_case items[STORAGE_CASES_MAX]; /* cover everything, overlap nowhere */
	size_t nr, nr_rows;			      /* nr 0: none */
	double r2, mean_error;			      /* as of struct storage_fit */
};

/* Sorts x. 0; -ERANGE where there are fewer rows than the form has terms; -ENOMEM. */
int storage_cases_fit(struct storage_cases *out, enum storage_form form, struct storage_point *x,
		      size_t nr);
double storage_cases_at(const struct storage_cases *c, double t, double s, double file_set);
/* n ln(RSS / n) + k ln n of a fit of the points, its RSS and terms added to *rss and *terms. */
int storage_bic_parts(enum storage_form form, const struct storage_point *x, size_t nr, double *rss,
		      size_t *terms);
double storage_bic(double rss, size_t terms, size_t nr);
/*
 * Where between two levels of an axis two models are equal, over all points; where nowhere: the end
 * at which they nearly are, or the middle (by ratio).
 */
double storage_cases_cross(const struct storage_cases *low, const struct storage_cases *high,
			   const struct storage_point *x, size_t nr, enum storage_axis axis,
			   double from, double to);

#endif
