// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/space_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/answer/grid.h"
#include "analyzer/report/study_page.h"
#include "analyzer/report/svg.h"
#include "base/units.h"

#define SHADES	    10 /* classes h0 .. h9 of the page */
#define MAP_LEFT    90.0
#define MAP_TOP	    40.0
#define MAP_WIDTH   640.0
#define CELL_HEIGHT 30.0

static const char *const sides[2] = { "read", "write" };

int space_levels(struct neighbour_space *s, const struct word_list *sizes,
		 const struct word_list *reads, struct err *err)
{
	if (sizes->nr > SPACE_LEVELS_MAX || reads->nr > SPACE_LEVELS_MAX)
		return err_set(err, EINVAL, "--sizes, --reads: expected up to %d levels of each",
			       SPACE_LEVELS_MAX);
	for (size_t i = 0; i < sizes->nr; i++) {
		uint64_t bytes;

		if (units_parse_bytes(sizes->items[i], &bytes, NULL) || !bytes)
			return err_set(err, EINVAL, "--sizes: expected a size as 64k, got '%.40s'",
				       sizes->items[i]);
		s->sizes[s->nr_sizes++] = (double)bytes;
	}
	for (size_t i = 0; i < reads->nr; i++) {
		char *end;
		double percent = strtod(reads->items[i], &end);

		if (end == reads->items[i] || *end || !(percent >= 0 && percent <= 100))
			return err_set(err, EINVAL,
				       "--reads: expected a percentage, 0 to 100, got '%.40s'",
				       reads->items[i]);
		s->reads[s->nr_reads++] = percent / 100;
	}
	return 0;
}

static double space_text_before(const struct space_result *r, int side)
{
	return r->space.beside ? r->base_s[side] : r->space.alone.s[side];
}

static double most_of(const struct space_result *r, int side)
{
	double most = space_text_before(r, side);

	return isfinite(most) ? fmax(most, r->space.worst[side]) : r->space.worst[side];
}

void space_conclude(struct space_result *r)
{
	const struct neighbour_space *s = &r->space;
	double change[2] = { s->worst[0] / space_text_before(r, 0),
			     s->worst[1] / space_text_before(r, 1) };
	int side = isnan(change[0]) || change[1] > change[0];
	char now[UNITS_BYTES], then[UNITS_BYTES], size[UNITS_BYTES];

	if (isnan(s->worst[side]))
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "Nothing is known of the times of %s.", r->load);
	else
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "The %ss of %s are slowest, %s, beside %s with requests of %s and %.0f %% "
			 "reads; %s they take %s.",
			 sides[side], r->load, units_time(s->worst[side], now), r->neighbour,
			 units_bytes(s->sizes[s->worst_size[side]], size),
			 100 * s->reads[s->worst_read[side]],
			 s->beside ? "as characterized" : "alone there",
			 isnan(space_text_before(r, side))
				 ? "a time unknown"
				 : units_time(space_text_before(r, side), then));
}

static int print_side(const struct space_result *r, int side)
{
	const struct neighbour_space *s = &r->space;
	char header[512], text[UNITS_BYTES];
	size_t used = (size_t)snprintf(header, sizeof(header), "%ss beside", sides[side]);
	struct grid g;
	int ret;

	for (size_t k = 0; k < s->nr_reads && used < sizeof(header); k++)
		used += (size_t)snprintf(header + used, sizeof(header) - used, "|>%.0f %% reads",
					 100 * s->reads[k]);
	grid_init(&g, header);
	for (size_t i = 0; i < s->nr_sizes; i++) {
		grid_cell(&g, "%s", units_bytes(s->sizes[i], text));
		for (size_t k = 0; k < s->nr_reads; k++)
			grid_cell(&g, "%s", units_time(s->at[i][k].s[side], text));
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	putchar('\n');
	return ret;
}

int space_print(const struct space_result *r)
{
	int ret = 0;

	for (int side = 0; side < 2 && !ret; side++)
		if (isfinite(r->space.worst[side]))
			ret = print_side(r, side);
	puts(r->conclusion);
	return ret;
}

static json_t *space_text_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *side_json(const struct space_result *r, int side)
{
	const struct neighbour_space *s = &r->space;
	json_t *rows = json_array();

	if (isnan(s->worst[side])) {
		json_decref(rows);
		return json_null();
	}
	for (size_t i = 0; i < s->nr_sizes; i++) {
		json_t *row = json_array();

		for (size_t k = 0; k < s->nr_reads; k++)
			json_array_append_new(row, space_text_number(s->at[i][k].s[side]));
		json_array_append_new(rows, row);
	}
	return json_pack("{s:o, s:o}", "before_s", space_text_number(space_text_before(r, side)),
			 "mean_s", rows);
}

int space_json(const struct space_result *r)
{
	const struct neighbour_space *s = &r->space;
	json_t *sizes = json_array(), *reads = json_array(), *top;
	int ret = -ENOMEM;

	for (size_t i = 0; i < s->nr_sizes; i++)
		json_array_append_new(sizes, json_real(s->sizes[i]));
	for (size_t k = 0; k < s->nr_reads; k++)
		json_array_append_new(reads, json_real(s->reads[k]));
	top = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:s}", "schema",
			"blkcast.interference/1", "load", r->load, "neighbour", r->neighbour,
			"sizes_bytes", sizes, "read_ratios", reads, "read", side_json(r, 0),
			"write", side_json(r, 1), "extrapolated", s->outside != NULL, "conclusion",
			r->conclusion);
	if (top)
		ret = json_dumpf(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

/* Shades from none to the slowest of all. */
static void draw_cells(const struct space_result *r, int side, struct buf *out)
{
	const struct neighbour_space *s = &r->space;
	double width = MAP_WIDTH / (double)s->nr_reads, most = most_of(r, side);
	char text[UNITS_BYTES], class[16];

	for (size_t i = 0; i < s->nr_sizes; i++) {
		double y = MAP_TOP + CELL_HEIGHT * (double)(s->nr_sizes - 1 - i);

		svg_text(out, "note end", MAP_LEFT - 8, y + CELL_HEIGHT / 2 + 4,
			 units_bytes(s->sizes[i], text));
		for (size_t k = 0; k < s->nr_reads; k++) {
			double v = s->at[i][k].s[side];
			int shade = (int)fmin(SHADES - 1, floor(SHADES * fmax(v, 0) / most));

			if (isnan(v))
				continue;
			units_time(v, text);
			snprintf(class, sizeof(class), "box h%d", shade);
			svg_rect(out, class, MAP_LEFT + width * (double)k, y, width - 1,
				 CELL_HEIGHT - 1, text);
			svg_text(out, "note mid halo", MAP_LEFT + width * ((double)k + 0.5),
				 y + CELL_HEIGHT / 2 + 4, text);
		}
	}
}

static void space_text_draw(const struct space_result *r, int side, struct buf *out)
{
	const struct neighbour_space *s = &r->space;
	double width = MAP_WIDTH / (double)s->nr_reads;
	char text[64];
	struct svg_head head = {
		.id = side ? "space-write" : "space-read",
		.class = "figure",
		.title = side ? "Writes beside the neighbour" : "Reads beside the neighbour",
		.description = "Response times by the neighbour's request size and mix.",
		.width = SVG_WIDTH,
		.height = MAP_TOP + CELL_HEIGHT * (double)s->nr_sizes + 30
	};

	svg_begin(out, &head);
	svg_text(out, "note start", MAP_LEFT, 20, side ? "writes" : "reads");
	draw_cells(r, side, out);
	for (size_t k = 0; k < s->nr_reads; k++) {
		snprintf(text, sizeof(text), "%.0f %% reads", 100 * s->reads[k]);
		svg_text(out, "note mid", MAP_LEFT + width * ((double)k + 0.5), head.height - 10,
			 text);
	}
	svg_end(out);
}

int space_page(const struct space_result *r, struct buf *out)
{
	study_page_begin(out, "Beside a neighbour", r->conclusion);
	for (int side = 0; side < 2; side++) {
		if (isnan(r->space.worst[side]))
			continue;
		study_page_section(
			out, side ? "Writes" : "Reads",
			"Mean response times of the load; across the neighbour's share of "
			"reads, upwards its request size.");
		space_text_draw(r, side, out);
		study_page_section_end(out);
	}
	study_page_end(out);
	return out->error;
}
