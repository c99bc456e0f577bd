// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/curve/study_draw.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/report/draw/frame.h"
#include "analyzer/report/draw/svg.h"
#include "base/text/units.h"

#define BARS_LEFT	  260.0
#define BARS_WIDTH	  340.0
#define BARS_HEIGHT	  12.0
#define BARS_STEP	  15.0
#define BARS_GROUP_GAP	  9.0

#define CACHE_SIZES	  24 /* points of a curve */

#define SPACE_SHADES	  10 /* shades: the classes h0 to h9 of page.css */
#define SPACE_LEFT	  90.0
#define SPACE_TOP	  40.0
#define SPACE_WIDTH	  640.0
#define SPACE_CELL_HEIGHT 30.0

/* Response times as bars below each other, in groups that share a label. */
struct time_bar {
	/* text to the left of the bar; empty: the bar belongs to the group above */
	char label[160];
	char note[80];	  /* text in front of the time at the bar's end */
	double s;	  /* NaN: the note stands alone, without a bar */
	double low, high; /* ends of a line through the bar; NaN: there is none */
	bool is_write;
};

static const char *const study_draw_sides[2] = { "read", "write" };

/* Returns the longest time of all bars, which fills the width. */
static double time_bars_longest(const struct time_bar *bars, size_t nr)
{
	double longest = 0;

	for (size_t i = 0; i < nr; i++)
		longest = fmax(longest, isfinite(bars[i].s) ? bars[i].s : 0);
	return longest > 0 ? longest : 1;
}

static void time_bars_draw_one(struct buf *out, const struct time_bar *bar, double y,
			       double longest)
{
	double width = isfinite(bar->s) ? BARS_WIDTH * bar->s / longest : 0;
	double middle = y + BARS_HEIGHT / 2, baseline = y + BARS_HEIGHT - 2;
	char time[UNITS_BYTES] = "", text[256];

	if (bar->label[0])
		svg_text(out, "note end", BARS_LEFT - 8, baseline, bar->label);
	if (isfinite(bar->s))
		svg_rect(out, bar->is_write ? "bar write" : "bar read", BARS_LEFT, y, width,
			 BARS_HEIGHT, units_time(bar->s, time));
	if (isfinite(bar->low) && isfinite(bar->high))
		svg_line(out, "rule", BARS_LEFT + BARS_WIDTH * fmax(0, bar->low) / longest, middle,
			 BARS_LEFT + BARS_WIDTH * fmin(longest, bar->high) / longest, middle);
	snprintf(text, sizeof(text), "%s%s%s", bar->note, bar->note[0] && *time ? ": " : "", time);
	svg_text(out, "note start", BARS_LEFT + width + 6, baseline, text);
}

/* Appends the whole picture to out; head has everything but the height. */
static void time_bars_draw(struct buf *out, const struct svg_head *head,
			   const struct time_bar *bars, size_t nr)
{
	struct svg_head with_height = *head;
	double longest = time_bars_longest(bars, nr), y = 0;

	with_height.height = 16 + BARS_STEP * (double)nr;
	for (size_t i = 0; i < nr; i++)
		with_height.height += bars[i].label[0] ? BARS_GROUP_GAP : 0;
	svg_begin(out, &with_height);
	for (size_t i = 0; i < nr; i++) {
		y += bars[i].label[0] ? BARS_GROUP_GAP : 0;
		time_bars_draw_one(out, &bars[i], y, longest);
		y += BARS_STEP;
	}
	svg_end(out);
}

int study_draw_times(const struct study_result *r, struct buf *out)
{
	const struct svg_head head = {
		.id = "study-times",
		.class = "figure wide",
		.title = "Response times before and on the target",
		.description = "Two bars per load and type: before, and on the target.",
		.width = SVG_WIDTH
	};
	struct time_bar *bars = calloc(2 * r->nr_rows + 1, sizeof(*bars));
	char name[128], at[64];
	size_t nr = 0;

	if (!bars)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct study_row *row = &r->rows[i];
		struct time_bar *before = &bars[nr], *now = &bars[nr + 1];

		if (row->point != STUDY_MEAN || isnan(row->target_s))
			continue;
		nr += 2;
		study_case_name(r, row->case_index, at);
		study_name(r->study, row->load, name);
		*before = (struct time_bar){
			.note = "before", .s = row->before_s, .low = NAN, .high = NAN
		};
		snprintf(before->label, sizeof(before->label), "%.100s, %.30s, %s", name, at,
			 study_type_name((unsigned int)row->side));
		*now = (struct time_bar){ .note = "on the target",
					  .s = row->target_s,
					  .low = row->low,
					  .high = row->high };
		before->is_write = now->is_write = row->side == 1;
		if (isnan(row->before_s))
			snprintf(before->note, sizeof(before->note), "before: unknown");
	}
	time_bars_draw(out, &head, bars, nr);
	free(bars);
	return out->error;
}

/* Returns the slowest time of the map and of the load alone, which gets the darkest shade. */
static double study_draw_slowest(const struct space_result *r, int side)
{
	double before = space_before(r, side), worst = r->space.worst[side];

	return isfinite(before) ? fmax(before, worst) : worst;
}

/* Draws one cell per size and share of reads, shaded by its time. */
static void study_draw_cells(const struct space_result *r, int side, struct buf *out)
{
	const struct neighbour_space *s = &r->space;
	double width = SPACE_WIDTH / (double)s->nr_reads, most = study_draw_slowest(r, side);
	char text[UNITS_BYTES], class[16];

	for (size_t i = 0; i < s->nr_sizes; i++) {
		double y = SPACE_TOP + SPACE_CELL_HEIGHT * (double)(s->nr_sizes - 1 - i);

		svg_text(out, "note end", SPACE_LEFT - 8, y + SPACE_CELL_HEIGHT / 2 + 4,
			 units_bytes(s->sizes[i], text));
		for (size_t k = 0; k < s->nr_reads; k++) {
			double v = s->at[i][k].s[side];
			int shade = (int)fmin(SPACE_SHADES - 1,
					      floor(SPACE_SHADES * fmax(v, 0) / most));

			if (isnan(v))
				continue;
			units_time(v, text);
			snprintf(class, sizeof(class), "box h%d", shade);
			svg_rect(out, class, SPACE_LEFT + width * (double)k, y, width - 1,
				 SPACE_CELL_HEIGHT - 1, text);
			svg_text(out, "note mid halo", SPACE_LEFT + width * ((double)k + 0.5),
				 y + SPACE_CELL_HEIGHT / 2 + 4, text);
		}
	}
}

int study_draw_space(const struct space_result *r, int side, struct buf *out)
{
	const struct neighbour_space *s = &r->space;
	double width = SPACE_WIDTH / (double)s->nr_reads;
	char text[64];
	struct svg_head head = {
		.id = side ? "space-write" : "space-read",
		.class = "figure wide",
		.title = side ? "Writes beside the neighbour" : "Reads beside the neighbour",
		.description = "Response times by the neighbour's request size and mix.",
		.width = SVG_WIDTH,
		.height = SPACE_TOP + SPACE_CELL_HEIGHT * (double)s->nr_sizes + 30
	};

	svg_begin(out, &head);
	svg_text(out, "note start", SPACE_LEFT, 20, side ? "writes" : "reads");
	study_draw_cells(r, side, out);
	for (size_t k = 0; k < s->nr_reads; k++) {
		snprintf(text, sizeof(text), "%.0f %% reads", 100 * s->reads[k]);
		svg_text(out, "note mid", SPACE_LEFT + width * ((double)k + 0.5), head.height - 10,
			 text);
	}
	svg_end(out);
	return out->error;
}

/*
 * Returns the hits of all loads with a cache of this size. which selects how the loads use the
 * cache: 0 shared, 1 in equal parts, 2 in the best parts.
 */
static double study_draw_cache_way(const struct cache_result *r, int which, double bytes,
				   double *part)
{
	if (which == 0)
		cache_shared(r->streams, r->nr, bytes, part);
	else if (which == 1)
		for (size_t i = 0; i < r->nr; i++)
			part[i] = bytes / (double)r->nr;
	else if (cache_parted(r->streams, r->nr, bytes, part))
		return NAN;
	return cache_hits(r, part);
}

int study_draw_cache(const struct cache_result *r, struct buf *out)
{
	static const struct legend_entry entries[] = { { LEGEND_LINE, "line read", "shared" },
						       { LEGEND_LINE, "line law", "equal parts" },
						       { LEGEND_LINE, "line write",
							 "best parts" } };
	static const char *const classes[] = { "line read", "line law", "line write" };
	const struct frame *f = &frame_wide;
	struct svg_head head = { .id = "cache-ways",
				 .class = "figure wide",
				 .title = "Hits of all loads by cache size",
				 .description = "A cache shared, in equal and in the best parts.",
				 .width = f->width,
				 .height = f->height };
	double *part = calloc(r->nr, sizeof(*part)), most = 0;
	struct scale x = { .kind = SCALE_LOG,
			   .unit = UNIT_BYTES,
			   .px_from = f->left,
			   .px_to = f->right },
		     y = frame_linear(f, 1, UNIT_RATIO);

	if (!part)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++)
		most += r->advice[i].most_bytes;
	x.to = fmax(most, 2 * r->size_bytes);
	x.from = x.to / 1024;
	svg_begin(out, &head);
	frame_axes(out, f, &x, &y, "cache", "hits");
	frame_legend(out, f, entries, sizeof(entries) / sizeof(*entries));
	for (int which = 0; which < 3; which++) {
		svg_path(out, classes[which]);
		for (int i = 0; i <= CACHE_SIZES; i++) {
			double bytes = x.from * pow(x.to / x.from, (double)i / CACHE_SIZES);

			(i ? svg_line_to : svg_move_to)(
				out, scale_px(&x, bytes),
				scale_px(&y, study_draw_cache_way(r, which, bytes, part)));
		}
		svg_path_end(out);
	}
	svg_line(out, "line total", scale_px(&x, r->size_bytes), f->top,
		 scale_px(&x, r->size_bytes), f->bottom);
	svg_end(out);
	free(part);
	return out->error;
}

static void study_draw_stairs(struct buf *out, const char *class, const size_t *most, size_t nr,
			      const struct scale *x, const struct scale *y)
{
	svg_path(out, class);
	for (size_t k = 0; k < nr; k++) {
		(k ? svg_line_to : svg_move_to)(out, scale_px(x, (double)k),
						scale_px(y, (double)most[k]));
		svg_line_to(out, scale_px(x, (double)k + 1), scale_px(y, (double)most[k]));
	}
	if (nr)
		svg_line_to(out, scale_px(x, (double)nr), scale_px(y, 0));
	svg_path_end(out);
}

int study_draw_mix(const struct mix_result *r, struct buf *out)
{
	static const struct legend_entry entries[] = {
		{ LEGEND_LINE, "line curve", "fits below" },
		{ LEGEND_LINE, "line thin", "by the upper end of the 90 % interval" },
	};
	const struct frame *f = &frame_wide;
	struct svg_head head = { .id = "mix-frontier",
				 .class = "figure wide",
				 .title = "Mixes that fit",
				 .description = "The most of one load by the count of the other.",
				 .width = f->width,
				 .height = f->height };
	struct scale x = { .kind = SCALE_LINEAR,
			   .unit = UNIT_COUNT,
			   .to = (double)r->nr + 1,
			   .px_from = f->left,
			   .px_to = f->right },
		     y = frame_linear(f, (double)r->most[0] + 1, UNIT_COUNT);

	svg_begin(out, &head);
	frame_axes(out, f, &x, &y, mix_free_name(r, 1), mix_free_name(r, 0));
	frame_legend(out, f, entries, sizeof(entries) / sizeof(*entries));
	study_draw_stairs(out, "line curve", r->most, r->nr, &x, &y);
	study_draw_stairs(out, "line thin", r->most_upper, r->nr_upper, &x, &y);
	svg_end(out);
	return out->error;
}

/* Makes the bars of one row, one per scenario. */
static void study_draw_scenario_row(const struct scenario_result *r, const struct scenario_row *row,
				    struct time_bar *bars)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct scenario *s = &r->scenarios[i];
		const struct scenario_vm *vm = scenario_vm_of(s, row->vm);
		struct time_bar *bar = &bars[i];

		*bar = (struct time_bar){ .s = scenario_time_s(s, row),
					  .low = vm ? vm->answer.low[row->side] : NAN,
					  .high = vm ? vm->answer.high[row->side] : NAN,
					  .is_write = row->side == 1 };
		snprintf(bar->note, sizeof(bar->note), "%s%s", s->name,
			 isfinite(bar->s) ? "" : ": not there");
		if (!i)
			snprintf(bar->label, sizeof(bar->label), "%s, %ss", row->vm,
				 study_draw_sides[row->side]);
	}
}

int study_draw_scenarios(const struct scenario_result *r, struct buf *out)
{
	const struct svg_head head = { .id = "scenario-times",
				       .class = "figure wide",
				       .title = "Response times by scenario",
				       .description = "A bar for each scenario, by VM and type.",
				       .width = SVG_WIDTH };
	struct scenario_row row;
	struct time_bar *bars;
	size_t nr = 0;

	while (scenario_row_of(r, nr, &row))
		nr++;
	bars = calloc(nr * r->nr + 1, sizeof(*bars));
	if (!bars)
		return -ENOMEM;
	for (size_t k = 0; scenario_row_of(r, k, &row); k++)
		study_draw_scenario_row(r, &row, &bars[k * r->nr]);
	time_bars_draw(out, &head, bars, nr * r->nr);
	free(bars);
	return out->error;
}
