/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/report/picture/intensity.h"

#define MIB 1048576.0

static const struct frame stack_frame = { .width = SVG_WIDTH,
					  .height = 290,
					  .left = 64,
					  .top = 48,
					  .right = 748,
					  .bottom = 246 };

void intensity_init(struct intensity *i)
{
	timegrid_init(&i->grid, INTENSITY_ROWS, FRAME_FINE_COLUMNS);
}

void intensity_release(struct intensity *i)
{
	timegrid_release(&i->grid);
}

int intensity_add(struct intensity *i, uint64_t arrival_ns, uint32_t bytes, bool write)
{
	uint64_t *column = timegrid_at(&i->grid, arrival_ns);
	unsigned int class = size_class_of(bytes);

	if (!column)
		return -ENOMEM;
	column[intensity_row(INTENSITY_REQUESTS, class, write)]++;
	column[intensity_row(INTENSITY_BYTES, class, write)] += bytes;
	return 0;
}

const char *size_class_label(unsigned int class)
{
	static const char *const names[NR_SIZE_CLASSES] = { "≤ 4 KiB", "8",   "16",  "32",
							    "64",      "128", "256", "> 256 KiB" };

	return class < NR_SIZE_CLASSES ? names[class] : "";
}

/*
 * A column counts as watched for at least this share of its width. Otherwise a few requests in a
 * sliver beside a gap would be drawn as a peak that never was.
 */
#define LEAST_WATCHED_RATIO 0.1

struct stack {
	const struct timegrid *grid;
	enum intensity_measure measure;
	struct scale x, y;
};

/* Returns the seconds of a column that were watched; NaN where nobody watched. */
static double intensity_watched_s(const struct stack *s, size_t column)
{
	const struct timegrid *g = s->grid;
	const uint64_t *cells = timegrid_column(g, column);
	uint64_t begin = timegrid_begin_ns(g) + column * g->step_ns, nr = 0, ns;

	for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++)
		nr += cells[intensity_row(INTENSITY_REQUESTS, c, false)] +
		      cells[intensity_row(INTENSITY_REQUESTS, c, true)];
	ns = gaps_watched_ns(s->x.gaps, s->x.nr_gaps, begin, begin + g->step_ns, nr > 0);
	return ns ? fmax((double)ns, LEAST_WATCHED_RATIO * (double)g->step_ns) * 1e-9 : NAN;
}

/*
 * Returns the rate of a column over its watched time, in requests or MiB per second, for all
 * classes up to and including `class`; NaN where nobody watched.
 */
static double intensity_stacked(const struct stack *s, size_t column, unsigned int class)
{
	const uint64_t *cells = timegrid_column(s->grid, column);
	double sum = 0;

	for (unsigned int c = 0; c <= class; c++)
		sum += (double)cells[intensity_row(s->measure, c, false)] +
		       (double)cells[intensity_row(s->measure, c, true)];
	return sum / intensity_watched_s(s, column) / (s->measure == INTENSITY_BYTES ? MIB : 1);
}

static double intensity_writes(const struct stack *s, size_t column)
{
	const uint64_t *cells = timegrid_column(s->grid, column);
	double sum = 0;

	for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++)
		sum += (double)cells[intensity_row(s->measure, c, true)];
	return sum / intensity_watched_s(s, column) / (s->measure == INTENSITY_BYTES ? MIB : 1);
}

static double column_px(const struct stack *s, size_t column)
{
	return scale_px(&s->x, (double)(timegrid_begin_ns(s->grid) + column * s->grid->step_ns));
}

/*
 * Draws the upper edge of a class as a staircase, one step per change of height. Where nobody
 * watched, the area has no height.
 */
static void intensity_staircase(struct buf *out, const struct stack *s, unsigned int class)
{
	double last = NAN;

	for (size_t c = 0; c < s->grid->nr; c++) {
		double v = intensity_stacked(s, c, class);
		double y = scale_px(&s->y, isnan(v) ? 0 : v);

		if (y == last)
			continue;
		if (!isnan(last))
			svg_line_to(out, column_px(s, c), last);
		svg_line_to(out, column_px(s, c), y);
		last = y;
	}
	svg_line_to(out, column_px(s, s->grid->nr), last);
}

/* Draws the rate of writes as a line, which is interrupted where nobody watched. */
static void intensity_write_line(struct buf *out, const struct stack *s)
{
	double last = NAN;

	svg_path(out, "line total thin");
	for (size_t c = 0; c < s->grid->nr; c++) {
		double v = intensity_writes(s, c), y = isnan(v) ? NAN : scale_px(&s->y, v);

		if (y == last || (isnan(y) && isnan(last)))
			continue;
		if (!isnan(last))
			svg_line_to(out, column_px(s, c), last);
		if (!isnan(y))
			(isnan(last) ? svg_move_to : svg_line_to)(out, column_px(s, c), y);
		last = y;
	}
	if (!isnan(last))
		svg_line_to(out, column_px(s, s->grid->nr), last);
	svg_path_end(out);
}

/*
 * Draws every class as an area from the axis up, the highest stack first, because later ones cover
 * its lower part.
 */
static void intensity_areas(struct buf *out, const struct stack *s)
{
	for (int class = NR_SIZE_CLASSES - 1; class >= 0; class --) {
		char name[16];

		snprintf(name, sizeof(name), "area s%d", class);
		svg_path(out, name);
		svg_move_to(out, column_px(s, 0), s->y.px_from);
		intensity_staircase(out, s, (unsigned int)class);
		svg_line_to(out, column_px(s, s->grid->nr), s->y.px_from);
		buf_put_u8(out, 'z');
		svg_path_end(out);
	}
	intensity_write_line(out, s);
}

static void intensity_marks(struct buf *out, const struct stack *s, const struct load_peaks *peaks,
			    const struct frame *f)
{
	const struct load_peak *p =
		&peaks->of[s->measure == INTENSITY_BYTES ? LOAD_BYTES : LOAD_REQUESTS];
	double unit = s->measure == INTENSITY_BYTES ? MIB : 1, x, y;
	struct label value, window, clock;
	char text[200];

	bool right = scale_px(&s->x, (double)p->max_at_ns) > (f->left + f->right) / 2;

	/* The two labels stand on opposite sides. */
	y = scale_px(&s->y, p->p95 / unit);
	svg_line(out, "rule", f->left, y, f->right, y);
	snprintf(text, sizeof(text), "P95 %s", label_count(&value, p->p95 / unit));
	svg_text(out, right ? "note start halo" : "note end halo",
		 right ? f->left + 4 : f->right - 4, y - 4, text);

	x = scale_px(&s->x, (double)p->max_at_ns);
	y = scale_px(&s->y, p->max / unit);
	svg_circle(out, "peak", x, y, 4);
	snprintf(text, sizeof(text), "peak %s in %s at %s", label_count(&value, p->max / unit),
		 label_duration(&window, peaks->window_s),
		 label_clock(&clock, p->max_at_ns, peaks->window_s < 1 ? 3 : 0, s->x.utc));
	svg_text(out, right ? "note end halo" : "note start halo", x + (right ? -8 : 8), y - 6,
		 text);
}

static void class_legend(struct buf *out, const struct frame *f)
{
	struct legend_entry entries[NR_SIZE_CLASSES + 1];
	struct frame upper = *f;

	for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++) {
		static const char *const classes[] = { "s0", "s1", "s2", "s3",
						       "s4", "s5", "s6", "s7" };

		entries[c] = (struct legend_entry){ LEGEND_BOX, classes[c], size_class_label(c) };
	}
	entries[NR_SIZE_CLASSES] =
		(struct legend_entry){ LEGEND_LINE, "line total thin", "writes, all sizes" };
	upper.top -= 16;
	frame_legend(out, &upper, entries, NR_SIZE_CLASSES + 1);
}

static void intensity_describe(const struct load_peaks *p, enum intensity_measure measure,
			       char *text, size_t len)
{
	bool bytes = measure == INTENSITY_BYTES;
	const struct load_peak *peak = &p->of[bytes ? LOAD_BYTES : LOAD_REQUESTS];
	double unit = bytes ? MIB : 1;
	struct label mean, p95, max, window;

	snprintf(
		text, len,
		"Stacked by size class over time. %s per second: mean %s, 95th percentile %s, peak "
		"%s, over windows of %s.",
		bytes ? "MiB" : "Requests", label_count(&mean, peak->mean / unit),
		label_count(&p95, peak->p95 / unit), label_count(&max, peak->max / unit),
		label_duration(&window, p->window_s));
}

int intensity_draw(const struct intensity *i, enum intensity_measure measure,
		   const struct load_peaks *peaks, const struct view *v, struct buf *out)
{
	const struct frame *f = &stack_frame;
	bool bytes = measure == INTENSITY_BYTES;
	struct stack s = { .measure = measure, .x = frame_time(f, v) };
	struct view rate = *v;
	struct timegrid g;
	double most;
	char text[320];
	int ret = frame_columns(&i->grid, v, &g);

	if (ret)
		return ret;
	s.grid = &g;
	most = peaks->of[bytes ? LOAD_BYTES : LOAD_REQUESTS].max / (bytes ? MIB : 1);
	for (size_t c = 0; c < g.nr; c++)
		most = fmax(most, intensity_stacked(&s, c, NR_SIZE_CLASSES - 1));
	s.y = frame_linear(f, most, UNIT_COUNT);
	intensity_describe(peaks, measure, text, sizeof(text));
	rate.rate = bytes ? "bytes" : "requests";
	frame_begin(out, f, &rate, "figure wide", bytes ? "Throughput" : "Requests per second",
		    text, &s.x);
	frame_axes(out, f, &s.x, &s.y, NULL, bytes ? "MiB/s" : "requests/s");
	intensity_areas(out, &s);
	class_legend(out, f);
	intensity_marks(out, &s, peaks, f);
	svg_end(out);
	timegrid_release(&g);
	return out->error;
}

int intensity_csv(const struct intensity *i, enum intensity_measure measure, const struct view *v,
		  struct buf *out)
{
	static const char *const unit[] = { "requests", "bytes" };
	struct timegrid g;
	int ret = frame_columns(&i->grid, v, &g);

	if (ret)
		return ret;
	buf_printf(out, "begin_s");
	for (int write = 0; write < 2; write++)
		for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++) {
			buf_printf(out, ",%s_", write ? "write" : "read");
			if (c < NR_SIZE_CLASSES - 1)
				buf_printf(out, "to_%ukib_%s", size_class_end_bytes[c] / 1024,
					   unit[measure]);
			else
				buf_printf(out, "larger_%s", unit[measure]);
		}
	for (size_t col = 0; col < g.nr; col++) {
		buf_put_u8(out, '\n');
		frame_csv_time(out, timegrid_begin_ns(&g) + col * g.step_ns);
		for (int write = 0; write < 2; write++)
			for (unsigned int c = 0; c < NR_SIZE_CLASSES; c++)
				buf_printf(out, ",%llu",
					   (unsigned long long)timegrid_column(
						   &g, col)[intensity_row(measure, c, write)]);
	}
	buf_put_u8(out, '\n');
	timegrid_release(&g);
	return out->error;
}
