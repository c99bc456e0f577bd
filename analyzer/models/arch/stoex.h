/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stoex: stochastic expressions, the language of demands, counts, guards and sizes.
 *
 * Numbers, truth values and texts; variables ("size", "file.BYTESIZE", "list.INNER.VALUE");
 * c ? a : b, AND OR XOR NOT, < <= > >= == <>, + - * / % ^; Round Trunc Ceil Sqrt Log Min Max
 * MinDeviation MaxDeviation; distributions, drawn anew at each evaluation: Exp(rate)
 * Norm(mean, sd) UniDouble(a, b) UniInt(a, b) Pois(mean) Binom(n, p) Lognorm(mu, sigma)
 * LognormMoments(mean, sd) Gamma(shape, scale) GammaMoments(mean, cv); IntPMF[(1;0.5)(2;0.5)],
 * DoublePMF, EnumPMF, BoolPMF; DoublePDF[(upper bound;probability)...], even inside each box, the
 * first from 0.
 *
 * Two dialects. Palladio's has whole numbers of its own, whose division cuts off, AND looser than
 * OR and XOR, a unary minus tighter than ^, one ^ and one comparison to a level, no ?: inside a
 * branch of ?: without parentheses. Ours has real numbers alone, with units ("10ms" in seconds,
 * "4k" in bytes), and AND tighter than OR.
 * Source: the Palladio Component Model's grammar (Stoex.xtext) and its simulator's evaluation.
 */
#ifndef ANALYZER_STOEX_H
#define ANALYZER_STOEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/num/rng.h"
#include "base/err.h"

enum stoex_dialect {
	STOEX_PALLADIO,
	STOEX_BLKCAST,
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

/* Names of variables, and texts, each with a number from 0. A zeroed struct is empty. */
struct stoex_names {
	char **items; /* owned */
	char **bound; /* owned; by number, NULL or the expression the name stands for */
	uint32_t nr, cap;
};

/* The number of a name, added where it is new; UINT32_MAX without memory. */
uint32_t stoex_name(struct stoex_names *n, const char *name, size_t len);
void stoex_names_release(struct stoex_names *n);
/*
 * From now on a name stands for the expression text, which must not name itself, wherever it is
 * read. 0 or -ENOMEM.
 */
int stoex_bind(struct stoex_names *n, const char *name, const char *text);

struct stoex;

/*
 * Reads text, which must be an expression to its end. 0; -EINVAL with what is wrong in err (no
 * place: the caller puts it in front); -ENOMEM. What is constant is computed here and once.
 * names must outlive the expression. O(length).
 */
int stoex_parse(struct stoex **out, const char *text, enum stoex_dialect dialect,
		struct stoex_names *names, struct err *err);
/* A constant. NULL without memory. */
struct stoex *stoex_number(double value, struct stoex_names *names);
void stoex_free(struct stoex *e);

/* True where it is one number whatever happens; *value in that case. */
bool stoex_is_constant(const struct stoex *e, double *value);
/* True where it draws from a distribution. */
bool stoex_is_random(const struct stoex *e);
/*
 * The mean of its values where it names no variable, no value is below 0 and the distributions it
 * adds and multiplies have one in closed form; else NaN.
 */
double stoex_mean(const struct stoex *e);
/* As it was written. */
const char *stoex_text(const struct stoex *e);
/* The variables it names: numbers into *vars (borrowed), their number returned. */
size_t stoex_variables(const struct stoex *e, const uint32_t **vars);

/* Where variables are found: 0, or -ENOENT where there is none of that name. */
struct stoex_scope {
	int (*get)(void *ctx, uint32_t name, struct stoex_value *v, struct err *err);
	void *ctx;
	struct rng *rng;
};

/*
 * One value. 0; -ENOENT an unknown variable, -EINVAL types that do not go together or a parameter
 * that is impossible, -ERANGE a result that is no finite number, each with a line that quotes the
 * expression. An expression may be evaluated by many threads, each with a scope of its own.
 */
int stoex_eval(const struct stoex *e, const struct stoex_scope *s, struct stoex_value *v,
	       struct err *err);
/* The same as a number, as a truth value. */
int stoex_eval_number(const struct stoex *e, const struct stoex_scope *s, double *v,
		      struct err *err);
int stoex_eval_bool(const struct stoex *e, const struct stoex_scope *s, bool *v, struct err *err);

#endif
