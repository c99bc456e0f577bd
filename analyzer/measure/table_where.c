// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/table_where.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/net/expr.h"
#include "base/data/table.h"

#define CONDITION_MAX	4096
#define COMPARISONS_MAX 16

enum relation { BELOW, AT_MOST, ABOVE, AT_LEAST, EQUAL, UNEQUAL };

/* A longer operator stands before those with which it begins. */
static const struct {
	const char *text;
	enum relation relation;
} signs[] = {
	{ "<=", AT_MOST }, { ">=", AT_LEAST }, { "==", EQUAL }, { "!=", UNEQUAL },
	{ "<", BELOW },	   { ">", ABOVE },     { "=", EQUAL },
};

struct comparison {
	char *left, *right; /* point into where.text */
	enum relation relation;
	size_t column; /* the column of text, where texts are compared */
	bool text;
};

struct where {
	const struct table *table;
	char text[CONDITION_MAX];
	struct comparison comparisons[COMPARISONS_MAX];
	size_t nr;
	struct expr_scope scope; /* its columns of numbers, with the values of a row */
	size_t columns[EXPR_MAX_PARAMETERS];
};

static char *where_trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = 0;
	return text;
}

static char *where_unquote(char *text)
{
	size_t len = strlen(text);

	if (len >= 2 && (*text == '"' || *text == '\'') && text[len - 1] == *text) {
		text[len - 1] = 0;
		text++;
	}
	return text;
}

/* Splits one comparison at its operator. */
static int where_cut(struct comparison *c, char *text, struct err *err)
{
	for (char *at = text; *at; at++) {
		for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
			size_t len = strlen(signs[i].text);

			if (strncmp(at, signs[i].text, len) != 0)
				continue;
			*at = 0;
			c->left = where_trim(text);
			c->right = where_trim(at + len);
			c->relation = signs[i].relation;
			if (*c->left && *c->right)
				return 0;
			return err_set(err, EINVAL, "a side of '%s' is empty", signs[i].text);
		}
	}
	return err_set(err, EINVAL, "'%.80s' compares nothing: expected one of < <= > >= == !=",
		       where_trim(text));
}

/* A column of text on the left side makes it a comparison of texts. */
static int where_bind_text(struct where *w, struct comparison *c, struct err *err)
{
	int column = table_find(w->table, c->left, NULL);

	if (column < 0 || table_numeric(w->table, (size_t)column))
		return 0;
	if (c->relation != EQUAL && c->relation != UNEQUAL)
		return err_set(err, EINVAL, "'%s' holds text, which is only == or != another",
			       c->left);
	c->text = true;
	c->column = (size_t)column;
	c->right = where_unquote(c->right);
	return 0;
}

static bool where_name_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool where_names(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; len && (at = strstr(at, name)); at++)
		if ((at == text || !where_name_character(at[-1])) && !where_name_character(at[len]))
			return true;
	return false;
}

/* Makes the columns of numbers that any side names parameters of the arithmetic. */
static int where_bind_columns(struct where *w, struct err *err)
{
	const struct table *t = w->table;

	for (size_t c = 0; c < t->nr_columns; c++) {
		bool named = false;

		for (size_t i = 0; i < w->nr; i++)
			named = named ||
				(!w->comparisons[i].text &&
				 (where_names(w->comparisons[i].left, t->columns[c].name) ||
				  where_names(w->comparisons[i].right, t->columns[c].name)));
		if (!named)
			continue;
		if (!table_numeric(t, c))
			return err_set(err, EINVAL,
				       "'%s' holds text, which is only == or != another",
				       t->columns[c].name);
		if (w->scope.nr == EXPR_MAX_PARAMETERS)
			return err_set(err, EINVAL, "it names more than %d columns",
				       EXPR_MAX_PARAMETERS);
		w->columns[w->scope.nr] = c;
		if (expr_set(&w->scope, t->columns[c].name, 0))
			return err_set(err, EINVAL, "column '%.80s' cannot be used in a condition",
				       t->columns[c].name);
	}
	for (size_t i = 0; i < w->nr; i++)
		if (w->comparisons[i].text)
			return 0;
	return w->scope.nr ? 0 : err_set(err, EINVAL, "it names no column of %s", t->source);
}

static int where_read(struct where *w, const char *condition, struct err *err)
{
	char *at = w->text, *next;
	int ret = 0;

	if (strlen(condition) >= sizeof(w->text))
		return err_set(err, EINVAL, "it is longer than %d characters", CONDITION_MAX - 1);
	strncpy(w->text, condition, sizeof(w->text) - 1);
	for (; at && !ret; at = next) {
		struct comparison *c = &w->comparisons[w->nr];

		if (w->nr == COMPARISONS_MAX)
			return err_set(err, EINVAL, "it has more than %d comparisons",
				       COMPARISONS_MAX);
		next = strstr(at, "&&");
		if (next) {
			*next = 0;
			next += 2;
		}
		ret = where_cut(c, at, err);
		if (!ret)
			ret = where_bind_text(w, c, err);
		w->nr++;
	}
	return ret ? ret : where_bind_columns(w, err);
}

static bool where_compare(enum relation relation, double left, double right)
{
	switch (relation) {
	case BELOW:
		return left < right;
	case AT_MOST:
		return left <= right;
	case ABOVE:
		return left > right;
	case AT_LEAST:
		return left >= right;
	case EQUAL:
		return left == right;
	default:
		return left != right;
	}
}

static int where_holds_one(struct where *w, const struct comparison *c, size_t row, bool *holds,
			   struct err *err)
{
	double left, right;
	int ret;

	if (c->text) {
		bool same = strcmp(w->table->columns[c->column].cells[row], c->right) == 0;

		*holds = same == (c->relation == EQUAL);
		return 0;
	}
	ret = expr_value(&w->scope, c->left, &left, err);
	if (!ret)
		ret = expr_value(&w->scope, c->right, &right, err);
	if (!ret)
		*holds = where_compare(c->relation, left, right);
	return ret;
}

/*
 * Evaluates the condition for a row. *missing becomes true where a column of the condition has no
 * value in the row.
 */
static int where_holds(struct where *w, size_t row, bool *holds, bool *missing, struct err *err)
{
	int ret = 0;

	*missing = false;
	for (size_t i = 0; i < w->scope.nr && !*missing && !ret; i++) {
		*missing = table_missing(w->table, w->columns[i], row);
		if (!*missing)
			ret = table_number(w->table, w->columns[i], row, &w->scope.items[i].value,
					   err);
	}
	for (size_t i = 0; i < w->nr; i++)
		if (w->comparisons[i].text)
			*missing =
				*missing || table_missing(w->table, w->comparisons[i].column, row);
	*holds = !*missing;
	for (size_t i = 0; i < w->nr && *holds && !ret; i++) {
		ret = where_holds_one(w, &w->comparisons[i], row, holds, err);
		if (ret)
			err_prefix(err, "row %zu", row + 1);
	}
	return ret;
}

static void where_keep(struct table *t, size_t row, size_t to)
{
	for (size_t c = 0; c < t->nr_columns; c++)
		t->columns[c].cells[to] = t->columns[c].cells[row];
	t->lines[to] = t->lines[row];
}

int table_where(struct table *t, const char *condition, struct table_where_facts *facts,
		struct err *err)
{
	struct where *w = calloc(1, sizeof(*w));
	int ret;

	*facts = (struct table_where_facts){ .nr_rows = t->nr_rows };
	if (!w)
		return -ENOMEM;
	w->table = t;
	ret = where_read(w, condition, err);
	for (size_t i = 0; i < t->nr_rows && !ret; i++) {
		bool holds, missing;

		ret = where_holds(w, i, &holds, &missing, err);
		facts->nr_missing += !ret && missing;
		if (!ret && holds)
			where_keep(t, i, facts->nr_kept++);
	}
	if (ret)
		goto out;
	t->nr_rows = facts->nr_kept;
	if (!facts->nr_kept)
		ret = err_set(err, EINVAL, "it holds for none of the %zu rows of %s",
			      facts->nr_rows, t->source);
out:
	expr_scope_release(&w->scope);
	free(w);
	return ret;
}
