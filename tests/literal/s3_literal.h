/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s3_literal: Algorithm 2 of Noorshams, Modeling and Prediction of I/O Performance in Virtualized
 * Environments, 2015, written as in the source, one set after the other. It is made for tests.
 */
#ifndef TESTS_SLOW_S3_LITERAL_H
#define TESTS_SLOW_S3_LITERAL_H

#include "analyzer/models/regression/choice/s3.h"

#define S3_LITERAL_MAX 20000

struct s3_literal {
	double at[S3_LITERAL_MAX][S3_AXES_MAX], cost[S3_LITERAL_MAX];
	size_t nr;
};

/* Fills in the set E in the order of evaluation. Returns false where E does not fit. */
bool s3_literal(struct s3_literal *e, const struct s3_config *c, double (*phi)(const double *p));
/* Returns the index of the best evaluation, and of equals the earliest. */
size_t s3_literal_best(const struct s3_literal *e);

#endif
