/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params: the named values of a configuration, and the texts that use them.
 *
 * A value is a number ("8", "4k", "2ms": see analyzer/models/net/expr.h) or a word ("random"). In a
 * text, {EXPRESSION} is replaced by its value: the name of a word by the word, anything else by the
 * result of arithmetic over the numbers ("{max(1, file_set / 16m)}"). {{ stands for one brace, and
 * ${...} is left to the shell.
 */
#ifndef ANALYZER_MEASURE_PARAMS_H
#define ANALYZER_MEASURE_PARAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/models/net/expr.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

#define PARAM_TEXT_MAX 4096

struct param {
	char *name; /* owned */
	char *text; /* owned: the value as written */
	bool number;
	bool used; /* A text that was expanded has used it. */
};

/* A zeroed struct holds no value. */
struct params {
	struct expr_scope scope; /* the numbers */
	struct param *items;	 /* owned */
	size_t nr;
};

void params_release(struct params *p);
/*
 * Adds a value, or changes the value that has this name. The text is read as a number if it is one
 * and word is false. Returns -EINVAL for an invalid name.
 */
int params_set(struct params *p, const char *name, const char *text, bool word, struct err *err);
/*
 * Sets a number as params_set() does. The number is printed so that it reads back as the same
 * value.
 */
int params_set_number(struct params *p, const char *name, double value, struct err *err);
/* Returns NULL where no value has that name. */
struct param *params_find(const struct params *p, const char *name);
/*
 * Appends the text with every {...} replaced. On -EINVAL err names the expression; the caller adds
 * where the text stands.
 */
int params_expand(struct params *p, const char *text, struct buf *out, struct err *err);
/* Expands the text as params_expand() does, and returns the result as an owned string. */
int params_expand_text(struct params *p, const char *text, char **out, struct err *err);

/*
 * Reads a value of a plan as a number (sizes in bytes, times in seconds). Returns false where the
 * value is a word.
 */
bool param_number(const char *text, double *value);
/*
 * Appends a number as the shortest text of at least 15 digits that reads back as the same value.
 * Trailing zeros are left out, and whole numbers have no fraction.
 */
void param_print(struct buf *out, double value);

#endif
