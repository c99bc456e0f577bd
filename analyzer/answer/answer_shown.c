// SPDX-License-Identifier: Apache-2.0
/*
 * This file renders an answer for a page that draws the answer itself: it has the texts that people
 * see, and the remaining values beside them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/answer/answer_parts.h"
#include "base/data/json.h"

bool answer_is_for_page(void)
{
	return getenv(ANSWER_FOR_PAGE) != NULL;
}

static json_t *answer_shown_head(const struct answer_table *t)
{
	json_t *head = json_array();

	for (size_t i = 0; i < t->nr_columns; i++) {
		if (!t->columns[i].title)
			continue;
		json_array_append_new(head, json_pack("{s:s, s:b}", "title", t->columns[i].title,
						      "number", answer_is_number(t, i)));
		if (answer_shows_interval(&t->columns[i]))
			json_array_append_new(head, json_pack("{s:s, s:b}", "title", "interval",
							      "number", 1));
	}
	return head;
}

/* An interval is written with the word "to", so that no dash reads as the sign of a number. */
static json_t *answer_shown_interval(const struct answer_cell *c, enum answer_unit unit)
{
	char low[ANSWER_CELL_BYTES], high[ANSWER_CELL_BYTES];

	if (c->low != c->low || c->high != c->high)
		return json_string("");
	return json_sprintf("%s to %s", answer_number_text(c->low, unit, low),
			    answer_number_text(c->high, unit, high));
}

static json_t *answer_shown_row(const struct answer_table *t, size_t row)
{
	json_t *cells = json_array();
	char text[ANSWER_CELL_BYTES];

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct answer_cell *c = &t->cells[row * t->nr_columns + i];
		const struct answer_column *column = &t->columns[i];

		if (!column->title)
			continue;
		json_array_append_new(cells, json_text(answer_column_text(c, column, text)));
		if (answer_shows_interval(column))
			json_array_append_new(cells, answer_shown_interval(c, column->unit));
	}
	return cells;
}

static json_t *answer_shown_table(const struct answer_item *item)
{
	json_t *rows = json_array();

	for (size_t row = 0; row < item->table->nr / item->table->nr_columns; row++)
		json_array_append_new(rows, answer_shown_row(item->table, row));
	return json_pack("{s:s?, s:s?, s:o, s:o}", "title", item->title, "about", item->about,
			 "head", answer_shown_head(item->table), "rows", rows);
}

static json_t *answer_shown_json(const struct answer *a)
{
	json_t *facts = json_array(), *tables = json_array(), *notes = json_array();
	char text[ANSWER_CELL_BYTES];

	for (size_t i = 0; i < a->nr_items; i++) {
		const struct answer_item *item = &a->items[i];

		if (item->kind == ANSWER_FACT && item->title)
			json_array_append_new(
				facts, json_pack("{s:s, s:o}", "title", item->title, "value",
						 json_text(answer_cell_text(&item->fact, item->unit,
									    text))));
		if (item->kind == ANSWER_TABLE && answer_is_shown(item))
			json_array_append_new(tables, answer_shown_table(item));
	}
	for (size_t i = 0; i < a->nr_notes; i++)
		json_array_append_new(notes, json_text(a->notes[i]));
	return json_pack("{s:s, s:s?, s:o, s:o, s:o}", "title", a->title, "conclusion",
			 a->conclusion, "facts", facts, "tables", tables, "notes", notes);
}

int answer_print_for_page(const struct answer *a, FILE *out)
{
	json_t *top = NULL, *machine = answer_json(a);
	struct buf html;
	int ret = machine ? 0 : -ENOMEM;

	buf_init(&html);
	if (ret)
		goto out;
	ret = answer_html(a, NULL, &html);
	if (ret)
		goto out;
	top = json_pack("{s:o, s:O, s:s%}", "shown", answer_shown_json(a), "answer", machine,
			"html", html.data, html.len);
	if (!top)
		ret = -ENOMEM;
	else if (json_print(top, out, JSON_COMPACT))
		ret = -EIO;
out:
	json_decref(top);
	json_decref(machine);
	buf_release(&html);
	return ret;
}
