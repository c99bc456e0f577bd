// SPDX-License-Identifier: Apache-2.0
/*
 * This file shows an answer as a page: the conclusion comes first, then facts, pictures and tables
 * in order, then remarks.
 */
#include <string.h>

#include "analyzer/answer/answer_parts.h"
#include "analyzer/answer/page_shell.h"

/* Words that are longer than this take two columns, so that no instant is broken in its middle. */
#define TILE_BYTES 16

static void answer_html_fact(const struct answer_item *item, struct buf *out)
{
	char text[ANSWER_CELL_BYTES];
	const char *words = answer_cell_text(&item->fact, item->unit, text);

	buf_printf(out, strlen(words) > TILE_BYTES ? "<div class=\"wide\"><dt>" : "<div><dt>");
	page_escape(out, item->title);
	buf_printf(out, "</dt><dd>");
	page_escape(out, words);
	buf_printf(out, "</dd></div>\n");
}

static void answer_html_facts(const struct answer *a, struct buf *out)
{
	bool open = false;

	for (size_t i = 0; i < a->nr_items; i++) {
		if (a->items[i].kind != ANSWER_FACT || !a->items[i].title)
			continue;
		if (!open)
			buf_printf(out, "<dl class=\"facts\">\n");
		open = true;
		answer_html_fact(&a->items[i], out);
	}
	if (open)
		buf_printf(out, "</dl>\n");
}

static void answer_html_head(const struct answer_table *t, struct buf *out)
{
	buf_printf(out, "<thead><tr>");
	for (size_t i = 0; i < t->nr_columns; i++) {
		if (!t->columns[i].title)
			continue;
		buf_printf(out, "<th scope=\"col\"%s>",
			   answer_is_number(t, i) ? "" : " class=\"words\"");
		page_escape(out, t->columns[i].title);
		buf_printf(out, "</th>%s",
			   answer_shows_interval(&t->columns[i]) ? "<th scope=\"col\">interval</th>"
								 : "");
	}
	buf_printf(out, "</tr></thead>\n");
}

static void answer_html_cell(const struct answer_cell *c, const struct answer_column *column,
			     struct buf *out)
{
	char text[ANSWER_CELL_BYTES], high[ANSWER_CELL_BYTES];

	buf_printf(out, c->words ? "<td class=\"words\">" : "<td>");
	page_escape(out, answer_column_text(c, column, text));
	buf_printf(out, "</td>");
	if (!answer_shows_interval(column))
		return;
	/*
	 * The word "to" stands here instead of a dash, so that no interval reads as a negative
	 * number.
	 */
	buf_printf(out, "<td>");
	if (c->low == c->low && c->high == c->high) {
		page_escape(out, answer_number_text(c->low, column->unit, text));
		buf_printf(out, " to ");
		page_escape(out, answer_number_text(c->high, column->unit, high));
	}
	buf_printf(out, "</td>");
}

static void answer_html_table(const struct answer_table *t, struct buf *out)
{
	buf_printf(out, "<div class=\"scroll\" tabindex=\"0\"><table>\n");
	answer_html_head(t, out);
	buf_printf(out, "<tbody>\n");
	for (size_t i = 0; i < t->nr; i++) {
		const struct answer_column *column = &t->columns[i % t->nr_columns];

		if (i % t->nr_columns == 0)
			buf_printf(out, "<tr>");
		if (column->title)
			answer_html_cell(&t->cells[i], column, out);
		if ((i + 1) % t->nr_columns == 0)
			buf_printf(out, "</tr>\n");
	}
	buf_printf(out, "</tbody></table></div>\n");
}

static void answer_html_item(const struct answer_item *item, struct buf *out)
{
	if (item->kind != ANSWER_PICTURE && !answer_is_shown(item))
		return;
	page_section_begin(out, item->title, item->about);
	if (item->kind == ANSWER_PICTURE && item->svg.len)
		buf_put(out, item->svg.data, item->svg.len);
	if (item->kind == ANSWER_TABLE)
		answer_html_table(item->table, out);
	page_section_end(out);
}

int answer_html_sections(const struct answer *a, struct buf *out)
{
	int ret = answer_check(a);

	for (size_t i = 0; i < a->nr_items && !ret; i++)
		answer_html_item(&a->items[i], out);
	return ret ? ret : out->error;
}

int answer_html(const struct answer *a, const struct page_maker *maker, struct buf *out)
{
	int ret = answer_check(a);

	if (ret)
		return ret;
	page_begin(out, a->title, a->conclusion);
	answer_html_facts(a, out);
	answer_html_sections(a, out);
	for (size_t i = 0; i < a->nr_notes; i++) {
		buf_printf(out, "<p class=\"soft\">");
		page_escape(out, a->notes[i]);
		buf_printf(out, "</p>\n");
	}
	page_end(out, maker);
	return out->error;
}
