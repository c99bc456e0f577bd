// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/study_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/grid.h"
#include "analyzer/report/study_page.h"
#include "analyzer/report/svg.h"
#include "base/units.h"

#define BAR_LEFT   300.0
#define BAR_WIDTH  380.0
#define BAR_HEIGHT 14.0

static const char *const sides[2] = { "read", "write" };

/* One answer beside what it is compared with. */
struct row {
	size_t at, load;
	int side;
	double before_s, s, low, high, change_ratio, measured_s, delta_rt;
};

void study_name(const struct study *s, size_t load, char out[128])
{
	const struct profile *p = &s->loads[load].group->whole;

	snprintf(out, 128, "%.60s %.60s", p->host, p->device_name);
}

static const struct study_answer *answer_of(const struct study_case *c, size_t load)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->loads[i] == load)
			return &c->answers[i];
	return NULL;
}

/* Whether a case is what was asked for; the others are what it is compared with. */
static bool is_asked(const struct study_result *r, size_t at)
{
	return !strcmp(r->verb, "migrate") || r->cases[at].nr > 1;
}

/* Row k of all; false behind the last. */
static bool row_of(const struct study_result *r, size_t k, struct row *out)
{
	for (size_t at = 0; at < r->nr_cases; at++)
		for (size_t i = 0; i < r->cases[at].nr; i++)
			for (int side = 0; side < 2; side++) {
				const struct study_case *c = &r->cases[at];
				size_t load = c->loads[i], base = r->baseline[at];
				const struct study_answer *before;
				bool asked = is_asked(r, at);

				if (isnan(c->answers[i].s[side]) || k-- > 0)
					continue;
				before =
					base == at ? NULL : answer_of(&r->cases[base + load], load);
				*out = (struct row){ .at = at, .load = load, .side = side };
				out->before_s = before ? before->s[side]
						       : r->study->loads[load].base_s[side];
				out->s = c->answers[i].s[side];
				out->low = c->answers[i].low[side];
				out->high = c->answers[i].high[side];
				out->change_ratio = out->s / out->before_s - 1;
				out->measured_s = asked ? r->measured[load][side] : NAN;
				out->delta_rt = fabs(out->measured_s - out->s) / out->s;
				return true;
			}
	return false;
}

static void case_name(const struct study_result *r, size_t at, char out[64])
{
	const struct study_case *c = &r->cases[at];

	if (c->nr == 1)
		snprintf(out, 64, "alone");
	else if (!strcmp(r->verb, "interference"))
		snprintf(out, 64, "with load %zu", c->loads[1] + 1);
	else
		snprintf(out, 64, "all together");
}

/* Changes of less than this share are none that anybody notices. */
#define SAME_RATIO 0.05
/* A target that gives less than this share of the offered requests cannot carry the load. */
#define CARRIES_RATIO 0.95

enum verdict {
	VERDICT_SAME,
	VERDICT_FASTER,
	VERDICT_CANNOT_TELL,
	VERDICT_SLOWER,
};

/* What the interval allows to say: where it includes no change, only that a change is small. */
static enum verdict verdict_of(const struct row *row)
{
	double low = isnan(row->low) ? row->change_ratio : row->low / row->before_s - 1;
	double high = isnan(row->high) ? row->change_ratio : row->high / row->before_s - 1;

	if (low >= -SAME_RATIO && high <= SAME_RATIO)
		return VERDICT_SAME;
	if (low > 0 || high < 0)
		return fabs(row->change_ratio) <= SAME_RATIO ? VERDICT_SAME
		       : low > 0			     ? VERDICT_SLOWER
							     : VERDICT_FASTER;
	return isnan(row->low) ? VERDICT_SAME : VERDICT_CANNOT_TELL;
}

static const char *why_of(const struct study_result *r, const struct row *row,
			  char out[STUDY_WORDS_BYTES])
{
	const char *outside = r->cases[row->at].outside;

	if (outside)
		snprintf(out, STUDY_WORDS_BYTES,
			 "'%.60s' lies outside what the target's model knows", outside);
	else if (isfinite(row->change_ratio) && verdict_of(row) == VERDICT_CANNOT_TELL)
		snprintf(out, STUDY_WORDS_BYTES, "the interval includes no change");
	else
		return NULL;
	return out;
}

/* The row that matters most: what surely becomes slower, then what nobody can tell, then the rest. */
static bool find_worst(const struct study_result *r, struct row *worst)
{
	enum verdict of = VERDICT_SAME;
	bool found = false;
	struct row row;

	for (size_t k = 0; row_of(r, k, &row); k++) {
		enum verdict v;

		if (!is_asked(r, row.at) || !isfinite(row.change_ratio))
			continue;
		v = verdict_of(&row) < VERDICT_CANNOT_TELL ? VERDICT_SAME : verdict_of(&row);
		if (found && (v < of || (v == of && row.change_ratio <= worst->change_ratio)))
			continue;
		found = true;
		of = v;
		*worst = row;
	}
	return found;
}

static void say_worst(const struct study_result *r, const struct row *worst, char *out, size_t size)
{
	static const char *const words[] = { "stay as they are", "become faster", "",
					     "become slower" };
	char name[128], now[UNITS_BYTES], before[UNITS_BYTES], low[UNITS_BYTES], high[UNITS_BYTES];
	enum verdict v = verdict_of(worst);
	const char *what = !strcmp(r->verb, "migrate")	     ? "After the migration"
			   : !strcmp(r->verb, "consolidate") ? "Consolidated on one target"
							     : "Beside a neighbour";

	study_name(r->study, worst->load, name);
	units_time(worst->before_s, before);
	units_time(worst->s, now);
	if (v == VERDICT_CANNOT_TELL) {
		snprintf(
			out, size,
			"%s: cannot tell whether the %ss of %s become slower or faster: from %s to "
			"%s (%+.1f %%), but the 90 %% interval, %s to %s, includes no change; measure "
			"with --run.",
			what, sides[worst->side], name, before, now, 100 * worst->change_ratio,
			units_time(worst->low, low), units_time(worst->high, high));
		return;
	}
	snprintf(out, size, "%s: the %ss of %s %s, from %s to %s (%+.1f %%)%s, %s.", what,
		 sides[worst->side], name, words[v], before, now, 100 * worst->change_ratio,
		 worst->change_ratio > 0 ? ", the most of all that is certain"
					 : ", the least gain of all",
		 !strcmp(r->how, "run")	       ? "as measured by running the mimics there"
		 : !strcmp(r->how, "replay")   ? "as measured by replaying what was stored there"
		 : !strcmp(r->how, "net")      ? "as the calibrated net predicts"
		 : !strcmp(r->how, "relative") ? "as measured before, times the ratio of the models"
					       : "as the models predict");
}

/* The load that the target gives the least share of what it offers; false where none lacks any. */
static bool find_overload(const struct study_result *r, size_t *load,
			  const struct study_answer **of)
{
	double least = CARRIES_RATIO;

	for (size_t at = 0; at < r->nr_cases; at++)
		for (size_t i = 0; i < r->cases[at].nr && is_asked(r, at); i++) {
			const struct study_answer *a = &r->cases[at].answers[i];
			size_t l = r->cases[at].loads[i];
			double ratio = a->rate_per_s / r->study->loads[l].facts.rate_per_s;

			if (!(ratio < least))
				continue;
			least = ratio;
			*load = l;
			*of = a;
		}
	return least < CARRIES_RATIO;
}

static void say_overload(const struct study_result *r, char *out, size_t size)
{
	const struct study_answer *a = NULL;
	char name[128], offered[UNITS_BYTES], gives[UNITS_BYTES];
	double rate;
	size_t load = 0;
	bool certain;

	/* A run of a few seconds need not offer what the whole load does on average. */
	if (!r->study->predictor || !find_overload(r, &load, &a))
		return;
	rate = r->study->loads[load].facts.rate_per_s;
	certain = !(a->rate_high_per_s >= CARRIES_RATIO * rate);
	study_name(r->study, load, name);
	snprintf(out, size,
		 " The target %s carry this load: %s offered %s requests/s, it gives %s/s.",
		 certain ? "cannot" : "may not", name, units_count(rate, offered),
		 units_count(a->rate_per_s, gives));
}

/* Whether a client of the load waits longer for the storage than it thinks between its requests. */
static const char *limit_of(const struct study_result *r, const struct row *row)
{
	const struct load_facts *f = &r->study->loads[row->load].facts;
	const struct study_answer *a = answer_of(&r->cases[row->at], row->load);

	if (!a || !isfinite(a->rate_per_s) || !isfinite(f->in_flight))
		return NULL;
	return f->concurrency / a->rate_per_s > 2 * load_think_s(f) ? "storage" : "clients";
}

static const char *outside_of(const struct study_result *r)
{
	for (size_t at = 0; at < r->nr_cases; at++)
		if (r->cases[at].outside)
			return r->cases[at].outside;
	return NULL;
}

void study_conclude(struct study_result *r)
{
	const char *outside = outside_of(r);
	size_t used = 0;
	struct row worst;

	r->conclusion[0] = 0;
	r->cannot_tell = outside != NULL;
	if (outside)
		used = (size_t)snprintf(r->conclusion, STUDY_WORDS_BYTES,
					"Cannot tell: '%.60s' lies outside what the target's model "
					"knows; measure with --run. Extrapolated: ",
					outside);
	if (find_worst(r, &worst)) {
		say_worst(r, &worst, r->conclusion + used, STUDY_WORDS_BYTES - used);
		r->cannot_tell |= verdict_of(&worst) == VERDICT_CANNOT_TELL;
		r->limited_by = limit_of(r, &worst);
	} else {
		snprintf(r->conclusion + used, STUDY_WORDS_BYTES - used,
			 "Response times on the target were estimated; there is nothing to compare "
			 "them with.");
	}
	used = strlen(r->conclusion);
	say_overload(r, r->conclusion + used, STUDY_WORDS_BYTES - used);
}

static void peak_text(const struct study_result *r, bool utc, char out[STUDY_WORDS_BYTES])
{
	char at[UNITS_BYTES], sum[UNITS_BYTES], own[UNITS_BYTES], name[128] = "";
	const struct align_sum *p = &r->peak;

	if (p->nr_makers)
		study_name(r->study, p->makers[0].stream, name);
	snprintf(
		out, STUDY_WORDS_BYTES,
		"Their coincident peak was %s requests/s at %s, %.0f %% of it by %s; added up, the "
		"loads' own peaks are %s/s.",
		units_count(p->max_per_s, sum),
		units_instant((uint64_t)(p->max_begin_s * 1e9), utc, 0, at),
		p->nr_makers ? 100 * p->makers[0].share : 0, name,
		units_count(p->own_peaks_per_s, own));
}

static void cell_time(struct grid *g, double s)
{
	char text[UNITS_BYTES];

	grid_cell(g, "%s", isnan(s) ? "-" : units_time(s, text));
}

static void cell_ratio(struct grid *g, double ratio, const char *sign)
{
	if (isfinite(ratio))
		grid_cell(g, "%s%.1f %%", ratio < 0 ? "" : sign, 100 * ratio);
	else
		grid_cell(g, "-");
}

static bool has_measured(const struct study_result *r)
{
	struct row row;

	for (size_t k = 0; row_of(r, k, &row); k++)
		if (isfinite(row.measured_s))
			return true;
	return false;
}

int study_print(const struct study_result *r, bool utc)
{
	char name[128], at[64], words[STUDY_WORDS_BYTES];
	struct grid g;
	struct row row;
	int ret;

	grid_init(&g,
		  "case|load|type|>before|>on the target|>from|>to|>change|>measured|>delta RT");
	for (size_t k = 0; row_of(r, k, &row); k++) {
		case_name(r, row.at, at);
		study_name(r->study, row.load, name);
		grid_cell(&g, "%s", at);
		grid_cell(&g, "%zu %s", row.load + 1, name);
		grid_cell(&g, "%s", sides[row.side]);
		cell_time(&g, row.before_s);
		cell_time(&g, row.s);
		cell_time(&g, row.low);
		cell_time(&g, row.high);
		cell_ratio(&g, row.change_ratio, "+");
		cell_time(&g, row.measured_s);
		cell_ratio(&g, row.delta_rt, "");
	}
	ret = grid_print(&g, stdout);
	grid_release(&g);
	if (has_measured(r))
		puts("delta RT = |measured - on the target| / on the target");
	printf("\n%s\n", r->conclusion);
	if (r->has_peak) {
		peak_text(r, utc, words);
		puts(words);
	}
	return ret;
}

static json_t *study_text_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *peak_json(const struct study_result *r)
{
	json_t *makers = json_array();

	if (!r->has_peak) {
		json_decref(makers);
		return json_null();
	}
	for (size_t i = 0; i < r->peak.nr_makers; i++)
		json_array_append_new(makers, json_pack("{s:i, s:f, s:f}", "load",
							(int)r->peak.makers[i].stream + 1, "per_s",
							r->peak.makers[i].per_s, "share",
							r->peak.makers[i].share));
	return json_pack("{s:f, s:f, s:f, s:o}", "max_per_s", r->peak.max_per_s, "max_begin_s",
			 r->peak.max_begin_s, "own_peaks_sum_per_s", r->peak.own_peaks_per_s,
			 "makers", makers);
}

/* Requests per second that each load offered, and that it gets on the target. */
static json_t *throughput_json(const struct study_result *r)
{
	json_t *all = json_array();
	char name[128], at_name[64];

	for (size_t at = 0; at < r->nr_cases; at++)
		for (size_t i = 0; i < r->cases[at].nr; i++) {
			const struct study_answer *a = &r->cases[at].answers[i];
			size_t load = r->cases[at].loads[i];

			case_name(r, at, at_name);
			study_name(r->study, load, name);
			json_array_append_new(
				all,
				json_pack("{s:s, s:i, s:s, s:o, s:o, s:o}", "case", at_name, "load",
					  (int)load + 1, "name", name, "offered_per_s",
					  study_text_number(r->study->loads[load].facts.rate_per_s),
					  "target_per_s", study_text_number(a->rate_per_s), "ci",
					  isnan(a->rate_low_per_s)
						  ? json_null()
						  : json_pack("[f,f]", a->rate_low_per_s,
							      a->rate_high_per_s)));
		}
	return all;
}

int study_json(const struct study_result *r)
{
	json_t *rows = json_array(), *top;
	char name[128], at[64], why[STUDY_WORDS_BYTES];
	struct row row;
	int ret = -ENOMEM;

	for (size_t k = 0; row_of(r, k, &row); k++) {
		case_name(r, row.at, at);
		study_name(r->study, row.load, name);
		json_array_append_new(
			rows,
			json_pack("{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s?}",
				  "case", at, "load", (int)row.load + 1, "name", name, "type",
				  sides[row.side], "point", "mean", "before_s",
				  study_text_number(row.before_s), "target_s",
				  study_text_number(row.s), "ci",
				  isnan(row.low) ? json_null()
						 : json_pack("[f,f]", row.low, row.high),
				  "change_ratio", study_text_number(row.change_ratio), "measured_s",
				  study_text_number(row.measured_s), "delta_rt",
				  study_text_number(row.delta_rt), "why", why_of(r, &row, why)));
	}
	top = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:f, s:s?}", "schema",
			"blkcast.study/1", "study", r->verb, "by", r->how, "results", rows,
			"throughput", throughput_json(r), "peak", peak_json(r), "conclusion",
			r->conclusion, "level", PREDICTOR_LEVEL, "limited_by", r->limited_by);
	if (top)
		ret = json_dumpf(top, stdout, JSON_INDENT(2)) || putchar('\n') == EOF ? -EIO : 0;
	json_decref(top);
	return ret;
}

static void draw_bar(struct buf *out, const struct row *row, double y, double top)
{
	char text[UNITS_BYTES];
	const char *class = row->side ? "bar write" : "bar read";

	if (isfinite(row->before_s))
		svg_rect(out, class, BAR_LEFT, y, BAR_WIDTH * row->before_s / top,
			 BAR_HEIGHT / 2 - 1, units_time(row->before_s, text));
	svg_rect(out, class, BAR_LEFT, y + BAR_HEIGHT / 2, BAR_WIDTH * row->s / top, BAR_HEIGHT / 2,
		 units_time(row->s, text));
	if (isfinite(row->low))
		svg_line(out, "rule", BAR_LEFT + BAR_WIDTH * fmax(0, row->low) / top,
			 y + BAR_HEIGHT * 0.75, BAR_LEFT + BAR_WIDTH * fmin(top, row->high) / top,
			 y + BAR_HEIGHT * 0.75);
	svg_text(out, "note start", BAR_LEFT + BAR_WIDTH * row->s / top + 6, y + BAR_HEIGHT,
		 units_time(row->s, text));
}

static void study_text_draw(const struct study_result *r, struct buf *out)
{
	char name[128], at[64], label[256];
	struct svg_head head = { .id = "study-times",
				 .class = "figure",
				 .title = "Response times before and on the target",
				 .description =
					 "Two bars per load and type: above before, below on "
					 "the target.",
				 .width = SVG_WIDTH };
	struct row row;
	double top = 0;
	size_t nr = 0;

	for (; row_of(r, nr, &row); nr++)
		top = fmax(top, fmax(row.s, isfinite(row.before_s) ? row.before_s : 0));
	head.height = 20 + 26 * (double)nr;
	svg_begin(out, &head);
	for (size_t k = 0; row_of(r, k, &row); k++) {
		double y = 10 + 26 * (double)k;

		case_name(r, row.at, at);
		study_name(r->study, row.load, name);
		snprintf(label, sizeof(label), "%s, %s, %s", name, at, sides[row.side]);
		svg_text(out, "note end", BAR_LEFT - 8, y + BAR_HEIGHT - 3, label);
		draw_bar(out, &row, y, top > 0 ? top : 1);
	}
	svg_end(out);
}

int study_page(const struct study_result *r, bool utc, struct buf *out)
{
	char words[STUDY_WORDS_BYTES];

	snprintf(words, sizeof(words), "Study: %s", r->verb);
	study_page_begin(out, words, r->conclusion);
	study_page_section(
		out, "Mean response times",
		"Per load and type the upper bar is before (where the load was "
		"characterized, or alone on the target), the lower one on the target; the "
		"thin line is a 90 % interval.");
	study_text_draw(r, out);
	study_page_section_end(out);
	if (r->has_peak) {
		peak_text(r, utc, words);
		study_page_section(out, "Peaks that coincide", words);
		study_page_section_end(out);
	}
	study_page_end(out);
	return out->error;
}
