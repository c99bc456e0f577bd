// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/study_answer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/predict/verdict.h"
#include "base/data/json.h"
#include "base/memory/array.h"
#include "base/text/units.h"

void study_name(const struct study *s, size_t load, char out[128])
{
	const struct profile *p = &s->loads[load].group->whole;

	snprintf(out, 128, "%.60s %.60s", p->host, p->device_name);
}

void study_case_name(const struct study_result *r, size_t case_index, char out[64])
{
	const struct study_case *c = &r->cases[case_index];

	if (c->nr == 1)
		snprintf(out, 64, "alone");
	else if (!strcmp(r->verb, "interference"))
		snprintf(out, 64, "with load %zu", c->loads[1] + 1);
	else
		snprintf(out, 64, "all together");
}

static const struct study_answer *study_case_answer(const struct study_case *c, size_t load)
{
	for (size_t i = 0; i < c->nr; i++) {
		if (c->loads[i] == load)
			return &c->answers[i];
	}
	return NULL;
}

bool study_is_asked(const struct study_result *r, size_t case_index)
{
	return !strcmp(r->verb, "migrate") || r->cases[case_index].nr > 1;
}

static double study_before(const struct study_result *r, size_t case_index, size_t load, int type,
			   int point)
{
	size_t base = r->baseline[case_index];
	const struct study_answer *before;
	struct study_time t;

	if (base == case_index && type < STUDY_FLUSH && point == STUDY_MEAN)
		return r->study->loads[load].base_s[type];
	if (base == case_index)
		return r->study->loads[load].measured_s[type][point];
	/* The cases of single loads come first, in the order of the loads. */
	before = study_case_answer(&r->cases[base + load], load);
	t = study_get_time(before, type, point);
	return t.way ? t.s : NAN;
}

static struct study_row study_row_of(const struct study_result *r, size_t case_index, size_t i,
				     int type, int point)
{
	const struct study_case *c = &r->cases[case_index];
	const struct study_time t = study_get_time(&c->answers[i], type, point);
	size_t load = c->loads[i];
	struct study_row row = { .case_index = case_index,
				 .load = load,
				 .side = type,
				 .point = (enum study_point)point,
				 .way = t.way,
				 .target_s = t.way ? t.s : NAN,
				 .low = t.way ? t.low : NAN,
				 .high = t.way ? t.high : NAN };

	/* A relative answer about the storage of the recording is the recorded time itself. */
	row.is_exact = strcmp(r->how, "relative") && isfinite(row.low) &&
		       !predicted_has_interval(row.target_s, row.low, row.high);
	if (row.is_exact)
		row.low = row.high = NAN;
	row.before_s = study_before(r, case_index, load, type, point);
	row.change_ratio = row.target_s / row.before_s - 1;
	row.measured_s = NAN;
	if (study_is_asked(r, case_index) && type < STUDY_FLUSH && point == STUDY_MEAN)
		row.measured_s = r->measured[load][type];
	row.delta_rt = fabs(row.measured_s - row.target_s) / row.target_s;
	return row;
}

/*
 * Returns whether the row exists: there is a time on the target, or there are flushes that must be
 * mentioned.
 */
static bool study_has_row(const struct study_result *r, const struct study_case *c, size_t i,
			  int type, int point)
{
	if (study_get_time(&c->answers[i], type, point).way)
		return true;
	return type == STUDY_FLUSH && point == STUDY_MEAN && r->study->predictor &&
	       r->study->loads[c->loads[i]].facts.flush_per_s > 0;
}

static int study_make_rows(struct study_result *r)
{
	size_t cap = 0;

	for (size_t at = 0; at < r->nr_cases; at++) {
		const struct study_case *c = &r->cases[at];
		size_t most = c->nr * STUDY_TYPES * STUDY_POINTS;

		if (array_grow(&r->rows, &cap, r->nr_rows + most, sizeof(*r->rows)))
			return -ENOMEM;
		for (size_t k = 0; k < most; k++) {
			size_t i = k / (STUDY_TYPES * STUDY_POINTS);
			int type = (int)(k / STUDY_POINTS % STUDY_TYPES);
			int point = (int)(k % STUDY_POINTS);

			if (study_has_row(r, c, i, type, point))
				r->rows[r->nr_rows++] = study_row_of(r, at, i, type, point);
		}
	}
	return 0;
}

void study_result_release(struct study_result *r)
{
	free(r->rows);
	r->rows = NULL;
	r->nr_rows = 0;
}

static enum verdict study_verdict(const struct study_row *row)
{
	return verdict_of(row->before_s, row->target_s, row->low, row->high);
}

static const struct study_row *study_find_worst(const struct study_result *r)
{
	const struct study_row *worst = NULL;
	enum verdict of = VERDICT_SAME;

	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct study_row *row = &r->rows[i];
		enum verdict v;

		if (!study_is_asked(r, row->case_index) || !isfinite(row->change_ratio) ||
		    row->point != STUDY_MEAN)
			continue;
		v = study_verdict(row);
		if (v < VERDICT_CANNOT_TELL)
			v = VERDICT_SAME;
		if (worst && (v < of || (v == of && row->change_ratio <= worst->change_ratio)))
			continue;
		of = v;
		worst = row;
	}
	return worst;
}

/* Returns whether the loads really ran on the target: no better answer can be advised. */
static bool study_is_run(const struct study_result *r)
{
	return !strcmp(r->how, "run") || !strcmp(r->how, "replay");
}

/*
 * Returns whether the recorded requests were sent as the storage let them: a slow storage slows the
 * loads down, and how much of their requests it gives them is an answer. A run of mimics of a few
 * seconds need not offer the same rate as the whole load on average.
 */
static bool study_is_recorded(const struct study_result *r)
{
	return r->study->simulated || !strcmp(r->how, "replay");
}

static void study_say_worst(const struct study_result *r, const struct study_row *worst, char *out,
			    size_t size)
{
	char name[128], now[UNITS_BYTES], before[UNITS_BYTES], low[UNITS_BYTES], high[UNITS_BYTES];
	enum verdict v = study_verdict(worst);
	const char *what = !strcmp(r->verb, "migrate")	     ? "After the migration"
			   : !strcmp(r->verb, "consolidate") ? "Consolidated on one target"
							     : "Beside a neighbour";

	study_name(r->study, worst->load, name);
	units_time(worst->before_s, before);
	units_time(worst->target_s, now);
	if (v == VERDICT_CANNOT_TELL) {
		snprintf(out, size,
			 "%s: %s whether the %s of %s become slower or faster: from %s to "
			 "%s (%+.1f %%), but the 90 %% interval, %s to %s, includes no change%s.",
			 what, study_is_run(r) ? "a replay does not show" : "cannot tell",
			 study_type_plural((unsigned int)worst->side), name, before, now,
			 100 * worst->change_ratio, units_time(worst->low, low),
			 units_time(worst->high, high),
			 study_is_run(r) ? "" : "; a run on the target would tell");
		return;
	}
	snprintf(out, size, "%s: the %s of %s %s, from %s to %s (%+.1f %%)%s, %s.", what,
		 study_type_plural((unsigned int)worst->side), name, verdict_words(v), before, now,
		 100 * worst->change_ratio,
		 worst->change_ratio > 0 ? ", the most of all that is certain"
					 : ", the least gain of all",
		 !strcmp(r->how, "run")	     ? "as measured by running the mimics there"
		 : !strcmp(r->how, "replay") ? "as measured by replaying what was stored there"
		 : !strcmp(r->how, "device") ? "as the simulated device answers the stored requests"
		 : !strcmp(r->how, "net")    ? "as the calibrated net predicts"
		 : !strcmp(r->how, "relative") ? "as measured before, times the ratio of the models"
					       : "as the models predict");
}

/* Finds the load that gets the smallest share of the requests that it offers. */
static enum load_carried study_find_overload(const struct study_result *r, size_t *load,
					     const struct study_answer **of)
{
	enum load_carried worst = LOAD_CARRIED;
	double least = INFINITY;

	for (size_t at = 0; at < r->nr_cases; at++)
		for (size_t i = 0; i < r->cases[at].nr && study_is_asked(r, at); i++) {
			const struct study_answer *a = &r->cases[at].answers[i];
			size_t l = r->cases[at].loads[i];
			const struct load_facts *f = &r->study->loads[l].facts;
			enum load_carried c =
				load_facts_carried(f, a->rate_per_s, a->rate_high_per_s);

			if (c == LOAD_CARRIED || !(a->rate_per_s / f->rate_per_s < least))
				continue;
			least = a->rate_per_s / f->rate_per_s;
			worst = c;
			*load = l;
			*of = a;
		}
	return worst;
}

/*
 * Writes to out what the target does not carry; "" if it carries all loads, or if that is unknown.
 */
static enum load_carried study_say_overload(const struct study_result *r, const char *target,
					    char *out, size_t size)
{
	const struct study_answer *a = NULL;
	enum load_carried c;
	char name[128];
	size_t load = 0;

	out[0] = 0;
	if (!r->study->predictor && !study_is_recorded(r))
		return LOAD_CARRIED;
	c = study_find_overload(r, &load, &a);
	if (c == LOAD_CARRIED)
		return c;
	study_name(r->study, load, name);
	load_facts_say_carried(c, target, name, r->study->loads[load].facts.rate_per_s,
			       a->rate_per_s, out, size);
	return c;
}

/*
 * Says whether a client of the load waits longer for the storage than it thinks between its
 * requests.
 */
static const char *study_limit(const struct study_result *r, const struct study_row *row)
{
	const struct load_facts *f = &r->study->loads[row->load].facts;
	const struct study_answer *a = study_case_answer(&r->cases[row->case_index], row->load);

	if (a && a->limited_by)
		return "storage";
	if (!a || !isfinite(a->rate_per_s) || !isfinite(f->in_flight))
		return NULL;
	return f->concurrency / a->rate_per_s > 2 * load_think_s(f) ? "storage" : "clients";
}

/* Returns why one of the cases has no sure answer, or NULL. */
static const char *study_why(const struct study_result *r)
{
	for (size_t i = 0; i < r->nr_cases; i++) {
		if (r->cases[i].why[0])
			return r->cases[i].why;
	}
	return NULL;
}

/*
 * Writes the reason why no conclusion is possible, and returns its length. Loads that share a
 * target are judged by how they affect each other: if the target gives a load fewer requests than
 * it offers, the times that models give are those of another load. For a migration the throughput
 * is itself the question, and in a simulation or a replay the storage slows the loads down.
 */
static size_t study_say_refused(struct study_result *r, char *out, size_t size)
{
	const char *why = study_why(r);
	char overload[STUDY_WORDS_BYTES / 2];

	out[0] = 0;
	if (why)
		snprintf(out, size,
			 "Cannot tell: %s; a run on the target would tell. Extrapolated: ", why);
	else if (strcmp(r->verb, "migrate") != 0 && !study_is_recorded(r) &&
		 study_say_overload(r, "the target", overload, sizeof(overload)) != LOAD_CARRIED)
		snprintf(out, size,
			 "Cannot tell: %s. With as many requests as it gives: ", overload);
	r->cannot_tell = out[0] != 0;
	return strlen(out);
}

int study_conclude(struct study_result *r)
{
	const struct study_row *worst;
	char overload[STUDY_WORDS_BYTES / 2];
	enum load_carried carried;
	size_t used;

	if (study_make_rows(r))
		return -ENOMEM;
	used = study_say_refused(r, r->conclusion, STUDY_WORDS_BYTES);
	worst = study_find_worst(r);
	if (worst) {
		study_say_worst(r, worst, r->conclusion + used, STUDY_WORDS_BYTES - used);
		r->cannot_tell |= study_verdict(worst) == VERDICT_CANNOT_TELL && !study_is_run(r);
		r->limited_by = study_limit(r, worst);
	} else {
		snprintf(r->conclusion + used, STUDY_WORDS_BYTES - used,
			 "Response times on the target were estimated; there is nothing to compare "
			 "them with.");
	}
	used = strlen(r->conclusion);
	if (strcmp(r->verb, "migrate") != 0 && !study_is_recorded(r))
		return 0;
	carried = study_say_overload(r, " The target", overload, sizeof(overload));
	if (carried != LOAD_CARRIED)
		snprintf(r->conclusion + used, STUDY_WORDS_BYTES - used, "%s.", overload);
	r->overloaded = carried == LOAD_CANNOT;
	r->cannot_tell |= carried == LOAD_MAY_NOT && !study_is_run(r);
	return 0;
}

/* Fills the cell that says why the row allows no conclusion. */
static void study_answer_why(const struct study_result *r, const struct study_row *row,
			     struct answer_table *t)
{
	const char *why = r->cases[row->case_index].why;

	if (why[0])
		answer_words(t, "%s", why);
	else if (!row->way)
		answer_words(t, "no model of flush_s");
	else if (isfinite(row->change_ratio) && study_verdict(row) == VERDICT_CANNOT_TELL)
		answer_words(t, "the interval includes no change");
	else
		answer_number(t, NAN);
}

static void study_answer_rows(const struct study_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "case", .title = "case" },
		{ .key = "load", .unit = ANSWER_INTEGER },
		{ .key = "name" },
		{ .title = "load" },
		{ .key = "type", .title = "type" },
		{ .key = "point", .title = "point" },
		{ .key = "before_s", .title = "before", .unit = ANSWER_SECONDS },
		{ .key = "target_s",
		  .title = "on the target",
		  .unit = ANSWER_SECONDS,
		  .interval = "ci" },
		{ .key = "change_ratio", .title = "change", .unit = ANSWER_CHANGE },
		{ .key = "measured_s", .title = "measured", .unit = ANSWER_SECONDS },
		{ .key = "delta_rt", .title = "delta RT", .unit = ANSWER_RATIO },
		{ .key = "by", .title = "by" },
		{ .key = "why" },
	};
	struct answer_table *t =
		answer_table(a, "results", "Response times",
			     "Before is where the load was characterized, or alone on the target.",
			     ANSWER_COLUMNS(columns));
	char name[128], at[64];
	bool has_measured = false, has_exact = false;

	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct study_row *row = &r->rows[i];

		has_measured |= isfinite(row->measured_s);
		has_exact |= row->is_exact;
		study_case_name(r, row->case_index, at);
		study_name(r->study, row->load, name);
		answer_words(t, "%s", at);
		answer_number(t, (double)row->load + 1);
		answer_words(t, "%s", name);
		answer_words(t, "%zu %s", row->load + 1, name);
		answer_words(t, "%s", study_type_name((unsigned int)row->side));
		answer_words(t, "%s", study_point_name(row->point));
		answer_number(t, row->before_s);
		answer_interval(t, row->target_s, row->low, row->high);
		answer_number(t, row->change_ratio);
		answer_number(t, row->measured_s);
		answer_number(t, row->delta_rt);
		answer_words(t, "%s",
			     r->study->simulated	  ? "device"
			     : !r->study->predictor	  ? "run"
			     : row->way == STUDY_BY_MODEL ? "model"
			     : row->way == STUDY_BY_RATIO ? "ratio"
							  : "-");
		study_answer_why(r, row, t);
	}
	if (has_exact)
		answer_note(a, PREDICTED_WITHOUT_ERROR);
	if (has_measured)
		answer_fact_words(a, NULL, "delta RT",
				  "|measured - on the target| / on the target");
}

static void study_answer_rate(const struct study_answer *s, struct answer_table *t)
{
	if (predicted_has_interval(s->rate_per_s, s->rate_low_per_s, s->rate_high_per_s))
		answer_interval(t, s->rate_per_s, s->rate_low_per_s, s->rate_high_per_s);
	else
		answer_interval(t, s->rate_per_s, NAN, NAN);
}

/* Adds the requests per second that each load offers, and those that the target serves. */
static void study_answer_throughput(const struct study_result *r, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "case" },
		{ .key = "load", .unit = ANSWER_INTEGER },
		{ .key = "name" },
		{ .key = "offered_per_s", .unit = ANSWER_PER_S },
		{ .key = "target_per_s", .unit = ANSWER_PER_S, .interval = "ci" },
		{ .key = "limited_by" },
	};
	size_t nr = sizeof(columns) / sizeof(*columns) - !r->study->simulated;
	struct answer_table *t = answer_table(a, "throughput", NULL, NULL, columns, nr);
	char name[128], at[64];

	for (size_t k = 0; k < r->nr_cases; k++) {
		const struct study_case *c = &r->cases[k];

		for (size_t i = 0; i < c->nr; i++) {
			study_case_name(r, k, at);
			study_name(r->study, c->loads[i], name);
			answer_words(t, "%s", at);
			answer_number(t, (double)c->loads[i] + 1);
			answer_words(t, "%s", name);
			answer_number(t, r->study->loads[c->loads[i]].facts.rate_per_s);
			study_answer_rate(&c->answers[i], t);
			if (!r->study->simulated)
				continue;
			answer_words(t, "%s",
				     c->answers[i].limited_by ? c->answers[i].limited_by
							      : "the application");
		}
	}
}

static json_t *study_peak_json(const struct study_result *r)
{
	json_t *makers;

	if (!r->has_peak)
		return json_null();
	makers = json_array();
	for (size_t i = 0; i < r->peak.nr_makers; i++)
		json_array_append_new(makers, json_pack("{s:i, s:f, s:f}", "load",
							(int)r->peak.makers[i].stream + 1, "per_s",
							r->peak.makers[i].per_s, "share",
							r->peak.makers[i].share));
	return json_pack("{s:f, s:f, s:f, s:o}", "max_per_s", r->peak.max_per_s, "max_begin_s",
			 r->peak.max_begin_s, "own_peaks_sum_per_s", r->peak.own_peaks_per_s,
			 "makers", makers);
}

/*
 * Adds the table of the loads that made the coincident peak, for people; machines read the member
 * "peak".
 */
static void study_answer_peak(const struct study_result *r, bool utc, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "load" },
		{ .title = "requests", .unit = ANSWER_PER_S },
		{ .title = "of the peak", .unit = ANSWER_RATIO },
	};
	char at[UNITS_BYTES], sum[UNITS_BYTES], own[UNITS_BYTES], title[256], name[128];
	struct answer_table *t;

	answer_member(a, "peak", study_peak_json(r));
	if (!r->has_peak)
		return;
	snprintf(
		title, sizeof(title),
		"The coincident peak was %s requests/s at %s; the loads' own peaks add up to %s/s.",
		units_count(r->peak.max_per_s, sum),
		units_instant((uint64_t)(r->peak.max_begin_s * 1e9), utc, 0, at),
		units_count(r->peak.own_peaks_per_s, own));
	t = answer_table(a, NULL, title, NULL, ANSWER_COLUMNS(columns));
	for (size_t i = 0; i < r->peak.nr_makers; i++) {
		study_name(r->study, r->peak.makers[i].stream, name);
		answer_words(t, "%s", name);
		answer_number(t, r->peak.makers[i].per_s);
		answer_number(t, r->peak.makers[i].share);
	}
}

struct answer *study_answer(const struct study_result *r, bool utc)
{
	struct answer *a;
	char title[64];

	snprintf(title, sizeof(title), "Study: %s", r->verb);
	a = answer_new("blkcast.study/1", title);
	answer_fact_words(a, "study", NULL, r->verb);
	answer_fact_words(a, "by", NULL, r->how);
	study_answer_rows(r, a);
	study_answer_throughput(r, a);
	study_answer_peak(r, utc, a);
	answer_fact(a, "level", NULL, ANSWER_NONE, PREDICTOR_LEVEL);
	answer_fact_words(a, "limited_by", NULL, r->limited_by);
	answer_conclude(a, "%s", r->conclusion);
	return a;
}
