/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr: arithmetic over named parameters, for values in a model file. It is a dialect of stoex.h.
 *
 * It knows numbers ("1e-3", with a unit of time "10ms", in seconds, or of size "4k", in powers of
 * 1024), parameters, + - * / ^ (right to left), unary minus, parentheses, and min max sqrt exp ln
 * floor ceil round abs. A result that is not finite is refused.
 */
#ifndef ANALYZER_EXPR_H
#define ANALYZER_EXPR_H

#include "analyzer/models/net/stoex.h"
#include "base/text/err.h"

#define EXPR_MAX_PARAMETERS 256

struct expr_parameter {
	double value;
	bool used;
};

/* This struct holds the parameters that an expression may name. A zeroed struct is empty. */
struct expr_scope {
	struct expr_parameter items[EXPR_MAX_PARAMETERS];
	size_t nr;
	struct stoex_names names; /* with the indices of items */
};

void expr_scope_release(struct expr_scope *s);
/*
 * Adds or changes a parameter. Returns 0, -EINVAL where the name is not valid or belongs to a
 * function, -E2BIG or -ENOMEM.
 */
int expr_set(struct expr_scope *s, const char *name, double value);
/* Returns NULL where there is no parameter of that name. */
struct expr_parameter *expr_find(struct expr_scope *s, const char *name);

/*
 * Computes the value of text. Returns 0, -ENOMEM, or -EINVAL with what is wrong in err, without a
 * location, which the caller puts in front. Marks the parameters that it reads as used. O(length).
 */
int expr_value(struct expr_scope *s, const char *text, double *value, struct err *err);

#endif
