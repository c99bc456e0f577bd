/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_cases: fits mean response times by storage_fit.h in as many cases as the data call for.
 *
 * One form fits one bottleneck. Where another bottleneck takes over (for example, the bytes of a
 * channel instead of its requests per second, or the full queue of a host) the terms change. The
 * runs are cut in two by clients, size or file set, and each part is cut again, as long as a cut
 * lowers the BIC by CASES_EVIDENCE. The threshold of a cut lies in the gap between two measured
 * levels, where the fits on its two sides are equal. Noorshams (Modeling and Prediction of I/O
 * Performance in Virtualized Environments, 2015) has two such cases by file set and two by
 * clients, and chose them by inspection. The cost is O(cuts x rows) per level.
 */
#ifndef ANALYZER_STORAGE_CASES_H
#define ANALYZER_STORAGE_CASES_H

#include "analyzer/models/storage/fit/storage_fit.h"

#define STORAGE_CASES_MAX 8
/*
 * A difference of BIC above this is very strong evidence (Kass and Raftery, Bayes factors, JASA
 * 90, 1995).
 */
#define CASES_EVIDENCE 10
/* Relative errors below this come from rounding, so that more terms are not worth fitting. */
#define CASES_LEAST_ERROR 1e-6

enum storage_axis {
	STORAGE_AXIS_CLIENTS,
	STORAGE_AXIS_SIZE,
	STORAGE_AXIS_FILE_SET,
	STORAGE_NR_AXES,
};

/* A case holds where low < x <= high on every axis. */
struct storage_case {
	double low[STORAGE_NR_AXES], high[STORAGE_NR_AXES];
	struct storage_fit fit;
};

struct storage_cases {
	/* the cases cover everything and do not overlap */
	struct storage_case items[STORAGE_CASES_MAX];
	size_t nr, nr_rows;    /* nr 0 means that there is no fit */
	double r2, mean_error; /* as in struct storage_fit */
};

/*
 * Fits the cases and sorts x. Returns 0, -ERANGE if there are fewer rows than the form has terms,
 * or -ENOMEM.
 */
int storage_cases_fit(struct storage_cases *out, enum storage_form form, struct storage_point *x,
		      size_t nr);
double storage_cases_at(const struct storage_cases *c, double t, double s, double file_set);
/*
 * Computes n ln(RSS / n) + k ln n of a fit of the points. The RSS and the number of terms are
 * added to *rss and *terms.
 */
int storage_bic_parts(enum storage_form form, const struct storage_point *x, size_t nr, double *rss,
		      size_t *terms);
double storage_bic(double rss, size_t terms, size_t nr);
/*
 * Returns the value between two levels of an axis at which two models are equal over all points.
 * If they are equal nowhere, the result is the end of the gap at which they nearly are, or the
 * geometric middle.
 */
double storage_cases_cross(const struct storage_cases *low, const struct storage_cases *high,
			   const struct storage_point *x, size_t nr, enum storage_axis axis,
			   double from, double to);

#endif
