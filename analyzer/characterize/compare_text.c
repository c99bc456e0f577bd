// SPDX-License-Identifier: Apache-2.0
#include "analyzer/characterize/compare_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "base/text/units.h"

#define NAMED_MOST  3 /* A line of the headline names at most so many changes. */

#define VALUE_BYTES (UNITS_BYTES + 8)

static const char *compare_text_value(enum compare_unit unit, double value, char out[VALUE_BYTES])
{
	char text[UNITS_BYTES];

	if (isnan(value))
		snprintf(out, VALUE_BYTES, "-");
	else if (unit == UNIT_S)
		snprintf(out, VALUE_BYTES, "%s", units_time(value, text));
	else if (unit == UNIT_BYTES)
		snprintf(out, VALUE_BYTES, "%s", units_bytes(value, text));
	else if (unit == UNIT_BYTES_PER_S)
		snprintf(out, VALUE_BYTES, "%s/s", units_bytes(value, text));
	else if (unit == UNIT_RATIO)
		snprintf(out, VALUE_BYTES, "%.2f %%", value * 100);
	else
		snprintf(out, VALUE_BYTES, "%s", units_count(value, text));
	return out;
}

/* The cells that people see: both values, the difference and its interval. */
struct compare_text_cells {
	char a[VALUE_BYTES], b[VALUE_BYTES], difference[VALUE_BYTES], interval[2 * VALUE_BYTES];
};

/* between stands between the ends of the interval. */
static struct compare_text_cells compare_text_cells(const struct comparison *c, const char *between)
{
	struct compare_text_cells cells = { .difference = "-", .interval = "-" };

	compare_text_value(c->unit, c->a, cells.a);
	compare_text_value(c->unit, c->b, cells.b);
	if (c->a == 0)
		return cells;
	if (!isnan(c->difference))
		snprintf(cells.difference, sizeof(cells.difference), "%+.1f %%",
			 100 * c->difference / fabs(c->a));
	if (!isnan(c->lo))
		snprintf(cells.interval, sizeof(cells.interval), "%+.1f%s%+.1f %%",
			 100 * c->lo / fabs(c->a), between, 100 * c->hi / fabs(c->a));
	return cells;
}

static void compare_text_row(struct grid *g, const struct comparison *c)
{
	const struct compare_text_cells cells = compare_text_cells(c, " .. ");

	grid_cell(g, "  %s", c->dimension);
	grid_cell(g, "%s", cells.a);
	grid_cell(g, "%s", cells.b);
	grid_cell(g, "%s", cells.difference);
	grid_cell(g, "%s", cells.interval);
	grid_cell(g, "%s", verdict_name(c->verdict));
}

static bool compare_text_is_changed(const struct comparison *c)
{
	return c->verdict == VERDICT_BETTER || c->verdict == VERDICT_WORSE ||
	       c->verdict == VERDICT_DIFFERENT;
}

/*
 * Returns the size of a change. A factor and its inverse have the same size. A value that appears
 * or vanishes is the largest change.
 */
static double compare_text_size(const struct comparison *c)
{
	if (isnan(c->a) || isnan(c->b))
		return -1;
	if (c->a == c->b)
		return 0;
	return c->a > 0 && c->b > 0 ? fabs(log(c->b / c->a)) : INFINITY;
}

/*
 * Sorts changes first, then the rows without a verdict, then those that stayed the same, and in
 * each group the larger difference first.
 */
static int compare_text_order(const void *a, const void *b)
{
	const struct comparison *x = a, *y = b;
	int place_x = compare_text_is_changed(x) ? 0 : x->verdict == VERDICT_CANNOT_TELL ? 1 : 2;
	int place_y = compare_text_is_changed(y) ? 0 : y->verdict == VERDICT_CANNOT_TELL ? 1 : 2;
	double size_x = compare_text_size(x), size_y = compare_text_size(y);

	if (place_x != place_y)
		return place_x - place_y;
	if (size_x != size_y)
		return size_x < size_y ? 1 : -1;
	return strcmp(x->dimension, y->dimension);
}

static bool compare_text_is_idle_queue(const struct comparison *c)
{
	return c->a == 0 && c->b == 0 && strstr(c->dimension, ".response.queue.");
}

/*
 * Prints the rows of one verdict: "; 2 better: read.response.total.p95 4 ms to 1 ms (-75.0 %),
 * ...".
 */
static void compare_text_named(const struct comparison *rows, size_t nr, bool of_load,
			       enum verdict verdict, const char **between, FILE *out)
{
	char a[VALUE_BYTES], b[VALUE_BYTES];
	size_t all = 0, named = 0;

	for (size_t i = 0; i < nr; i++)
		all += rows[i].of_load == of_load && rows[i].verdict == verdict;
	if (!all)
		return;
	fprintf(out, "%s%zu %s", *between, all, verdict_name(verdict));
	*between = "; ";
	for (size_t i = 0; i < nr && named < NAMED_MOST; i++) {
		const struct comparison *c = &rows[i];

		if (c->of_load != of_load || c->verdict != verdict)
			continue;
		fprintf(out, "%s %s %s to %s", named++ ? "," : ":", c->dimension,
			compare_text_value(c->unit, c->a, a), compare_text_value(c->unit, c->b, b));
		if (c->a != 0)
			fprintf(out, " (%+.1f %%)", 100 * c->difference / fabs(c->a));
	}
	if (all > named)
		fprintf(out, " and %zu more", all - named);
}

static void compare_text_headline(const struct comparison *rows, size_t nr, double tolerance_ratio,
				  FILE *out)
{
	size_t load = 0, changed = 0, unsure = 0;
	const char *between = "  The loads differ, so better and worse may come from the load: ";

	for (size_t i = 0; i < nr; i++) {
		bool is_changed = compare_text_is_changed(&rows[i]);

		load += is_changed && rows[i].of_load;
		changed += is_changed && !rows[i].of_load;
		unsure += rows[i].verdict == VERDICT_CANNOT_TELL;
	}
	compare_text_named(rows, nr, true, VERDICT_DIFFERENT, &between, out);
	fputs(load ? ".\n" : "", out);
	between = load ? "  Beside the load: " : "  ";
	compare_text_named(rows, nr, false, VERDICT_WORSE, &between, out);
	compare_text_named(rows, nr, false, VERDICT_BETTER, &between, out);
	compare_text_named(rows, nr, false, VERDICT_DIFFERENT, &between, out);
	if (!changed)
		fprintf(out, "%sno change of more than %.3g %% can be shown", between,
			100 * tolerance_ratio);
	if (!changed && unsure)
		fprintf(out, "; of %zu dimensions nothing can be told", unsure);
	fputs(".\n\n", out);
}

int compare_text_print(struct comparison *rows, size_t nr, double tolerance_ratio, FILE *out)
{
	size_t left_out = 0;
	struct grid g;
	int ret;

	qsort(rows, nr, sizeof(*rows), compare_text_order);
	compare_text_headline(rows, nr, tolerance_ratio, out);
	grid_init(&g, "  dimension|>A|>B|>difference|>95 % interval|verdict");
	for (size_t i = 0; i < nr; i++) {
		if (compare_text_is_idle_queue(&rows[i]))
			left_out++;
		else
			compare_text_row(&g, &rows[i]);
	}
	ret = grid_print(&g, out);
	if (left_out)
		fprintf(out, "  (%zu rows of queue times that are zero in A and B are left out)\n",
			left_out);
	grid_release(&g);
	return ret;
}

/* Joins the lines of the headline to one text without the blanks before them. */
static void compare_text_join(char *text)
{
	char *to = text;
	bool blank = true;

	for (const char *from = text; *from; from++) {
		bool is_blank = *from == ' ' || *from == '\n';

		if (is_blank && blank)
			continue;
		*to++ = is_blank ? ' ' : *from;
		blank = is_blank;
	}
	while (to > text && to[-1] == ' ')
		to--;
	*to = '\0';
}

static void compare_text_page_row(struct answer_table *t, const struct comparison *c)
{
	const struct compare_text_cells cells = compare_text_cells(c, " % to ");

	answer_words(t, "%s", c->dimension);
	answer_words(t, "%s", cells.a);
	answer_words(t, "%s", cells.b);
	answer_words(t, "%s", cells.difference);
	answer_words(t, "%s", cells.interval);
	answer_words(t, "%s", verdict_name(c->verdict));
}

int compare_text_page(struct comparison *rows, size_t nr, double tolerance_ratio, const char *title,
		      bool is_single, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "dimension" },
		{ .title = "A", .right = true },
		{ .title = "B", .right = true },
		{ .title = "difference", .right = true },
		{ .title = "95 % interval", .right = true },
		{ .title = "verdict" },
	};
	struct answer_table *t;
	char *headline = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&headline, &len);

	if (!out)
		return -ENOMEM;
	qsort(rows, nr, sizeof(*rows), compare_text_order);
	compare_text_headline(rows, nr, tolerance_ratio, out);
	if (fclose(out) || !headline) {
		free(headline);
		return -ENOMEM;
	}
	compare_text_join(headline);
	if (is_single)
		answer_conclude(a, "%s", headline);
	t = answer_table(a, NULL, title, is_single ? NULL : headline, ANSWER_COLUMNS(columns));
	for (size_t i = 0; i < nr; i++)
		if (!compare_text_is_idle_queue(&rows[i]))
			compare_text_page_row(t, &rows[i]);
	free(headline);
	return answer_error(a);
}
