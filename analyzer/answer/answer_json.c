// SPDX-License-Identifier: Apache-2.0
/* This file renders an answer for machines: JSON has all of it, CSV has its first table. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/answer/answer_parts.h"
#include "base/data/json.h"
#include "base/data/table.h"

static json_t *answer_cell_json(const struct answer_cell *c, enum answer_unit unit)
{
	if (c->words)
		return json_text(c->words);
	if (unit == ANSWER_INTEGER && isfinite(c->value))
		return json_integer((json_int_t)c->value);
	return json_number(c->value);
}

static json_t *answer_row_json(const struct answer_table *t, size_t row)
{
	json_t *object = json_object();

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct answer_cell *c = &t->cells[row * t->nr_columns + i];
		const struct answer_column *column = &t->columns[i];

		if (column->key)
			json_object_set_new(object, column->key, answer_cell_json(c, column->unit));
		if (column->interval)
			json_object_set_new(object, column->interval,
					    isnan(c->low) || isnan(c->high)
						    ? json_null()
						    : json_pack("[o, o]", json_number(c->low),
								json_number(c->high)));
	}
	return object;
}

static json_t *answer_item_json(const struct answer_item *item)
{
	json_t *rows;

	switch (item->kind) {
	case ANSWER_FACT:
		return answer_cell_json(&item->fact, item->unit);
	case ANSWER_MEMBER:
		return json_incref(item->member);
	case ANSWER_PICTURE:
		return NULL;
	case ANSWER_TABLE:
		break;
	}
	rows = json_array();
	for (size_t row = 0; row < item->table->nr / item->table->nr_columns; row++)
		json_array_append_new(rows, answer_row_json(item->table, row));
	return rows;
}

static int answer_json_set(json_t *top, const char *key, json_t *value)
{
	return json_object_set_new(top, key, value) ? -ENOMEM : 0;
}

static int answer_json_fill(const struct answer *a, json_t *top)
{
	json_t *notes;
	int ret = answer_json_set(top, "schema", json_string(a->schema));

	for (size_t i = 0; i < a->nr_items && !ret; i++) {
		if (a->items[i].key)
			ret = answer_json_set(top, a->items[i].key, answer_item_json(&a->items[i]));
	}
	if (ret)
		return ret;
	if (a->conclusion && answer_json_set(top, "conclusion", json_text(a->conclusion)))
		return -ENOMEM;
	if (!a->nr_notes)
		return 0;
	notes = json_array();
	for (size_t i = 0; i < a->nr_notes; i++)
		json_array_append_new(notes, json_text(a->notes[i]));
	return answer_json_set(top, "notes", notes);
}

json_t *answer_json(const struct answer *a)
{
	json_t *top;

	if (answer_check(a))
		return NULL;
	top = json_object();
	if (!answer_json_fill(a, top))
		return top;
	json_decref(top);
	return NULL;
}

int answer_print_json(const struct answer *a, FILE *out)
{
	json_t *top = answer_json(a);
	int ret;

	if (!top)
		return -ENOMEM;
	ret = json_print(top, out, JSON_INDENT(2)) || fputc('\n', out) == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

static void answer_csv_row(const struct answer_table *t, const struct answer_cell *row,
			   struct buf *out)
{
	const char *between = "";

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct answer_column *column = &t->columns[i];

		if (!column->key)
			continue;
		buf_printf(out, "%s", between);
		if (!row)
			table_put_cell(out, column->key);
		else if (row[i].words)
			table_put_text(out, row[i].words);
		else
			table_put_number(out, row[i].value);
		between = ",";
		if (!column->interval)
			continue;
		if (!row)
			buf_printf(out, ",%s_low,%s_high", column->key, column->key);
		if (row) {
			buf_put_u8(out, ',');
			table_put_number(out, row[i].low);
			buf_put_u8(out, ',');
			table_put_number(out, row[i].high);
		}
	}
	buf_put_u8(out, '\n');
}

int answer_print_csv(const struct answer *a, FILE *out)
{
	struct buf text;
	int ret;

	buf_init(&text);
	for (size_t i = 0; i < a->nr_items; i++) {
		const struct answer_table *t = a->items[i].table;

		if (!t)
			continue;
		answer_csv_row(t, NULL, &text);
		for (size_t row = 0; row < t->nr / t->nr_columns; row++)
			answer_csv_row(t, &t->cells[row * t->nr_columns], &text);
		break;
	}
	ret = text.error;
	if (!ret && fwrite(text.data, 1, text.len, out) != text.len)
		ret = -EIO;
	buf_release(&text);
	return ret;
}
