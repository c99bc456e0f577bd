/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_reach: decides for which rows a model may be asked. These are the rows near those of the
 * training: within the range of each variable, not in a gap that the training rows leave inside
 * the range of one variable, and not farther from the nearest training row than training rows are
 * from each other.
 *
 * Each number is scaled to its range; its logarithm is taken if the steps between logarithms are
 * more even (4, 8, 16, ...). A value lies in a gap if its distance to the nearest training value
 * is larger than the distances between training values, and larger than a twentieth of the range.
 * For the distance in all variables together, training rows are held out in turn. For each
 * variable, the distance to the nearest row that has another value of this variable is taken. The
 * bound is the 99th percentile of the largest of these distances, so that the middle of a cell of
 * a full grid is within reach, and a hole of several cells is not.
 */
#ifndef ANALYZER_REGRESSION_MODEL_REACH_H
#define ANALYZER_REGRESSION_MODEL_REACH_H

#include "analyzer/models/regression/table/dataset.h"

/* rows to which distances are measured: every k-th row of a larger table */
#define REACH_ROWS_MAX	 20000
#define REACH_QUESTIONS	 500 /* rows that are held out */
#define REACH_LEAST_ROWS 10  /* fewer rows cannot show the distances between rows */

struct reach_variable {
	bool logarithm;
	double low, range; /* of the values as they enter; range 0 means constant */
	double gap;	   /* distance, in ranges, beyond which a value lies in a gap */
	double *values;	   /* owned: distinct training values, ascending */
	size_t nr_values;
};

/* A zeroed reach knows no gaps or distances: every row within the ranges is within reach. */
struct reach {
	size_t nr_rows, nr_vars;
	double *points; /* scaled rows, row-major */
	struct reach_variable *variables;
	double bound; /* largest allowed distance to the nearest row */
};

enum reach_verdict {
	REACH_INSIDE,
	REACH_RANGE, /* a variable is outside its range */
	REACH_GAP,   /* a variable lies in a gap of its range */
	REACH_FAR,   /* no training row is near */
};

/* The reason why a row is out of reach. */
struct reach_finding {
	enum reach_verdict verdict;
	const struct variable *variable; /* for a range or a gap; otherwise NULL */
	double value;
	double below, above;	/* the values on either side of a gap */
	double distance, bound; /* for REACH_FAR */
};

/* Learns the reach. The cost is O(rows x questions x variables). Returns 0 or -ENOMEM. */
int reach_init(struct reach *r, const struct schema *s, const struct dataset *d);
void reach_release(struct reach *r);
/* row has nr_vars values. Costs O(rows x variables). */
struct reach_finding reach_look(const struct reach *r, const struct schema *s, const double *row);
/*
 * Writes the finding as the end of a sentence whose subject is the row: "'threads' is 12, between
 * 8 and 16, ...".
 */
void reach_explain(const struct reach_finding *f, char *text, size_t size);

#endif
