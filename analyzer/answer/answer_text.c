// SPDX-License-Identifier: Apache-2.0
/* The answer as text for a terminal: tables, facts, the conclusion, and remarks below it. */
#include <errno.h>
#include <math.h>

#include "analyzer/answer/answer_parts.h"
#include "analyzer/answer/grid.h"

static bool answer_is_number(const struct answer_table *t, size_t column)
{
	for (size_t i = column; i < t->nr; i += t->nr_columns) {
		if (t->cells[i].words || t->cells[i].is_flag)
			return false;
	}
	return true;
}

/* The grid's list of titles: numbers stand right; an interval adds the columns "from" and "to". */
static void answer_text_titles(const struct answer_table *t, struct buf *titles)
{
	const char *between = "";

	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct answer_column *c = &t->columns[i];

		if (!c->title)
			continue;
		buf_printf(titles, "%s%s%s%s", between, answer_is_number(t, i) ? ">" : "", c->title,
			   c->interval ? "|>from|>to" : "");
		between = "|";
	}
	buf_put_u8(titles, 0);
}

static int answer_text_table(const struct answer_table *t, FILE *out)
{
	struct buf titles = { 0 };
	struct grid g;
	int ret;

	answer_text_titles(t, &titles);
	if (titles.error) {
		buf_release(&titles);
		return -ENOMEM;
	}
	grid_init(&g, (const char *)titles.data);
	for (size_t i = 0; i < t->nr; i++) {
		const struct answer_column *c = &t->columns[i % t->nr_columns];
		char text[ANSWER_CELL_BYTES];

		if (!c->title)
			continue;
		grid_cell(&g, "%s", answer_cell_text(&t->cells[i], c->unit, text));
		if (!c->interval)
			continue;
		grid_cell(&g, "%s", answer_number_text(t->cells[i].low, c->unit, text));
		grid_cell(&g, "%s", answer_number_text(t->cells[i].high, c->unit, text));
	}
	ret = grid_print(&g, out);
	grid_release(&g);
	buf_release(&titles);
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
		if (item->kind != ANSWER_TABLE || !item->table->nr)
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
