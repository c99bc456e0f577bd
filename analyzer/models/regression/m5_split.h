/* SPDX-License-Identifier: Apache-2.0 */
/*
 * m5_split: the split of a node that lowers sd(T) - sum |Ti| / |T| sd(Ti) most (Quinlan 1992). Where a
 * number splits, each side's deviation is that around a line in it, if the correlation is beyond
 * chance (two standard errors of Fisher's z): what a linear model will take is no reason to split.
 */
#ifndef ANALYZER_REGRESSION_M5_SPLIT_H
#define ANALYZER_REGRESSION_M5_SPLIT_H

#include "analyzer/models/regression/m5_tree.h"

struct m5_level {
	size_t level, nr;
	double weight, sum, squares;
};

struct m5_split {
	const struct m5_ground *ground;
	size_t least_cover;
	const double *residual; /* by row */
	const uint32_t *order;	/* per number, nr_rows apart: a node's rows stand together */
	const uint32_t *rows;
	double *chance;		 /* by number of rows: the squared correlation that is chance */
	struct m5_level *levels; /* scratch */
	uint8_t *scratch_left;
	/* The best so far. */
	double gain;
	size_t variable;
	double cut;
	uint8_t *left; /* by level, 1: left */
};

int m5_split_init(struct m5_split *s, const struct m5_ground *g);
void m5_split_release(struct m5_split *s);
/* Looks at every variable; tested: those tested above. False where no split gains. */
bool m5_split_best(struct m5_split *s, size_t begin, size_t end, const bool *tested, bool root);

#endif
