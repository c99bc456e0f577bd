/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/draw/frame.h"

/* A column should hold many requests, because otherwise a heat map shows only single points. */
#define PER_COLUMN     20
#define FEWEST_COLUMNS 64

#define FINEST_GAP     0.5 /* units of the picture; narrower gaps cannot be seen */
#define NAMED_GAP      80  /* a wider gap has room for its label */

#define X_LABELS       7
#define Y_LABELS       5
/*
 * mean width of a character in labels of 12 units, estimated because no font can be measured here
 */
#define CHAR_WIDTH 6.9

const struct frame frame_wide = { .width = SVG_WIDTH,
				  .height = 270,
				  .left = 64,
				  .top = 30,
				  .right = 748,
				  .bottom = 226 };
const struct frame frame_half = { .width = 370,
				  .height = 260,
				  .left = 54,
				  .top = 30,
				  .right = 360,
				  .bottom = 216 };

struct scale frame_time(const struct frame *f, const struct view *v)
{
	return (struct scale){ .kind = SCALE_TIME,
			       .from = (double)v->begin_ns,
			       .to = (double)v->end_ns,
			       .px_from = f->left,
			       .px_to = f->right,
			       .utc = v->utc,
			       .gaps = v->gaps,
			       .nr_gaps = v->nr_gaps };
}

struct scale frame_linear(const struct frame *f, double to, enum unit unit)
{
	struct scale s = { .kind = SCALE_LINEAR,
			   .unit = unit,
			   .to = to > 0 ? to : 1,
			   .px_from = f->bottom,
			   .px_to = f->top };

	scale_round_up(&s);
	return s;
}

static size_t frame_chars(const char *text)
{
	size_t nr = 0;

	for (; *text; text++)
		nr += ((unsigned char)*text & 0xc0) != 0x80;
	return nr;
}

static void x_axis(struct buf *out, const struct frame *f, const struct scale *x)
{
	struct tick ticks[SCALE_TICKS_MAX];
	size_t about = f->width < SVG_WIDTH ? 4 : X_LABELS, nr = scale_ticks(x, about, ticks);

	for (size_t i = 0; i < nr; i++) {
		double at = scale_px(x, ticks[i].value);
		double half = (double)frame_chars(ticks[i].label.text) * CHAR_WIDTH / 2;

		svg_line(out, "grid", at, f->top, at, f->bottom);
		/* A label is aligned so that it stays inside the picture. */
		if (!ticks[i].minor)
			svg_text(out, at + half > f->width ? "tick end" : "tick mid",
				 at + half > f->width ? f->width - 1 : at, f->bottom + 17,
				 ticks[i].label.text);
	}
}

static void y_axis(struct buf *out, const struct frame *f, const struct scale *y)
{
	struct tick ticks[SCALE_TICKS_MAX];
	size_t nr = scale_ticks(y, Y_LABELS, ticks);

	for (size_t i = 0; i < nr; i++) {
		double at = scale_px(y, ticks[i].value);

		svg_line(out, "grid", f->left, at, f->right, at);
		if (!ticks[i].minor)
			svg_text(out, "tick end", f->left - 7, at + 4, ticks[i].label.text);
	}
}

static void time_name(const struct scale *x, char *name, size_t len)
{
	struct label clock;
	uint64_t from = (uint64_t)x->from;

	if (scale_time_is_relative(x, X_LABELS))
		snprintf(name, len, "time since %s", label_clock(&clock, from, 3, x->utc));
	else
		snprintf(name, len, "time%s", x->utc ? " (UTC)" : "");
}

/*
 * Shades the times in which nobody watched, so that they do not look idle. Gaps that touch in the
 * picture are joined.
 */
static void frame_gaps(struct buf *out, const struct frame *f, const struct scale *x)
{
	for (size_t i = 0; i < x->nr_gaps; i++) {
		double from = scale_px(x, (double)x->gaps[i].begin_ns);
		double to = scale_px(x, (double)x->gaps[i].end_ns);

		while (i + 1 < x->nr_gaps &&
		       scale_px(x, (double)x->gaps[i + 1].begin_ns) - to < FINEST_GAP)
			to = scale_px(x, (double)x->gaps[++i].end_ns);
		if (to - from < FINEST_GAP)
			continue;
		svg_rect(out, "unwatched", from, f->top, to - from, f->bottom - f->top,
			 "not watched");
		if (to - from > NAMED_GAP)
			svg_text(out, "note mid", (from + to) / 2, (f->top + f->bottom) / 2,
				 "not watched");
	}
}

void frame_axes(struct buf *out, const struct frame *f, const struct scale *x,
		const struct scale *y, const char *x_name, const char *y_name)
{
	char name[80];

	svg_group(out, "axes");
	if (x && x->kind == SCALE_TIME)
		frame_gaps(out, f, x);
	if (x)
		x_axis(out, f, x);
	y_axis(out, f, y);
	svg_line(out, "axis", f->left, f->bottom, f->right, f->bottom);
	if (!x_name) {
		time_name(x, name, sizeof(name));
		x_name = name;
	}
	svg_text(out, "name mid", (f->left + f->right) / 2, f->bottom + 36, x_name);
	svg_text(out, "name start", 4, f->top - 14, y_name);
	svg_group_end(out);
}

void frame_legend(struct buf *out, const struct frame *f, const struct legend_entry *entries,
		  size_t nr)
{
	double width = 0, x, y = f->top - 18;

	for (size_t i = 0; i < nr; i++)
		width += 22 + (double)frame_chars(entries[i].name) * CHAR_WIDTH + 10;
	x = f->right - width + 10;
	svg_group(out, "legend");
	for (size_t i = 0; i < nr; i++) {
		const struct legend_entry *e = &entries[i];

		if (e->shape == LEGEND_LINE)
			svg_line(out, e->class, x, y, x + 17, y);
		else if (e->shape == LEGEND_TALL)
			svg_line(out, e->class, x + 10, y - 6, x + 10, y + 6);
		else if (e->shape == LEGEND_DOT)
			svg_circle(out, e->class, x + 10, y, 4);
		else
			svg_rect(out, e->class, x + 6, y - 5, 10, 10, NULL);
		svg_text(out, "tick start", x + 22, y + 4, e->name);
		x += 22 + (double)frame_chars(e->name) * CHAR_WIDTH + 10;
	}
	svg_group_end(out);
}

void frame_begin(struct buf *out, const struct frame *f, const struct view *v, const char *class,
		 const char *title, const char *description, const struct scale *x)
{
	char attributes[256];
	struct svg_head head = { .id = v->id,
				 .class = class,
				 .title = title,
				 .description = description,
				 .width = f->width,
				 .height = f->height };

	if (x && x->kind == SCALE_TIME) {
		snprintf(attributes, sizeof(attributes),
			 " data-px=\"%.0f %.0f\" data-x=\"%.6f %.6f\" data-zone=\"%ld\"%s%s%s",
			 x->px_from, x->px_to, x->from / 1e9, x->to / 1e9, scale_zone_s(x),
			 v->rate ? " data-rate=\"" : "", v->rate ? v->rate : "",
			 v->rate ? "\"" : "");
		head.attributes = attributes;
	}
	svg_begin(out, &head);
}

int frame_columns(const struct timegrid *grid, const struct view *v, struct timegrid *wide)
{
	if (!grid->nr)
		return -ENODATA;
	/* A grid that had to become wider keeps its own columns. */
	return timegrid_widen(grid, v->step_ns % grid->step_ns ? grid->step_ns : v->step_ns, wide);
}

void frame_view_step(const struct timegrid *grid, uint64_t step_ns, struct view *v)
{
	v->step_ns = step_ns;
	v->begin_ns = timegrid_begin_ns(grid) / step_ns * step_ns;
	v->end_ns = (timegrid_end_ns(grid) + step_ns - 1) / step_ns * step_ns;
}

void frame_view(const struct timegrid *grid, uint64_t nr_requests, struct view *v)
{
	size_t columns = FRAME_COLUMNS;

	if (nr_requests / PER_COLUMN < columns)
		columns = (size_t)(nr_requests / PER_COLUMN);
	columns = columns > FEWEST_COLUMNS ? columns : FEWEST_COLUMNS;
	frame_view_step(grid, timegrid_step_for(grid, columns), v);
}

void frame_csv_time(struct buf *out, uint64_t real_ns)
{
	buf_printf(out, "%llu.%03u", (unsigned long long)(real_ns / 1000000000),
		   (unsigned int)(real_ns / 1000000 % 1000));
}
