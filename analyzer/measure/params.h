/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params: named values of a configuration, and the texts that use them.
 *
 * A value is a number ("8", "4k", "2ms": see analyzer/models/net/expr.h) or a word ("random"). In a text,
 * {EXPRESSION} stands for its value: a word's name for the word, else arithmetic over the numbers
 * ("{max(1, file_set / 16m)}"); {{ is a brace, and ${...} is left to the shell.
 */
#ifndef ANALYZER_MEASURE_PARAMS_H
#define ANALYZER_MEASURE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/net/expr.h"
#include "base/buf.h"
#include "base/err.h"

#define PARAM_TEXT_MAX 4096

struct param {
	char *name; /* owned */
	char *text; /* owned: the value as written */
	bool number;
	bool used; /* by a text that was expanded */
};

/* A zeroed one is empty. */
struct params {
	struct expr_scope scope; /* the numbers */
	struct param *items;	 /* owned */
	size_t nr;
};

void params_release(struct params *p);
/* Reads text as a number, unless word; adds it or changes what it was. -EINVAL for a bad name. */
int params_set(struct params *p, const char *name, const char *text, bool word, struct err *err);
/* Likewise; printed so that it reads back the same. */
int params_set_number(struct params *p, const char *name, double value, struct err *err);
/* NULL where there is none of that name. */
struct param *params_find(const struct params *p, const char *name);
/* Appends text with every {...} replaced. -EINVAL names the expression; no place: the caller's. */
int params_expand(struct params *p, const char *text, struct buf *out, struct err *err);
/* The same as an owned string. */
int params_expand_text(struct params *p, const char *text, char **out, struct err *err);

/* What a plan means by a value: its number (sizes in bytes, times in s), or false: a word. */
bool param_number(const char *text, double *value);
/* A number as text that reads back the same; whole ones without a fraction. */
void param_print(struct buf *out, double value);

#endif
