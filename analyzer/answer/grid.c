// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/grid.h"

#include <stdarg.h>
#include <string.h>

#include "base/text/shown.h"

#define CELL_BYTES 512

static unsigned int grid_text_width(const char *text)
{
	unsigned int nr = 0;

	/* In UTF-8 a byte of the form 10xxxxxx continues a character. */
	for (; *text; text++)
		nr += ((unsigned char)*text & 0xc0) != 0x80;
	return nr;
}

static void grid_put_cell(struct grid *g, const char *text)
{
	unsigned int column = (unsigned int)(g->nr_cells++ % g->nr_columns);
	unsigned int width = grid_text_width(text);

	if (width > g->width[column])
		g->width[column] = width;
	buf_put(&g->text, text, strlen(text) + 1);
}

void grid_init(struct grid *g, const char *titles)
{
	char title[CELL_BYTES];
	const char *at = titles;

	*g = (struct grid){ .nr_columns = 1 };
	buf_init(&g->text);
	for (const char *p = titles; *p; p++)
		g->nr_columns += *p == '|';
	if (g->nr_columns > GRID_COLUMNS)
		g->nr_columns = GRID_COLUMNS;
	for (unsigned int i = 0; i < g->nr_columns; i++) {
		size_t len = strcspn(at, "|");

		g->right[i] = *at == '>';
		snprintf(title, sizeof(title), "%.*s", (int)len - g->right[i], at + g->right[i]);
		grid_put_cell(g, title);
		at += len + (at[len] == '|');
	}
}

void grid_open(struct grid *g, unsigned int nr_columns)
{
	*g = (struct grid){ .nr_columns = nr_columns };
	buf_init(&g->text);
}

void grid_release(struct grid *g)
{
	buf_release(&g->text);
}

void grid_cell(struct grid *g, const char *fmt, ...)
{
	char text[CELL_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	shown_in_place(text, sizeof(text));
	grid_put_cell(g, text);
}

int grid_print(const struct grid *g, FILE *out)
{
	const char *at = (const char *)g->text.data;
	int owed = 0;

	if (g->text.error)
		return g->text.error;
	for (size_t i = 0; i < g->nr_cells; i++) {
		unsigned int column = (unsigned int)(i % g->nr_columns);
		int blanks = (int)(g->width[column] - grid_text_width(at));

		/*
		 * Blanks are printed only once a cell follows them, so that no line ends with
		 * blanks.
		 */
		if (column == 0)
			owed = 0;
		if (*at) {
			fprintf(out, "%*s%s", owed + (g->right[column] ? blanks : 0), "", at);
			owed = 2 + (g->right[column] ? 0 : blanks);
		} else {
			owed += blanks + 2;
		}
		if (column + 1 == g->nr_columns)
			fputc('\n', out);
		at += strlen(at) + 1;
	}
	return 0;
}
