/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr: arithmetic over named parameters, as values of a model file.
 *
 * Numbers ("1e-3", with a unit of time "10ms", in seconds, or of size "4k", powers of 1024),
 * parameters, + - * / ^ (right to left), unary minus, parentheses, and min max sqrt exp ln floor
 * ceil round abs. A value that is not finite is refused, as are overflow and a division by zero.
 */
#ifndef ANALYZER_EXPR_H
#define ANALYZER_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define EXPR_MAX_PARAMETERS 256

struct expr_parameter {
	char *name; /* owned */
	double value;
	bool used;
};

/* The parameters an expression may name. A zeroed struct is empty. */
struct expr_scope {
	struct expr_parameter items[EXPR_MAX_PARAMETERS];
	size_t nr;
};

void expr_scope_release(struct expr_scope *s);
/* Adds or changes one. -EINVAL where the name is none or a function's, -E2BIG, -ENOMEM. */
int expr_set(struct expr_scope *s, const char *name, double value);
/* NULL where there is none of that name. */
struct expr_parameter *expr_find(struct expr_scope *s, const char *name);

/*
 * The value of text. -EINVAL with what is wrong in err (no place: the caller puts it in front).
 * Marks the parameters it reads as used. O(length).
 */
int expr_value(struct expr_scope *s, const char *text, double *value, struct err *err);

#endif
