// SPDX-License-Identifier: Apache-2.0
/*
 * This file renders an answer as text for a terminal: tables, facts, the conclusion, and the
 * remarks below it.
 */
#include <errno.h>

#include "analyzer/answer/answer_parts.h"
#include "analyzer/answer/grid.h"

/*
 * Adds the titles of the columns. Numbers align right; an interval adds the columns "from" and
 * "to".
 */
static void answer_text_titles(const struct answer_table *t, struct grid *g)
{
	unsigned int at = 0;

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct answer_column *c = &t->columns[i];

		if (!c->title)
			continue;
		g->right[at++] = answer_is_number(t, i);
		grid_cell(g, "%s", c->title);
		if (!answer_shows_interval(c))
			continue;
		g->right[at++] = true;
		g->right[at++] = true;
		grid_cell(g, "from");
		grid_cell(g, "to");
	}
}

static int answer_text_table(const struct answer_table *t, FILE *out)
{
	struct grid g;
	int ret;

	grid_open(&g, answer_shown_columns(t));
	answer_text_titles(t, &g);
	for (size_t i = 0; i < t->nr; i++) {
		const struct answer_column *c = &t->columns[i % t->nr_columns];
		char text[ANSWER_CELL_BYTES];

		if (!c->title)
			continue;
		grid_cell(&g, "%s", answer_column_text(&t->cells[i], c, text));
		if (!answer_shows_interval(c))
			continue;
		grid_cell(&g, "%s", answer_number_text(t->cells[i].low, c->unit, text));
		grid_cell(&g, "%s", answer_number_text(t->cells[i].high, c->unit, text));
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	return ret;
}

int answer_print_text(const struct answer *a, FILE *out)
{
	size_t nr_tables = 0;
	bool had_fact = false;
	int ret;

	for (size_t i = 0; i < a->nr_items; i++) {
		const struct answer_item *item = &a->items[i];
		char text[ANSWER_CELL_BYTES];

		if (item->kind == ANSWER_FACT && item->title) {
			if (nr_tables && !had_fact)
				fputc('\n', out);
			fprintf(out, "%s: %s\n", item->title,
				answer_cell_text(&item->fact, item->unit, text));
			had_fact = true;
		}
		if (!answer_is_shown(item))
			continue;
		if (nr_tables++ || had_fact)
			fprintf(out, "\n%s%s", item->title ? item->title : "",
				item->title ? "\n" : "");
		had_fact = false;
		ret = answer_text_table(item->table, out);
		if (ret)
			return ret;
	}
	if (a->conclusion)
		fprintf(out, "%s%s\n", nr_tables || had_fact ? "\n" : "", a->conclusion);
	for (size_t i = 0; i < a->nr_notes; i++)
		fprintf(out, "%s\n", a->notes[i]);
	return ferror(out) ? -EIO : 0;
}
