/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offset: a product to which the response is known to be proportional, as in generalized linear
 * models. Its factors are variables, or numbers minus variables. The logarithm of the product is
 * subtracted from the logarithm of the response before a technique learns it, and added to each
 * prediction. For closed clients that never think,
 *	bytes/s of reads = clients * size * share of reads / mean response time
 * (the interactive response-time law), so that the remaining quantity is as smooth as a time.
 */
#ifndef ANALYZER_REGRESSION_OFFSET_H
#define ANALYZER_REGRESSION_OFFSET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define OFFSET_PARTS_MAX 8

struct schema;

struct offset_part {
	size_t variable;
	bool rest; /* the factor is `from` minus the variable */
	double from;
};

/* A zeroed offset is the constant 1. */
struct offset {
	size_t nr;
	struct offset_part parts[OFFSET_PARTS_MAX];
};

/*
 * Reads "threads*request_size*(100-read)" for example. The names must be numeric variables of s;
 * otherwise -EINVAL.
 */
int offset_read(struct offset *o, const char *text, const struct schema *s, struct err *err);
/* Writes the offset as text in the same syntax. */
void offset_print(const struct offset *o, const struct schema *s, struct buf *out);
/* Writes the offset as a C expression in `const double *x`. */
void offset_export(const struct offset *o, struct buf *out);
/*
 * Returns the product for a row; 1 without factors. If the product is not above 0, nothing can be
 * learned from the row.
 */
double offset_of(const struct offset *o, const double *row);

#endif
