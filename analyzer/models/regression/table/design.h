/* SPDX-License-Identifier: Apache-2.0 */
/*
 * design: the numeric columns for techniques that have no factors of their own. A numeric variable
 * is one column. A factor is one 0/1 column per level except the first (treatment contrasts).
 */
#ifndef ANALYZER_REGRESSION_DESIGN_H
#define ANALYZER_REGRESSION_DESIGN_H

#include "analyzer/models/regression/table/dataset.h"

struct design_column {
	uint32_t variable;
	int32_t level; /* -1 means the variable itself */
};

struct design {
	size_t nr_rows, nr_columns;
	struct design_column *columns;
	double *x; /* nr_columns of nr_rows */
};

int design_init(struct design *g, const struct schema *s, const struct dataset *d);
void design_release(struct design *g);

static inline double design_value(const struct design_column *c, const double *row)
{
	return c->level < 0 ? row[c->variable] : (double)(row[c->variable] == c->level);
}

#endif
