// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cache_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/answer/grid.h"
#include "analyzer/report/study_page.h"
#include "analyzer/report/miss_ratio.h"
#include "base/units.h"

#define GIB	    1073741824.0
#define CLEARLY	    0.01 /* of the hit ratio: less is not worth the trouble of parts */
#define CURVE_SIZES 24	 /* of the picture of ways to use a cache */

static void load_name(const struct cache_result *r, size_t i, char out[128])
{
	const struct profile *p = &r->loads[i]->whole;

	snprintf(out, 128, "%.60s %.60s", p->host, p->device_name);
}

static double cache_text_hits(const struct cache_result *r, const double *part)
{
	return 1 - cache_misses(r->streams, r->nr, part);
}

static void conclude_one(struct cache_result *r)
{
	const struct cache_advice *a = &r->advice[0];
	double bytes = isnan(a->knee_bytes) ? a->most_bytes : a->knee_bytes;
	char size[UNITS_BYTES], most[UNITS_BYTES], name[128];

	load_name(r, 0, name);
	if (isfinite(a->wanted_bytes))
		snprintf(
			r->conclusion, sizeof(r->conclusion),
			"A cache of %s would serve %.4g %% of what %s asks for; no cache serves more "
			"than %.1f %%.",
			units_bytes(a->wanted_bytes, size), 100 * r->hit_ratio, name,
			100 * a->most_hit_ratio);
	else if (isfinite(r->hit_ratio))
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "No cache serves %.4g %% of what %s asks for: %.1f %% at most, with %s.",
			 100 * r->hit_ratio, name, 100 * a->most_hit_ratio,
			 units_bytes(a->most_bytes, most));
	else
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "A cache of %s%s would serve %.1f %% of what %s asks for; no cache serves "
			 "more than %.1f %%, with %s.",
			 units_bytes(bytes, size), isnan(a->knee_bytes) ? "" : ", at the knee,",
			 100 * (isnan(a->knee_bytes) ? a->most_hit_ratio : a->knee_hit_ratio), name,
			 100 * a->most_hit_ratio, units_bytes(a->most_bytes, most));
}

void cache_conclude(struct cache_result *r)
{
	char size[UNITS_BYTES];
	double shared, parted;

	if (r->nr == 1) {
		conclude_one(r);
		return;
	}
	shared = cache_text_hits(r, r->shared);
	parted = cache_text_hits(r, r->parted);
	snprintf(r->conclusion, sizeof(r->conclusion),
		 "%s shared by the %zu loads would serve %.1f %% of what they ask for; in the best "
		 "parts %.1f %%, in equal ones %.1f %%: %s.",
		 units_bytes(r->size_bytes, size), r->nr, 100 * shared, 100 * parted,
		 100 * cache_text_hits(r, r->equal),
		 parted > shared + CLEARLY ? "part it" : "let them share it");
}

static void cell_time(struct grid *g, double s)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", isnan(s) ? "-" : units_time(s, text));
}

static int print_steps(const struct cache_result *r)
{
	char name[128], text[UNITS_BYTES];
	double per = 1.0 / 1024; /* MiB where all caches are small */
	struct grid g;
	int ret;

	for (size_t i = 0; i < r->nr; i++)
		per = r->advice[i].most_bytes >= GIB ? 1 : per;
	grid_init(&g, per < 1 ? "load|>cache|>hits|>more per MiB|>response time|>change|"
			      : "load|>cache|>hits|>more per GiB|>response time|>change|");
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < r->advice[i].nr; k++) {
			const struct cache_advice *a = &r->advice[i];
			const struct cache_step *s = &a->steps[k];
			bool knee = s->bytes <= a->knee_bytes && 2 * s->bytes > a->knee_bytes;

			load_name(r, i, name);
			grid_cell(&g, "%s", k ? "" : name);
			grid_cell(&g, "%s", units_bytes(s->bytes, text));
			grid_cell(&g, "%.1f %%", 100 * s->hit_ratio);
			grid_cell(&g, "%.3g %%", 100 * per * s->gain_per_gib);
			cell_time(&g, s->response_s);
			if (isfinite(s->response_s))
				grid_cell(&g, "%+.1f %%", 100 * (s->response_s / a->miss_s - 1));
			else
				grid_cell(&g, "-");
			grid_cell(&g, "%s%s", knee ? "knee at " : "",
				  knee ? units_bytes(a->knee_bytes, text) : "");
		}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

static void part_cells(struct grid *g, const struct cache_result *r, size_t i, const double *part)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", units_bytes(part[i], text));
	grid_cell(g, "%.1f %%", 100 * (1 - cache_miss_ratio(&r->streams[i], part[i])));
}

static int print_parts(const struct cache_result *r)
{
	char name[128];
	struct grid g;
	int ret;

	putchar('\n');
	grid_init(&g, "load|>shared|>hits|>equal|>hits|>best|>hits");
	for (size_t i = 0; i < r->nr; i++) {
		load_name(r, i, name);
		grid_cell(&g, "%s", name);
		part_cells(&g, r, i, r->shared);
		part_cells(&g, r, i, r->equal);
		part_cells(&g, r, i, r->parted);
	}
	grid_cell(&g, "all");
	for (int k = 0; k < 3; k++) {
		const double *part = k == 0 ? r->shared : k == 1 ? r->equal : r->parted;

		grid_cell(&g, "%s", "");
		grid_cell(&g, "%.1f %%", 100 * cache_text_hits(r, part));
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

int cache_print(const struct cache_result *r)
{
	int ret = print_steps(r);

	if (!ret && r->nr > 1)
		ret = print_parts(r);
	if (!ret)
		printf("\n%s\n", r->conclusion);
	return ret;
}

static json_t *cache_text_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *advice_json(const struct cache_result *r, size_t i)
{
	const struct cache_advice *a = &r->advice[i];
	json_t *steps = json_array();
	char name[128];

	load_name(r, i, name);
	for (size_t k = 0; k < a->nr; k++)
		json_array_append_new(
			steps,
			json_pack("{s:f, s:f, s:f, s:o, s:o}", "cache_bytes", a->steps[k].bytes,
				  "hit_ratio", a->steps[k].hit_ratio, "gain_per_gib",
				  a->steps[k].gain_per_gib, "response_s",
				  cache_text_number(a->steps[k].response_s), "read_s",
				  cache_text_number(a->reads_only ? a->steps[k].response_s : NAN)));
	return json_pack("{s:s, s:o, s:o, s:f, s:f, s:o, s:o, s:o}", "load", name, "knee_bytes",
			 cache_text_number(a->knee_bytes), "knee_hit_ratio",
			 cache_text_number(a->knee_hit_ratio), "most_bytes", a->most_bytes,
			 "most_hit_ratio", a->most_hit_ratio, "wanted_bytes",
			 cache_text_number(a->wanted_bytes), "miss_s", cache_text_number(a->miss_s),
			 "sizes", steps);
}

static json_t *parts_json(const struct cache_result *r, const double *part)
{
	json_t *all = json_array();

	for (size_t i = 0; i < r->nr; i++)
		json_array_append_new(all,
				      json_pack("{s:f, s:f}", "cache_bytes", part[i], "hit_ratio",
						1 - cache_miss_ratio(&r->streams[i], part[i])));
	return json_pack("{s:f, s:o}", "hit_ratio", cache_text_hits(r, part), "loads", all);
}

int cache_json(const struct cache_result *r)
{
	json_t *loads = json_array(), *top;
	int ret = -ENOMEM;

	for (size_t i = 0; i < r->nr; i++)
		json_array_append_new(loads, advice_json(r, i));
	top = json_pack("{s:s, s:o, s:s}", "schema", "blkcast.cache/1", "loads", loads,
			"conclusion", r->conclusion);
	if (top && r->nr > 1)
		json_object_update_new(top,
				       json_pack("{s:f, s:o, s:o, s:o}", "cache_bytes",
						 r->size_bytes, "shared", parts_json(r, r->shared),
						 "equal", parts_json(r, r->equal), "parted",
						 parts_json(r, r->parted)));
	if (top)
		ret = json_dumpf(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

/* Hits of all loads over the size of a cache, used in three ways. */
static double cache_text_way(const struct cache_result *r, int which, double bytes, double *part)
{
	if (which == 0)
		cache_shared(r->streams, r->nr, bytes, part);
	else if (which == 1)
		for (size_t i = 0; i < r->nr; i++)
			part[i] = bytes / (double)r->nr;
	else if (cache_parted(r->streams, r->nr, bytes, part))
		return NAN;
	return cache_text_hits(r, part);
}

static int draw_ways(const struct cache_result *r, struct buf *out)
{
	static const struct legend_entry entries[] = { { LEGEND_LINE, "line read", "shared" },
						       { LEGEND_LINE, "line law", "equal parts" },
						       { LEGEND_LINE, "line write",
							 "best parts" } };
	static const char *const classes[] = { "line read", "line law", "line write" };
	const struct frame *f = &frame_wide;
	struct svg_head head = { .id = "cache-ways",
				 .class = "figure",
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
		for (int i = 0; i <= CURVE_SIZES; i++) {
			double bytes = x.from * pow(x.to / x.from, (double)i / CURVE_SIZES);

			(i ? svg_line_to
			   : svg_move_to)(out, scale_px(&x, bytes),
					  scale_px(&y, cache_text_way(r, which, bytes, part)));
		}
		svg_path_end(out);
	}
	svg_line(out, "line total", scale_px(&x, r->size_bytes), f->top,
		 scale_px(&x, r->size_bytes), f->bottom);
	svg_end(out);
	free(part);
	return out->error;
}

int cache_page(const struct cache_result *r, struct buf *out)
{
	char name[128], id[32];
	int ret = 0;

	study_page_begin(out, "How much cache", r->conclusion);
	if (r->nr > 1) {
		study_page_section(
			out, "One cache for all",
			"Share of all references that hit, by the size of a cache that the "
			"loads use together; the vertical line is the size asked about.");
		ret = draw_ways(r, out);
		study_page_section_end(out);
	}
	for (size_t i = 0; i < r->nr && !ret; i++) {
		struct view view = { .id = id };

		snprintf(id, sizeof(id), "curve-%zu", i);
		load_name(r, i, name);
		study_page_section(out, name, "Misses by the size of a cache of its own.");
		buf_printf(out, "<div class=\"pair\">\n");
		ret = miss_ratio_draw(&r->loads[i]->whole, &view, out);
		buf_printf(out, "</div>\n");
		if (ret == -ENODATA) {
			buf_printf(out, "<p>Nothing hits.</p>\n");
			ret = 0;
		}
		study_page_section_end(out);
	}
	study_page_end(out);
	return ret ? ret : out->error;
}
