// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/answer.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/answer_parts.h"
#include "analyzer/answer/grid.h"
#include "base/memory/array.h"
#include "base/text/units.h"

/* Copies text, which may be NULL, and keeps the failure in a. */
static char *answer_copy(struct answer *a, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		a->error = -ENOMEM;
	return copy;
}

struct answer *answer_new(const char *schema, const char *title)
{
	struct answer *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->schema = answer_copy(a, schema);
	a->title = answer_copy(a, title);
	return a;
}

static void answer_table_free(struct answer_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->cells[i].words);
	for (size_t i = 0; i < t->nr_columns; i++) {
		free((char *)t->columns[i].key);
		free((char *)t->columns[i].title);
		free((char *)t->columns[i].interval);
	}
	free(t->columns);
	free(t->cells);
	free(t);
}

void answer_free(struct answer *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr_items; i++) {
		struct answer_item *item = &a->items[i];

		free(item->key);
		free(item->title);
		free(item->about);
		free(item->fact.words);
		json_decref(item->member);
		answer_table_free(item->table);
		buf_release(&item->svg);
	}
	for (size_t i = 0; i < a->nr_notes; i++)
		free(a->notes[i]);
	free(a->items);
	free(a->notes);
	free(a->schema);
	free(a->title);
	free(a->conclusion);
	free(a);
}

int answer_error(const struct answer *a)
{
	return a ? a->error : -ENOMEM;
}

void answer_fail(struct answer *a, int ret)
{
	if (!answer_error(a))
		a->error = ret;
}

static char *answer_format(struct answer *a, const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0) {
		a->error = -ENOMEM;
		return NULL;
	}
	return text;
}

void answer_conclude(struct answer *a, const char *fmt, ...)
{
	va_list args;

	if (answer_error(a))
		return;
	free(a->conclusion);
	va_start(args, fmt);
	a->conclusion = answer_format(a, fmt, args);
	va_end(args);
}

const char *answer_conclusion(const struct answer *a)
{
	return a ? a->conclusion : NULL;
}

void answer_note(struct answer *a, const char *fmt, ...)
{
	va_list args;

	if (answer_error(a))
		return;
	a->error = array_grow(&a->notes, &a->cap_notes, a->nr_notes + 1, sizeof(*a->notes));
	if (a->error)
		return;
	va_start(args, fmt);
	a->notes[a->nr_notes] = answer_format(a, fmt, args);
	va_end(args);
	a->nr_notes += a->notes[a->nr_notes] != NULL;
}

/* Returns a new item at the end, or NULL after a failure. */
static struct answer_item *answer_add(struct answer *a, enum answer_kind kind, const char *key,
				      const char *title, const char *about)
{
	struct answer_item *item;

	if (answer_error(a))
		return NULL;
	a->error = array_grow(&a->items, &a->cap_items, a->nr_items + 1, sizeof(*a->items));
	if (a->error)
		return NULL;
	item = &a->items[a->nr_items++];
	*item = (struct answer_item){ .kind = kind, .fact = { .value = NAN } };
	item->key = answer_copy(a, key);
	item->title = answer_copy(a, title);
	item->about = answer_copy(a, about);
	return a->error ? NULL : item;
}

void answer_fact(struct answer *a, const char *key, const char *label, enum answer_unit unit,
		 double value)
{
	struct answer_item *item = answer_add(a, ANSWER_FACT, key, label, NULL);

	if (!item)
		return;
	item->unit = unit;
	item->fact.value = value;
}

void answer_fact_words(struct answer *a, const char *key, const char *label, const char *words)
{
	struct answer_item *item = answer_add(a, ANSWER_FACT, key, label, NULL);

	if (item)
		item->fact.words = answer_copy(a, words);
}

void answer_line(struct answer *a, const char *label, const char *fmt, ...)
{
	struct answer_item *item = answer_add(a, ANSWER_FACT, NULL, label, NULL);
	va_list args;

	if (!item)
		return;
	va_start(args, fmt);
	item->fact.words = answer_format(a, fmt, args);
	va_end(args);
}

void answer_member(struct answer *a, const char *key, json_t *value)
{
	struct answer_item *item = answer_add(a, ANSWER_MEMBER, key, NULL, NULL);

	if (item && value) {
		item->member = value;
		return;
	}
	json_decref(value);
	if (item)
		a->error = -ENOMEM;
}

/* Returns copies of the columns and their strings. NULL means a failure, which a keeps. */
static struct answer_column *answer_copy_columns(struct answer *a,
						 const struct answer_column *columns, size_t nr)
{
	struct answer_column *copy = calloc(nr, sizeof(*copy));

	if (!copy)
		a->error = -ENOMEM;
	for (size_t i = 0; copy && i < nr; i++)
		copy[i] = (struct answer_column){ .key = answer_copy(a, columns[i].key),
						  .title = answer_copy(a, columns[i].title),
						  .unit = columns[i].unit,
						  .right = columns[i].right,
						  .around = columns[i].around,
						  .interval = answer_copy(a, columns[i].interval) };
	return copy;
}

struct answer_table *answer_table(struct answer *a, const char *key, const char *title,
				  const char *about, const struct answer_column *columns,
				  size_t nr_columns)
{
	struct answer_item *item = answer_add(a, ANSWER_TABLE, key, title, about);

	if (!item)
		return NULL;
	item->table = calloc(1, sizeof(*item->table));
	if (!item->table) {
		a->error = -ENOMEM;
		return NULL;
	}
	*item->table =
		(struct answer_table){ .answer = a,
				       .columns = answer_copy_columns(a, columns, nr_columns) };
	item->table->nr_columns = item->table->columns ? nr_columns : 0;
	return a->error ? NULL : item->table;
}

/* Returns a new cell at the end of the table, or NULL after a failure. */
static struct answer_cell *answer_table_cell(struct answer_table *t)
{
	struct answer *a = t ? t->answer : NULL;

	if (answer_error(a))
		return NULL;
	a->error = array_grow(&t->cells, &t->cap, t->nr + 1, sizeof(*t->cells));
	if (a->error)
		return NULL;
	t->cells[t->nr] = (struct answer_cell){ .value = NAN, .low = NAN, .high = NAN };
	return &t->cells[t->nr++];
}

void answer_words(struct answer_table *t, const char *fmt, ...)
{
	struct answer_cell *c = answer_table_cell(t);
	va_list args;

	if (!c)
		return;
	va_start(args, fmt);
	c->words = answer_format(t->answer, fmt, args);
	va_end(args);
}

void answer_number(struct answer_table *t, double value)
{
	answer_interval(t, value, NAN, NAN);
}

void answer_interval(struct answer_table *t, double value, double low, double high)
{
	struct answer_cell *c = answer_table_cell(t);

	if (c)
		*c = (struct answer_cell){ .value = value, .low = low, .high = high };
}

void answer_picture(struct answer *a, const char *title, const char *about, struct buf *svg)
{
	struct answer_item *item = answer_add(a, ANSWER_PICTURE, NULL, title, about);

	if (item && svg->error)
		a->error = svg->error;
	if (!item) {
		buf_release(svg);
		return;
	}
	item->svg = *svg;
	buf_init(svg);
}

static bool answer_column_is_empty(const struct answer_table *t, size_t column)
{
	for (size_t i = column; i < t->nr; i += t->nr_columns) {
		if (!t->cells[i].words || t->cells[i].words[0])
			return false;
	}
	return t->nr > column;
}

void answer_hide_empty(struct answer_table *t)
{
	for (size_t i = 0; t && i < t->nr_columns; i++) {
		if (!answer_column_is_empty(t, i))
			continue;
		free((char *)t->columns[i].title);
		t->columns[i].title = NULL;
	}
}

/* Half of the last digit of a percentage with one digit behind the point. */
#define ANSWER_NO_CHANGE 0.0005

const char *answer_number_text(double value, enum answer_unit unit, char out[ANSWER_CELL_BYTES])
{
	char text[UNITS_BYTES];

	if (!isfinite(value))
		return "-";
	switch (unit) {
	case ANSWER_NONE:
		snprintf(out, ANSWER_CELL_BYTES, "%.5g", value);
		break;
	case ANSWER_COUNT:
		snprintf(out, ANSWER_CELL_BYTES, "%s", units_count(value, text));
		break;
	case ANSWER_INTEGER:
		snprintf(out, ANSWER_CELL_BYTES, "%.0f", value);
		break;
	case ANSWER_SECONDS:
		snprintf(out, ANSWER_CELL_BYTES, "%s", units_measured_time(value, text));
		break;
	case ANSWER_BYTES:
		snprintf(out, ANSWER_CELL_BYTES, "%s", units_bytes(value, text));
		break;
	case ANSWER_PER_S:
		snprintf(out, ANSWER_CELL_BYTES, "%s/s", units_count(value, text));
		break;
	case ANSWER_BYTES_PER_S:
		snprintf(out, ANSWER_CELL_BYTES, "%s/s", units_bytes(value, text));
		break;
	case ANSWER_RATIO:
		snprintf(out, ANSWER_CELL_BYTES, "%.1f %%", 100 * value);
		break;
	case ANSWER_CHANGE:
		/* A decrease that is rounded to nothing is not printed as "-0.0 %". */
		if (fabs(value) < ANSWER_NO_CHANGE)
			value = 0;
		snprintf(out, ANSWER_CELL_BYTES, "%+.1f %%", 100 * value);
		break;
	}
	return out;
}

const char *answer_cell_text(const struct answer_cell *c, enum answer_unit unit,
			     char out[ANSWER_CELL_BYTES])
{
	if (c->words)
		return c->words;
	return answer_number_text(c->value, unit, out);
}

/* A spread below this share of the number is the rounding of equal numbers. */
#define ANSWER_NO_SPREAD 1e-9

const char *answer_column_text(const struct answer_cell *c, const struct answer_column *column,
			       char out[ANSWER_CELL_BYTES])
{
	double spread = (c->high - c->low) / 2 / c->value;
	char text[ANSWER_CELL_BYTES];

	answer_cell_text(c, column->unit, text);
	if (!column->around || c->words || !(spread > ANSWER_NO_SPREAD) || !isfinite(spread))
		return answer_cell_text(c, column->unit, out);
	snprintf(out, ANSWER_CELL_BYTES, "%.40s ±%.2g %%", text, 100 * spread);
	return out;
}

bool answer_is_number(const struct answer_table *t, size_t column)
{
	if (t->columns[column].right)
		return true;
	for (size_t i = column; i < t->nr; i += t->nr_columns) {
		if (t->cells[i].words)
			return false;
	}
	return true;
}

bool answer_shows_interval(const struct answer_column *column)
{
	return column->interval && !column->around;
}

unsigned int answer_shown_columns(const struct answer_table *t)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		nr += t->columns[i].title ? 1 + 2 * answer_shows_interval(&t->columns[i]) : 0;
	return nr;
}

bool answer_is_shown(const struct answer_item *item)
{
	return item->kind == ANSWER_TABLE && item->table->nr && answer_shown_columns(item->table);
}

int answer_check(const struct answer *a)
{
	int ret = answer_error(a);

	if (ret)
		return ret;
	for (size_t i = 0; i < a->nr_items; i++) {
		const struct answer_table *t = a->items[i].table;

		if (t && (!t->nr_columns || t->nr % t->nr_columns ||
			  answer_shown_columns(t) > GRID_COLUMNS))
			return -EINVAL;
	}
	return 0;
}

int answer_print(const struct answer *a, enum answer_form form, FILE *out)
{
	int ret = answer_check(a);

	if (ret)
		return ret;
	switch (form) {
	case ANSWER_JSON:
		return answer_print_json(a, out);
	case ANSWER_CSV:
		return answer_print_csv(a, out);
	case ANSWER_TEXT:
		break;
	}
	return answer_print_text(a, out);
}
