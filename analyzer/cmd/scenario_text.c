// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/scenario_text.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "analyzer/report/study_page.h"
#include "analyzer/report/svg.h"
#include "base/units.h"

#define BAR_LEFT   210.0
#define BAR_WIDTH  360.0
#define BAR_HEIGHT 12.0
#define BAR_STEP   16.0

static const char *const sides[2] = { "read", "write" };

/* A VM and a direction that some scenario has. */
struct row {
	const char *vm;
	int side;
	double base_s; /* where it was characterized; NaN unknown */
};

static double base_of(const struct scenario_vm *vm, int side)
{
	const struct profile *p = &vm->group->whole;

	if (!p->requests[side ? OPERATION_WRITE : OPERATION_READ])
		return NAN;
	return profile_mean_s(side ? &p->write.response : &p->read.response, STAGE_TOTAL);
}

static bool seen_before(const struct scenario_result *r, size_t scenario, const char *name)
{
	for (size_t i = 0; i < scenario; i++)
		if (scenario_vm_of(&r->scenarios[i], name))
			return true;
	return false;
}

/* Row k of all, in order of first appearance; false behind the last. */
static bool row_of(const struct scenario_result *r, size_t k, struct row *out)
{
	for (size_t at = 0; at < r->nr; at++)
		for (size_t i = 0; i < r->scenarios[at].nr_vms; i++) {
			const struct scenario_vm *vm = &r->scenarios[at].vms[i];

			if (!vm->count || seen_before(r, at, vm->name))
				continue;
			for (int side = 0; side < 2; side++) {
				const uint64_t *nr = vm->group->whole.requests;

				if (!nr[side ? OPERATION_WRITE : OPERATION_READ] || k-- > 0)
					continue;
				*out = (struct row){ vm->name, side, base_of(vm, side) };
				return true;
			}
		}
	return false;
}

static double time_of(const struct scenario *s, const struct row *row)
{
	const struct scenario_vm *vm = scenario_vm_of(s, row->vm);

	return vm ? vm->answer.s[row->side] : NAN;
}

/* The row that changes most, beside the first scenario or, of one alone, today. */
static bool worst_row(const struct scenario_result *r, const struct scenario *s, struct row *out,
		      double *before, double *now)
{
	double worst = 0;
	struct row row;

	for (size_t k = 0; row_of(r, k, &row); k++) {
		double a = r->nr > 1 ? time_of(&r->scenarios[0], &row) : row.base_s;
		double b = time_of(s, &row), change = fabs(log(b / a));

		if (!(change > worst) || !isfinite(change))
			continue;
		worst = change;
		*out = row;
		*before = a;
		*now = b;
	}
	return worst > 0;
}

static void change_words(char *out, size_t size, const struct row *row, double before, double now)
{
	char a[UNITS_BYTES], b[UNITS_BYTES];

	snprintf(out, size, "the %ss of %s change most, from %s to %s (%+.1f %%)", sides[row->side],
		 row->vm, units_time(before, a), units_time(now, b), 100 * (now / before - 1));
}

void scenario_conclude(struct scenario_result *r)
{
	const struct scenario *first = &r->scenarios[0], *best = first, *told;
	char words[256] = "response times are unknown to compare with", mean[UNITS_BYTES];
	double before = NAN, now = NAN;
	struct row row = { 0 };

	for (size_t i = 1; i < r->nr; i++)
		if (r->scenarios[i].mean_s < best->mean_s)
			best = &r->scenarios[i];
	told = best == first && r->nr > 1 ? &r->scenarios[1] : best;
	if (worst_row(r, told, &row, &before, &now))
		change_words(words, sizeof(words), &row, before, now);
	units_time(best->mean_s, mean);
	if (r->nr == 1)
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "%s: %s per request on average; beside today %s.", best->name, mean,
			 words);
	else if (best == first)
		snprintf(
			r->conclusion, sizeof(r->conclusion),
			"Of %zu scenarios none is faster than %s with %s per request on average; in "
			"%s %s.",
			r->nr, first->name, mean, told->name, words);
	else
		snprintf(r->conclusion, sizeof(r->conclusion),
			 "Of %zu scenarios %s is the fastest: %s per request on average, %.1f %% "
			 "less than in %s; %s.",
			 r->nr, best->name, mean, 100 * (1 - best->mean_s / first->mean_s),
			 first->name, words);
}

static void cell_time(struct grid *g, double s)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", isnan(s) ? "-" : units_time(s, text));
}

static void storage_cells(struct grid *g, const struct scenario *s,
			  const struct scenario_storage *to, bool utc)
{
	char text[UNITS_BYTES], at[UNITS_BYTES];

	grid_cell(g, "%s", s->name);
	grid_cell(g, "%s", to->name);
	grid_cell(g, "%zu", to->nr_vms);
	grid_cell(g, "%s", units_count(to->rate_per_s, text));
	if (to->cache_bytes > 0)
		grid_cell(g, "%s", units_bytes(to->cache_bytes, text));
	else
		grid_cell(g, "-");
	if (isfinite(to->hit_ratio))
		grid_cell(g, "%.1f %%", 100 * to->hit_ratio);
	else
		grid_cell(g, "-");
	if (!to->has_peak) {
		grid_cell(g, "-");
		grid_cell(g, "-");
		grid_cell(g, "-");
	} else {
		grid_cell(g, "%s", units_count(to->peak.max_per_s, text));
		grid_cell(g, "%s",
			  units_instant((uint64_t)(to->peak.max_begin_s * 1e9), utc, 0, at));
		grid_cell(g, "%s",
			  to->peak.nr_makers ? s->vms[to->peak.makers[0].stream].name : "-");
	}
	grid_cell(g, "%s", to->outside ? to->outside : "-");
}

static int print_storages(const struct scenario_result *r, bool utc)
{
	struct grid g;
	int ret;

	grid_init(&g, "scenario|storage|>VMs|>requests/s|>cache|>read hits|>peak/s|at|mostly by|"
		      "extrapolated");
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < r->scenarios[i].nr_storages; k++)
			if (r->scenarios[i].storages[k].nr_vms)
				storage_cells(&g, &r->scenarios[i], &r->scenarios[i].storages[k],
					      utc);
	ret = grid_print(&g, stdout);
	grid_release(&g);
	return ret;
}

/* One row for a VM, a direction and a scenario: any number of scenarios fits a page. */
static void time_cells(struct grid *g, const struct scenario_result *r, const struct row *row,
		       size_t at)
{
	const struct scenario *s = &r->scenarios[at];
	const struct scenario_vm *vm = scenario_vm_of(s, row->vm);
	double before = at ? time_of(&r->scenarios[0], row) : r->nr == 1 ? row->base_s : NAN;
	double now = time_of(s, row);

	grid_cell(g, "%s", at ? "" : row->vm);
	grid_cell(g, "%s", at ? "" : sides[row->side]);
	grid_cell(g, "%s", s->name);
	grid_cell(g, "%s", vm ? s->storages[vm->storage].name : "-");
	grid_cell(g, "%zu", vm ? vm->count : 0);
	grid_cell(g, "%.4g", vm ? vm->load : 0);
	cell_time(g, now);
	cell_time(g, vm ? vm->answer.low[row->side] : NAN);
	cell_time(g, vm ? vm->answer.high[row->side] : NAN);
	if (isfinite(now / before))
		grid_cell(g, "%+.1f %%", 100 * (now / before - 1));
	else
		grid_cell(g, "-");
}

int scenario_print(const struct scenario_result *r, bool utc)
{
	char header[160];
	struct grid g;
	struct row row;
	int ret = print_storages(r, utc);

	if (ret)
		return ret;
	putchar('\n');
	snprintf(header, sizeof(header),
		 "vm|type|scenario|storage|>count|>load|>response|>from|>to|>%s",
		 r->nr > 1 ? "change" : "beside today");
	grid_init(&g, header);
	for (size_t k = 0; row_of(r, k, &row); k++)
		for (size_t at = 0; at < r->nr; at++)
			time_cells(&g, r, &row, at);
	ret = grid_print(&g, stdout);
	grid_release(&g);
	printf("\n%s\n", r->conclusion);
	return ret;
}

static json_t *scenario_text_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *side_json(const struct scenario_vm *vm, int side)
{
	const struct predicted *a = &vm->answer;

	if (isnan(a->s[side]))
		return json_null();
	return json_pack("{s:f, s:o, s:o}", "mean_s", a->s[side], "ci",
			 isnan(a->low[side]) ? json_null()
					     : json_pack("[f,f]", a->low[side], a->high[side]),
			 "today_s", scenario_text_number(base_of(vm, side)));
}

static json_t *peak_json(const struct scenario *s, const struct scenario_storage *to)
{
	json_t *makers = json_array();

	if (!to->has_peak) {
		json_decref(makers);
		return json_null();
	}
	for (size_t i = 0; i < to->peak.nr_makers; i++)
		json_array_append_new(makers, json_pack("{s:s, s:f}", "vm",
							s->vms[to->peak.makers[i].stream].name,
							"per_s", to->peak.makers[i].per_s));
	return json_pack("{s:f, s:f, s:f, s:o}", "max_per_s", to->peak.max_per_s, "max_begin_s",
			 to->peak.max_begin_s, "own_peaks_sum_per_s", to->peak.own_peaks_per_s,
			 "makers", makers);
}

static json_t *one_json(const struct scenario *s)
{
	json_t *vms = json_array(), *storages = json_array();

	for (size_t i = 0; i < s->nr_vms; i++)
		if (s->vms[i].count)
			json_array_append_new(vms,
					      json_pack("{s:s, s:s, s:I, s:f, s:o, s:o, s:o}", "vm",
							s->vms[i].name, "storage",
							s->storages[s->vms[i].storage].name,
							"count", (json_int_t)s->vms[i].count,
							"load", s->vms[i].load, "hit_ratio",
							scenario_text_number(s->vms[i].hit_ratio),
							"read", side_json(&s->vms[i], 0), "write",
							side_json(&s->vms[i], 1)));
	for (size_t i = 0; i < s->nr_storages; i++)
		json_array_append_new(storages,
				      json_pack("{s:s, s:I, s:f, s:f, s:o, s:b, s:o}", "storage",
						s->storages[i].name, "vms",
						(json_int_t)s->storages[i].nr_vms, "rate_per_s",
						s->storages[i].rate_per_s, "cache_bytes",
						s->storages[i].cache_bytes, "hit_ratio",
						scenario_text_number(s->storages[i].hit_ratio),
						"extrapolated", s->storages[i].outside != NULL,
						"peak", peak_json(s, &s->storages[i])));
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "scenario", s->name, "file", s->path,
			 "about", s->about, "mean_s", scenario_text_number(s->mean_s), "vms", vms,
			 "storages", storages);
}

int scenario_json(const struct scenario_result *r)
{
	json_t *all = json_array(), *top;
	int ret = -ENOMEM;

	for (size_t i = 0; i < r->nr; i++)
		json_array_append_new(all, one_json(&r->scenarios[i]));
	top = json_pack("{s:s, s:o, s:s}", "schema", "blkcast.scenario/1", "scenarios", all,
			"conclusion", r->conclusion);
	if (top)
		ret = json_dumpf(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

static void draw_row(struct buf *out, const struct scenario_result *r, const struct row *row,
		     double y, double top)
{
	char label[160], text[UNITS_BYTES];

	snprintf(label, sizeof(label), "%s, %ss", row->vm, sides[row->side]);
	svg_text(out, "note end", BAR_LEFT - 8, y + BAR_HEIGHT - 2, label);
	for (size_t i = 0; i < r->nr; i++, y += BAR_STEP) {
		const struct scenario_vm *vm = scenario_vm_of(&r->scenarios[i], row->vm);
		double s = vm ? vm->answer.s[row->side] : NAN, width = BAR_WIDTH * s / top;

		if (isfinite(s)) {
			svg_rect(out, row->side ? "bar write" : "bar read", BAR_LEFT, y, width,
				 BAR_HEIGHT, r->scenarios[i].name);
			if (isfinite(vm->answer.high[row->side]))
				svg_line(out, "rule",
					 BAR_LEFT + BAR_WIDTH * vm->answer.low[row->side] / top,
					 y + BAR_HEIGHT / 2,
					 BAR_LEFT + BAR_WIDTH *
							    fmin(top, vm->answer.high[row->side]) /
							    top,
					 y + BAR_HEIGHT / 2);
		}
		snprintf(label, sizeof(label), "%s: %s", r->scenarios[i].name,
			 isfinite(s) ? units_time(s, text) : "not there");
		svg_text(out, "note start", BAR_LEFT + (isfinite(s) ? width : 0) + 6,
			 y + BAR_HEIGHT - 2, label);
	}
}

static void scenario_text_draw(const struct scenario_result *r, struct buf *out)
{
	struct svg_head head = { .id = "scenario-times",
				 .class = "figure",
				 .title = "Response times by scenario",
				 .description = "A bar for each scenario, by VM and type.",
				 .width = SVG_WIDTH };
	double step = BAR_STEP * (double)r->nr + 8, top = 0;
	struct row row;
	size_t nr = 0;

	for (; row_of(r, nr, &row); nr++)
		for (size_t i = 0; i < r->nr; i++)
			top = fmax(top, time_of(&r->scenarios[i], &row));
	head.height = 12 + step * (double)nr;
	svg_begin(out, &head);
	for (size_t k = 0; row_of(r, k, &row); k++)
		draw_row(out, r, &row, 8 + step * (double)k, top > 0 ? top : 1);
	svg_end(out);
}

static void page_storage(const struct scenario *s, const struct scenario_storage *to, bool utc,
			 struct buf *out)
{
	char rate[UNITS_BYTES], text[512], peak[UNITS_BYTES], at[UNITS_BYTES];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s, %s: %zu VM%s, %s requests/s",
				       s->name, to->name, to->nr_vms, to->nr_vms == 1 ? "" : "s",
				       units_count(to->rate_per_s, rate));

	if (isfinite(to->hit_ratio) && used < sizeof(text))
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ", %.1f %% of the reads hit the cache",
					 100 * to->hit_ratio);
	if (to->has_peak && used < sizeof(text))
		snprintf(text + used, sizeof(text) - used,
			 "; their coincident peak was %s/s at %s, mostly by %s",
			 units_count(to->peak.max_per_s, peak),
			 units_instant((uint64_t)(to->peak.max_begin_s * 1e9), utc, 0, at),
			 to->peak.nr_makers ? s->vms[to->peak.makers[0].stream].name : "nobody");
	buf_printf(out, "<p>");
	page_escape(out, text);
	buf_printf(out, ".</p>\n");
}

int scenario_page(const struct scenario_result *r, bool utc, struct buf *out)
{
	study_page_begin(out, "Scenarios side by side", r->conclusion);
	study_page_section(out, "Mean response times",
			   "A bar for each scenario; the thin line is a 90 % interval.");
	scenario_text_draw(r, out);
	study_page_section_end(out);
	study_page_section(out, "Storages", "What each is asked for, and when most of it.");
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < r->scenarios[i].nr_storages; k++)
			if (r->scenarios[i].storages[k].nr_vms)
				page_storage(&r->scenarios[i], &r->scenarios[i].storages[k], utc,
					     out);
	study_page_section_end(out);
	study_page_end(out);
	return out->error;
}
