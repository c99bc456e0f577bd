/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_reach: where a model can be asked, which is where it was trained: within the range of each variable, not
 * in a gap that the training rows leave inside the range of one variable, and not farther from the nearest training
 * row than training rows are from each other.
 *
 * Numbers are scaled to their range, or the logarithms of numbers whose steps are more even so (4, 8, 16, ...).
 * A value stands in a gap where it is farther from the nearest value of training than values of training are from
 * theirs, and than a twentieth of the range. For the distance in all variables together the same rows are held out
 * in turn: for each variable, how near is a row that has another value of it? The bound is the 99th percentile of the largest of these
 * distances, so that the middle of a cell of a full grid is within reach and a hole of several cells is not.
 */
#ifndef ANALYZER_REGRESSION_MODEL_REACH_H
#define ANALYZER_REGRESSION_MODEL_REACH_H

#include "analyzer/models/regression/dataset.h"

#define REACH_ROWS_MAX	 20000 /* rows that distances are measured to: every k-th of a larger table */
#define REACH_QUESTIONS	 500   /* rows that are held out */
#define REACH_LEAST_ROWS 10    /* fewer rows do not tell how far they lie apart */

struct reach_variable {
	bool logarithm;
	double low, range; /* of the values as they enter; range 0: constant */
	double gap;	   /* the distance, in ranges, beyond which a value stands in a gap */
	double *values;	   /* owned: those of training, distinct, ascending */
	size_t nr_values;
};

/* A zeroed one knows nothing: everything within the ranges is within its reach. */
struct reach {
	size_t nr_rows, nr_vars;
	double *points; /* rows as they are scaled, row-major */
	struct reach_variable *variables;
	double bound; /* of the distance to the nearest row */
};

enum reach_verdict {
	REACH_INSIDE,
	REACH_RANGE, /* a variable is beyond its range */
	REACH_GAP,   /* a variable is in a gap of its range */
	REACH_FAR,   /* no training row is near */
};

/* Why a row is out of reach. */
struct reach_finding {
	enum reach_verdict verdict;
	const struct variable *variable; /* of a range or a gap, else NULL */
	double value;
	double below, above;	/* the values next to a gap */
	double distance, bound; /* of REACH_FAR */
};

/* O(rows x questions x variables). 0 or -ENOMEM. */
int reach_init(struct reach *r, const struct schema *s, const struct dataset *d);
void reach_release(struct reach *r);
/* row: nr_vars values. O(rows x variables). */
struct reach_finding reach_look(const struct reach *r, const struct schema *s, const double *row);
/* The finding as the end of a sentence that begins with the row: "'threads' is 12, between 8 and 16, ...". */
void reach_explain(const struct reach_finding *f, char *text, size_t size);

#endif
