/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stoex: stochastic expressions, which is the language of demands, counts, guards and sizes.
 *
 * The language has numbers, truth values and texts; variables ("size", "file.BYTESIZE",
 * "list.INNER.VALUE"); c ? a : b, AND OR XOR NOT, < <= > >= == <>, + - * / % ^; and Round Trunc
 * Ceil Sqrt Log Min Max MinDeviation MaxDeviation. Distributions are drawn anew at each
 * evaluation: Exp(rate), Norm(mean, sd), UniDouble(a, b), UniInt(a, b), Pois(mean), Binom(n, p),
 * Lognorm(mu, sigma), LognormMoments(mean, sd), Gamma(shape, scale), GammaMoments(mean, cv);
 * IntPMF[(1;0.5)(2;0.5)], DoublePMF, EnumPMF, BoolPMF; DoublePDF[(upper bound;probability)...],
 * which is uniform inside each box, and whose first box begins at 0.
 *
 * There are three dialects. Palladio's dialect has whole numbers with a division that truncates,
 * AND binds less tightly than OR and XOR, unary minus binds more tightly than ^, each level allows
 * one ^ and one comparison, and a ?: inside a branch of ?: needs parentheses. The dialect of this
 * project has real numbers only, with units ("10ms" in seconds, "4k" in bytes), AND binds more
 * tightly than OR, and ^ goes from right to left. The arithmetic of expr.h is its part without
 * truth values, texts, distributions, % and comments; its functions are min max sqrt exp ln floor
 * ceil round abs, it names only variables that stoex_names already has, and its intermediate
 * values need not be finite.
 *
 * Source: the grammar of the Palladio Component Model (Stoex.xtext) and the evaluation of its
 * simulator.
 */
#ifndef ANALYZER_STOEX_H
#define ANALYZER_STOEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/num/rng.h"
#include "base/text/err.h"

enum stoex_dialect {
	STOEX_PALLADIO,
	STOEX_BLKCAST,
	STOEX_ARITHMETIC,
};

enum stoex_type {
	STOEX_INT,
	STOEX_DOUBLE,
	STOEX_BOOL,
	STOEX_TEXT,
};

struct stoex_value {
	enum stoex_type type;
	union {
		int64_t i;
		double d;
		bool b;
		uint32_t text; /* its number among the names */
	};
};

/*
 * This struct holds names of variables and texts, each with a number from 0. A zeroed struct is
 * empty.
 */
struct stoex_names {
	char **items; /* owned */
	char **bound; /* owned; by number: NULL, or the expression for which the name stands */
	uint32_t nr, cap;
};

/*
 * Returns the number of a name, and adds the name if it is new. Returns UINT32_MAX if there is no
 * memory.
 */
uint32_t stoex_name(struct stoex_names *n, const char *name, size_t len);
void stoex_names_release(struct stoex_names *n);
/*
 * From now on, wherever the name is read, it stands for the expression text. The text must not
 * contain the name. Returns 0 or -ENOMEM.
 */
int stoex_bind(struct stoex_names *n, const char *name, const char *text);

struct stoex;

/*
 * Reads text, all of which must be one expression. Constant parts are computed once, here. names
 * must outlive the expression. Returns 0, -EINVAL with a message without a location, which the
 * caller adds, or -ENOMEM. The cost is O(length).
 */
int stoex_parse(struct stoex **out, const char *text, enum stoex_dialect dialect,
		struct stoex_names *names, struct err *err);
/* Returns true if a function of the dialect has this name. */
bool stoex_is_function(enum stoex_dialect dialect, const char *name);
/* Makes a constant. Returns NULL if there is no memory. */
struct stoex *stoex_number(double value, struct stoex_names *names);
void stoex_free(struct stoex *e);

/* Returns true if the value is always the same number, and sets *value to it. */
bool stoex_is_constant(const struct stoex *e, double *value);
/* Returns true if the expression draws from a distribution. */
bool stoex_is_random(const struct stoex *e);
/*
 * Returns the mean of the values if the expression names no variable, no value is below 0, and the
 * distributions that it adds and multiplies have a mean in closed form; otherwise NaN.
 */
double stoex_mean(const struct stoex *e);
/* Returns the text as it was written. */
const char *stoex_text(const struct stoex *e);
/*
 * Sets *vars to the numbers of the variables that the expression names (borrowed), and returns how
 * many there are.
 */
size_t stoex_variables(const struct stoex *e, const uint32_t **vars);

/*
 * This struct looks variables up. The lookup returns 0, or -ENOENT if there is no variable of that
 * name.
 */
struct stoex_scope {
	int (*get)(void *ctx, uint32_t name, struct stoex_value *v, struct err *err);
	void *ctx;
	struct rng *rng;
};

/*
 * Computes one value. Returns 0; -ENOENT for an unknown variable, -EINVAL for types that do not
 * match or an impossible parameter, or -ERANGE for a result that is not a finite number. Each
 * error has a message that quotes the expression. Many threads may evaluate an expression, each
 * with a scope of its own.
 */
int stoex_eval(const struct stoex *e, const struct stoex_scope *s, struct stoex_value *v,
	       struct err *err);
/* These do what stoex_eval() does, and return a number or a truth value. */
int stoex_eval_number(const struct stoex *e, const struct stoex_scope *s, double *v,
		      struct err *err);
int stoex_eval_bool(const struct stoex *e, const struct stoex_scope *s, bool *v, struct err *err);

#endif
