/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offset: what a response is known to be proportional to, as in generalized linear models: a product
 * of variables, or of numbers less variables, whose logarithm is taken off that of the response
 * before a technique learns it, and put back on what it predicts. Of closed clients that never think,
 *	bytes/s of reads = clients * size * share of reads / mean response time
 * (the interactive response-time law), so that what is left to learn is as smooth as a time.
 */
#ifndef ANALYZER_REGRESSION_OFFSET_H
#define ANALYZER_REGRESSION_OFFSET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define OFFSET_PARTS_MAX 8

struct schema;

struct offset_part {
	size_t variable;
	bool rest; /* from less the variable */
	double from;
};

/* A zeroed one is 1. */
struct offset {
	size_t nr;
	struct offset_part parts[OFFSET_PARTS_MAX];
};

/* "threads*request_size*(100-read)": names of s that are numbers. -EINVAL. */
int offset_read(struct offset *o, const char *text, const struct schema *s, struct err *err);
/* The same again, for people and files. */
void offset_print(const struct offset *o, const struct schema *s, struct buf *out);
/* In C, of `const double *x`. */
void offset_export(const struct offset *o, struct buf *out);
/* The product for a row; 1 without parts. Not above 0: nothing can be learned from the row. */
double offset_of(const struct offset *o, const double *row);

#endif
