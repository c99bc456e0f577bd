// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/mix_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "analyzer/report/study_page.h"
#include "analyzer/report/frame.h"

bool mix_is_fit(const struct mix_result *r)
{
	return r->nr_free == 0 ? r->fits : r->nr_free == 1 ? !r->none : r->nr > 0;
}

/* The loads whose counts are given: " beside 2 of vm b and 1 of vm c". */
static void given_text(const struct mix_result *r, const char *first, char *out, size_t size)
{
	size_t used = 0, nr = 0;

	out[0] = 0;
	for (size_t i = 0; i < r->mix.nr && used < size; i++)
		if (!r->mix.loads[i].free)
			used += (size_t)snprintf(out + used, size - used, "%s%zu of %s",
						 nr++ ? " and " : first, r->mix.loads[i].count,
						 r->mix.loads[i].name);
}

static const char *name_of(const struct mix_result *r, size_t k)
{
	return r->mix.loads[r->free[k]].name;
}

static void conclude_one(struct mix_result *r, const char *given)
{
	char upper[64] = "", reason[MIX_WHY_BYTES + 64] = "";

	if (r->none) {
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "%s does not fit even without the others: %.160s.", given, r->why);
		return;
	}
	if (r->none_upper)
		snprintf(upper, sizeof(upper), " (90 %%: not for sure the others alone)");
	else if (r->most_upper[0] != r->most[0])
		snprintf(upper, sizeof(upper), " (90 %%: %zu)", r->most_upper[0]);
	if (r->why[0])
		snprintf(reason, sizeof(reason), "; one more breaks %s", r->why);
	snprintf(r->conclusion, sizeof(r->conclusion), "%s %zu of %s fit%s%s%s.",
		 r->why[0] ? "Up to" : "At least", r->most[0], name_of(r, 0), given, upper, reason);
}

void mix_conclude(struct mix_result *r)
{
	char given[512];

	given_text(r, r->nr_free ? " beside " : "", given, sizeof(given));
	if (!r->nr_free)
		snprintf(r->conclusion, sizeof(r->conclusion), "%s %s%s%.160s.", given,
			 r->fits ? "fit" : "do not fit", r->fits ? "" : ": ", r->why);
	else if (r->nr_free == 1)
		conclude_one(r, r->none ? given + strlen(" beside ") : given);
	else if (!r->nr)
		snprintf(r->conclusion, sizeof(r->conclusion), "Nothing fits%s.", given);
	else
		snprintf(
			r->conclusion, sizeof(r->conclusion),
			"Between %zu of %s alone and %zu of %s beside %zu of the former, every mix "
			"on the frontier fits%s.",
			r->most[0], name_of(r, 0), r->nr - 1, name_of(r, 1), r->most[r->nr - 1],
			given);
}

int mix_print(const struct mix_result *r)
{
	char header[300];
	struct grid g;
	int ret = 0;

	if (r->nr_free == 2) {
		snprintf(header, sizeof(header), ">%s|>%s|>90 %%", name_of(r, 1), name_of(r, 0));
		grid_init(&g, header);
		for (size_t k = 0; k < r->nr; k++) {
			grid_cell(&g, "%zu", k);
			grid_cell(&g, "%zu", r->most[k]);
			if (k < r->nr_upper)
				grid_cell(&g, "%zu", r->most_upper[k]);
			else
				grid_cell(&g, "-");
		}
		ret = grid_print(&g, stdout);
		grid_release(&g);
		putchar('\n');
	}
	printf("%s\n", r->conclusion);
	return ret;
}

static json_t *counts_json(const size_t *counts, size_t nr)
{
	json_t *all = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(all, json_integer((json_int_t)counts[i]));
	return all;
}

int mix_json(const struct mix_result *r)
{
	json_t *loads = json_array(), *top;
	size_t nr = r->nr_free == 1 ? !r->none : r->nr;
	size_t upper = r->nr_free == 1 ? !r->none_upper : r->nr_upper;
	int ret = -ENOMEM;

	for (size_t i = 0; i < r->mix.nr; i++) {
		const struct mix_load *l = &r->mix.loads[i];

		json_array_append_new(loads,
				      json_pack("{s:s, s:o}", "load", l->name, "count",
						l->free ? json_null()
							: json_integer((json_int_t)l->count)));
	}
	top = json_pack("{s:s, s:o, s:b, s:o, s:o, s:s, s:s}", "schema", "blkcast.mix/1", "loads",
			loads, "fits", mix_is_fit(r), "most", counts_json(r->most, nr), "most_90",
			counts_json(r->most_upper, upper), "why", r->why, "conclusion",
			r->conclusion);
	if (top)
		ret = json_dumpf(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

static void mix_text_stairs(struct buf *out, const char *class, const size_t *most, size_t nr,
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

static void mix_text_draw(const struct mix_result *r, struct buf *out)
{
	static const struct legend_entry entries[] = {
		{ LEGEND_LINE, "line curve", "fits below" },
		{ LEGEND_LINE, "line thin", "by the upper end of the 90 % interval" },
	};
	const struct frame *f = &frame_wide;
	struct svg_head head = { .id = "mix-frontier",
				 .class = "figure",
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
	frame_axes(out, f, &x, &y, name_of(r, 1), name_of(r, 0));
	frame_legend(out, f, entries, sizeof(entries) / sizeof(*entries));
	mix_text_stairs(out, "line curve", r->most, r->nr, &x, &y);
	mix_text_stairs(out, "line thin", r->most_upper, r->nr_upper, &x, &y);
	svg_end(out);
}

int mix_page(const struct mix_result *r, struct buf *out)
{
	study_page_begin(out, "What fits together", r->conclusion);
	if (r->nr_free == 2 && r->nr) {
		study_page_section(out, "The frontier",
				   "Every pair of counts on or below the line keeps all objectives "
				   "and the capacity.");
		mix_text_draw(r, out);
		study_page_section_end(out);
	}
	study_page_end(out);
	return out->error;
}
