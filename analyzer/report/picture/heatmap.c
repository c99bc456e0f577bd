/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/characterize/time_objective.h"
#include "analyzer/report/picture/heatmap.h"

#define LEVELS 10 /* number of shades, classes h0 to h9 */

const double heatmap_crop_ratio[HEATMAP_CROPS] = { 0, 0.001, 0.01 };

/* Item i is 10 us times 2^(i/4), with 16 bits after the point. */
static const uint64_t quarter[HEATMAP_PER_OCTAVE] = { 655360000, 779358775, 926819000, 1102179749 };

static const struct frame heat_frame = { .width = SVG_WIDTH,
					 .height = 350,
					 .left = 64,
					 .top = 32,
					 .right = 748,
					 .bottom = 306 };

void heatmap_init(struct heatmap *h)
{
	timegrid_init(&h->grid, HEATMAP_ROWS, FRAME_FINE_COLUMNS);
}

void heatmap_release(struct heatmap *h)
{
	timegrid_release(&h->grid);
}

uint64_t heatmap_row_begin_ns(unsigned int row)
{
	if (!row)
		return 0;
	row--;
	/* Rounds up: an integer latency is in the row exactly when it is not below the edge. */
	return ((quarter[row % HEATMAP_PER_OCTAVE] << row / HEATMAP_PER_OCTAVE) + 65535) >> 16;
}

unsigned int heatmap_row(uint64_t latency_ns)
{
	unsigned int row, octave;

	if (latency_ns < HEATMAP_LOWEST_NS)
		return 0;
	octave = 63 - (unsigned int)__builtin_clzll(latency_ns / HEATMAP_LOWEST_NS);
	if (octave >= HEATMAP_OCTAVES)
		return HEATMAP_ROWS - 1;
	row = 1 + octave * HEATMAP_PER_OCTAVE;
	while (row < HEATMAP_ROWS - 1 && latency_ns >= heatmap_row_begin_ns(row + 1))
		row++;
	return row;
}

int heatmap_add(struct heatmap *h, uint64_t arrival_ns, uint64_t latency_ns)
{
	uint64_t *column = timegrid_at(&h->grid, arrival_ns);

	if (!column)
		return -ENOMEM;
	column[heatmap_row(latency_ns)]++;
	return 0;
}

static uint64_t row_total(const struct timegrid *g, unsigned int row)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < g->nr; c++)
		sum += timegrid_column(g, c)[row];
	return sum;
}

unsigned int heatmap_crop_row(const struct heatmap *h, double crop_ratio, uint64_t *nr_above)
{
	uint64_t totals[HEATMAP_ROWS], sum = 0, above = 0;
	unsigned int row = HEATMAP_ROWS - 1;

	for (unsigned int r = 0; r < HEATMAP_ROWS; r++)
		sum += totals[r] = row_total(&h->grid, r);
	while (row && (double)(above + totals[row]) <= crop_ratio * (double)sum)
		above += totals[row--];
	*nr_above = above;
	return row;
}

/* Returns a shade from 0 to LEVELS - 1 by the logarithm of the count, or -1 for no request. */
static int level_of(uint64_t count, uint64_t most)
{
	if (!count)
		return -1;
	if (most <= 1)
		return LEVELS - 1;
	return (int)fmin(LEVELS - 1, floor(LEVELS * log((double)count) / log((double)most)));
}

static uint64_t most_in_a_cell(const struct timegrid *g)
{
	uint64_t most = 0;

	for (size_t i = 0; i < g->nr * g->rows; i++)
		if (g->cells[i] > most)
			most = g->cells[i];
	return most;
}

/*
 * Writes one path per shade, in units of cells: "M column row h length" for each run of equal
 * cells. The stroke is one row high, and the nested picture that uses it stretches it to the plot.
 */
static void heatmap_cells(struct buf *out, const struct timegrid *g, const char *id)
{
	uint64_t most = most_in_a_cell(g);

	buf_printf(out, "<defs><g id=\"%s-cells\">\n", id);
	for (int level = 0; level < LEVELS; level++) {
		buf_printf(out, "<path class=\"cell h%d\" d=\"", level);
		for (unsigned int row = 0; row < HEATMAP_ROWS; row++)
			for (size_t c = 0, run; c < g->nr; c += run ? run : 1) {
				for (run = 0; c + run < g->nr; run++)
					if (level_of(timegrid_column(g, c + run)[row], most) !=
					    level)
						break;
				if (run)
					buf_printf(out, "M%zu %u.5h%zu", c, HEATMAP_ROWS - 1 - row,
						   run);
			}
		buf_printf(out, "\"/>\n");
	}
}

/*
 * Returns the median of a column in rows from the bottom, placed within its row; NaN where the
 * column is empty.
 */
static double median_row(const uint64_t *column)
{
	uint64_t sum = 0, below = 0;

	for (unsigned int r = 0; r < HEATMAP_ROWS; r++)
		sum += column[r];
	for (unsigned int r = 0; r < HEATMAP_ROWS; r++) {
		if (2 * (below + column[r]) >= sum && column[r])
			return r + ((double)sum / 2 - (double)below) / (double)column[r];
		below += column[r];
	}
	return NAN;
}

static void heatmap_medians(struct buf *out, const struct timegrid *g)
{
	bool drawing = false;

	svg_path(out, "median");
	for (size_t c = 0; c < g->nr; c++) {
		double row = HEATMAP_ROWS - median_row(timegrid_column(g, c));

		if (!isnan(row))
			(drawing ? svg_line_to : svg_move_to)(out, (double)c + 0.5, row);
		drawing = !isnan(row);
	}
	svg_path_end(out);
	buf_printf(out, "</g></defs>\n");
}

/* Returns the axis of latency for rows low to high, both of which are shown whole. */
static struct scale latency_axis(const struct frame *f, unsigned int low, unsigned int high)
{
	double row = HEATMAP_LOWEST_NS * 1e-9, per = HEATMAP_PER_OCTAVE;

	return (struct scale){ .kind = SCALE_LOG,
			       .unit = UNIT_SECONDS,
			       .from = row * exp2((low - 1.0) / per),
			       .to = row * exp2(high / per),
			       .px_from = f->bottom,
			       .px_to = f->top };
}

static void shade_legend(struct buf *out, const struct frame *f, uint64_t most)
{
	double x = f->right - 250, y = f->top - 23;
	struct label l;
	char text[96];

	svg_group(out, "legend");
	svg_line(out, "median", x - 70, y + 5, x - 52, y + 5);
	svg_text(out, "tick start", x - 48, y + 9, "median");
	svg_text(out, "tick end", x + 24, y + 9, "1");
	for (int level = 0; level < LEVELS; level++) {
		char class[16];

		snprintf(class, sizeof(class), "box h%d", level);
		svg_rect(out, class, x + 29 + 11 * level, y, 11, 10, NULL);
	}
	snprintf(text, sizeof(text), "%s requests", label_count(&l, (double)most));
	svg_text(out, "tick start", x + 34 + 11 * LEVELS, y + 9, text);
	svg_group_end(out);
}

/* Draws the limits of the objectives that lie on the axis, with their names. */
static void heatmap_limits(struct buf *out, const struct frame *f, const struct view *v,
			   const struct scale *y)
{
	for (size_t i = 0; v->objectives && i < v->objectives->nr; i++) {
		const struct time_objective *o = &v->objectives->list[i];
		double at = scale_px(y, o->limit_s);

		if (o->limit_s < y->from || o->limit_s > y->to)
			continue;
		svg_line(out, "line law", f->left, at, f->right, at);
		svg_text(out, "note start halo", f->left + 4, at - 4, o->name);
	}
}

/* Draws the plot with one crop; page.css shows one of the three at a time. */
static void heatmap_crop(struct buf *out, const struct heatmap *h, const struct timegrid *g,
			 const struct view *v, const struct scale *x, int which)
{
	const struct frame *f = &heat_frame;
	uint64_t above;
	unsigned int high = heatmap_crop_row(h, heatmap_crop_ratio[which], &above), low = 0;
	struct scale y;
	struct label n, t;
	char class[24], text[160];
	double from = scale_px(x, (double)timegrid_begin_ns(g));
	double to = scale_px(x, (double)timegrid_end_ns(g));

	while (low < high && !row_total(&h->grid, low))
		low++;
	/* The axis has at least two octaves, so that a narrow distribution has an axis too. */
	high = high < low + 7 ? low + 7 : high;
	high = high < HEATMAP_ROWS ? high : HEATMAP_ROWS - 1;
	y = latency_axis(f, low, high);
	snprintf(class, sizeof(class), "crop crop-%d", which);
	svg_group(out, class);
	frame_axes(out, f, x, &y, NULL, "response time");
	buf_printf(
		out,
		"<svg x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%.0f\" viewBox=\"0 %u %zu %u\" "
		"preserveAspectRatio=\"none\" data-rows=\"%u %u\"><use href=\"#%s-cells\"/></svg>\n",
		from, f->top, to - from, f->bottom - f->top, HEATMAP_ROWS - 1 - high, g->nr,
		high - low + 1, low, high, v->id);
	heatmap_limits(out, f, v, &y);
	if (above) {
		snprintf(text, sizeof(text), "%s slower than %s not shown", label_count(&n, above),
			 label_duration(&t, y.to));
		svg_text(out, "note end halo", f->right - 4, f->top + 14, text);
	}
	svg_group_end(out);
}

static void heatmap_describe(const struct heatmap *h, char *text, size_t len)
{
	struct label low, high, n;
	uint64_t above, sum = 0;
	unsigned int top = heatmap_crop_row(h, 0, &above), bottom = 0;

	while (bottom < top && !row_total(&h->grid, bottom))
		bottom++;
	for (size_t i = 0; i < h->grid.nr * h->grid.rows; i++)
		sum += h->grid.cells[i];
	snprintf(text, len,
		 "Heat map of %s reads and writes: time from left to right, response time from %s "
		 "at the bottom to %s at the top on a logarithmic scale, stronger in colour "
		 "where more requests fell.",
		 label_count(&n, (double)sum),
		 label_duration(&low, (double)heatmap_row_begin_ns(bottom) * 1e-9),
		 label_duration(&high, (double)heatmap_row_begin_ns(top + 1) * 1e-9));
}

int heatmap_draw(const struct heatmap *h, const struct view *v, struct buf *out)
{
	struct scale x = frame_time(&heat_frame, v);
	struct timegrid g;
	char text[320];
	int ret = frame_columns(&h->grid, v, &g);

	if (ret)
		return ret;
	heatmap_describe(h, text, sizeof(text));
	frame_begin(out, &heat_frame, v, "figure wide heat", "Response time over time", text, &x);
	heatmap_cells(out, &g, v->id);
	heatmap_medians(out, &g);
	shade_legend(out, &heat_frame, most_in_a_cell(&g));
	for (int i = 0; i < HEATMAP_CROPS; i++)
		heatmap_crop(out, h, &g, v, &x, i);
	svg_end(out);
	timegrid_release(&g);
	return out->error;
}

int heatmap_csv(const struct heatmap *h, const struct view *v, struct buf *out)
{
	struct timegrid g;
	int ret = frame_columns(&h->grid, v, &g);
	unsigned int low = 0, high = HEATMAP_ROWS - 1;

	if (ret)
		return ret;
	while (low < high && !row_total(&g, low))
		low++;
	while (high > low && !row_total(&g, high))
		high--;
	buf_printf(out, "begin_s");
	for (unsigned int r = low; r <= high; r++)
		buf_printf(out, ",from_%.4g_s", (double)heatmap_row_begin_ns(r) * 1e-9);
	for (size_t c = 0; c < g.nr; c++) {
		buf_put_u8(out, '\n');
		frame_csv_time(out, timegrid_begin_ns(&g) + c * g.step_ns);
		for (unsigned int r = low; r <= high; r++)
			buf_printf(out, ",%llu", (unsigned long long)timegrid_column(&g, c)[r]);
	}
	buf_put_u8(out, '\n');
	timegrid_release(&g);
	return out->error;
}
