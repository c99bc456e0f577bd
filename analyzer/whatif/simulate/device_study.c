// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/device_study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/predict/verdict.h"
#include "analyzer/whatif/simulate/device_chance.h"
#include "analyzer/whatif/simulate/stored_runs.h"
#include "base/text/units.h"

#define WHY_BYTES 256
/* A target that serves less than this share of the offered requests cannot carry the load. */
#define CARRIES_RATIO 0.95
/* Requests that are fewer than this share of the load are ignored. */
#define MATTERS_RATIO 0.02
/*
 * Sizes beyond the measured ones by up to these factors are covered too, because service times are
 * linear in the size.
 */
#define SMALLER_FACTOR 0.45
#define LARGER_FACTOR  1.3
/* A percentile is used only if at least this many requests lie beyond it. */
#define BEYOND_LEAST 10

static const double device_quantiles[DEVICE_NR_POINTS] = { 0, 0.5, 0.95, 0.99 };

/* ---- what the campaign covers ---- */

/* Counts the requests of a plan, those of sizes that were not measured, and forced writes. */
struct device_count {
	uint64_t nr[DEVICE_NR_TYPES], small[2], large[2], durable;
};

static void device_count_plan(const struct causal_plan *plan, const struct device_domain *d,
			      struct device_count *c)
{
	*c = (struct device_count){ 0 };
	for (size_t l = 0; l < plan->nr_lanes; l++)
		for (size_t i = 0; i < plan->lanes[l].nr; i++) {
			const struct causal_request *r = &plan->lanes[l].requests[i];
			int type = r->operation == OPERATION_FLUSH ? DEVICE_FLUSH : r->operation;

			c->nr[type]++;
			if (type == DEVICE_FLUSH)
				continue;
			c->small[type] += r->bytes < SMALLER_FACTOR * d->low_bytes[type];
			c->large[type] += r->bytes > LARGER_FACTOR * d->high_bytes[type];
			c->durable += type == DEVICE_WRITE && r->durable;
		}
}

static bool device_matters(uint64_t nr, uint64_t all)
{
	return (double)nr > MATTERS_RATIO * (double)all;
}

bool device_study_outside(const struct causal_plan *plan, const struct device_model *m, char *why)
{
	const struct device_domain *d = &m->domain;
	struct device_count c;
	char bound[UNITS_BYTES];

	device_count_plan(plan, d, &c);
	why[0] = 0;
	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		if (!d->has[t] && device_matters(c.nr[t], plan->nr)) {
			snprintf(why, WHY_BYTES, "the campaign measured no %s%s",
				 device_type_names[t], t == DEVICE_FLUSH ? "es" : "s");
			return true;
		}
	for (int k = 0; k < 2; k++) {
		bool small = device_matters(c.small[k], plan->nr);

		if (!small && !device_matters(c.large[k], plan->nr))
			continue;
		units_bytes(small ? d->low_bytes[k] : d->high_bytes[k], bound);
		snprintf(why, WHY_BYTES,
			 small ? "the load has %ss of less than half of %s, the smallest that the "
				 "campaign measured"
			       : "the load has %ss that are larger than %s, the largest that the "
				 "campaign measured",
			 device_type_names[k], bound);
		return true;
	}
	if (!d->has_durable && device_matters(c.durable, plan->nr)) {
		snprintf(why, WHY_BYTES, "the campaign measured no forced writes");
		return true;
	}
	return false;
}

/* ---- solving ---- */

static double device_before(const struct causal_plan *plan, int type, int point)
{
	const struct histogram *h = &plan->response[type];

	return point == DEVICE_MEAN ? histogram_mean_s(h)
				    : histogram_quantile_s(h, device_quantiles[point]);
}

/*
 * Computes the time on the target with its interval, relative to the old storage if there is one.
 */
static void device_study_row(const struct device_study *s, struct device_study_row *row,
			     double chance, const struct device_times *now,
			     const struct device_times *old)
{
	double half = s->target->errors[row->type][row->point].log_half;
	double now_s = device_times_at(now, row->type, row->point);

	half = hypot(half, chance);
	row->target_s = now_s;
	if (s->old) {
		double old_s = device_times_at(old, row->type, row->point);
		double old_half = s->old->errors[row->type][row->point].log_half;
		bool same = !memcmp(s->old, s->target, sizeof(*s->old));

		row->target_s = row->before_s * (now_s / old_s);
		half = same ? 0 : hypot(half, old_half);
	}
	row->low = row->target_s * exp(-half);
	row->high = row->target_s * exp(half);
}

static bool device_point_known(const struct histogram *h, int point)
{
	return point == DEVICE_MEAN ? h->nr > 0
				    : (double)h->nr * (1 - device_quantiles[point]) >= BEYOND_LEAST;
}

static void device_study_rows(struct device_study *s, size_t load,
			      const struct device_chance *chance, const struct device_times *old)
{
	const struct device_study_load *l = &s->loads[load];
	const struct device_times *now = &s->results[load].times;

	for (int t = 0; t < DEVICE_NR_TYPES; t++)
		for (int p = 0; p < DEVICE_NR_POINTS; p++) {
			struct device_study_row *row = &s->rows[s->nr_rows];

			if (!device_point_known(&now->response[t], p))
				continue;
			*row = (struct device_study_row){
				.load = load,
				.type = (enum device_type)t,
				.point = (enum device_point)p,
				.before_s = device_before(l->plan, t, p),
				.measured_s = t < DEVICE_FLUSH && p == DEVICE_MEAN
						      ? l->measured_s[t]
						      : NAN,
			};
			device_study_row(s, row, chance->half[t][p], now, old);
			s->nr_rows++;
		}
}

/*
 * Takes what was simulated of a load, on the target, on the old storage, and on the target again
 * with other random numbers.
 */
static void device_study_take(struct device_study *s, size_t load, struct stored_result *now,
			      const struct stored_result *old, const struct stored_result *again,
			      size_t nr_again)
{
	const struct causal_plan *plan = s->loads[load].plan;
	struct device_study_result *r = &s->results[load];
	struct device_chance chance;

	r->offered_per_s = s->loads[load].rate_per_s > 0 ? s->loads[load].rate_per_s
							 : (double)plan->nr / plan->window_s;
	r->target_per_s = r->offered_per_s * stored_rate_ratio(plan, now, r->offered_per_s);
	if (s->old)
		r->target_per_s /= stored_rate_ratio(plan, old, r->offered_per_s);
	device_chance_of(&chance, now, again, nr_again);
	r->times = now->times;
	memset(&now->times, 0, sizeof(now->times));
	if (!device_study_outside(plan, s->target, r->why) &&
	    (!s->old || !device_study_outside(plan, s->old, r->why)) &&
	    device_matters(now->nr_beyond, plan->nr))
		snprintf(r->why, sizeof(r->why),
			 "the load has more requests under way than %.0f, the most that the "
			 "campaign measured",
			 s->target->domain.concurrency);
	device_study_rows(s, load, &chance, &old->times);
}

/*
 * Fills in the simulations of all loads: on the target and, if there is one, on the old storage,
 * and behind these on the target again. Returns their number; runs may be NULL.
 */
static size_t device_study_runs(const struct device_study *s, struct stored_run *runs,
				struct stored_result *results)
{
	const size_t per_load = s->old ? 2 : 1;
	size_t nr = per_load * s->nr;

	for (size_t i = 0; runs && i < nr; i++)
		runs[i] = (struct stored_run){ &s->loads[i / per_load].plan, 1,
					       i % per_load ? s->old : s->target, &results[i], 0 };
	for (size_t i = 0; i < s->nr; i++) {
		size_t turns = device_chance_turns(s->loads[i].plan->nr);

		for (size_t k = 0; runs && k < turns; k++)
			runs[nr + k] = (struct stored_run){ &s->loads[i].plan, 1, s->target,
							    &results[nr + k], k + 1 };
		nr += turns;
	}
	return nr;
}

/* Simulates every load on the target and, if there is one, on the old storage. */
static int device_study_simulate(struct device_study *s, struct err *err)
{
	const size_t per_load = s->old ? 2 : 1, nr = device_study_runs(s, NULL, NULL);
	struct stored_run *runs = calloc(nr + 1, sizeof(*runs));
	/* The entry behind the last is empty: it stands for an old storage that there is not. */
	struct stored_result *results = calloc(nr + 1, sizeof(*results));
	size_t again = per_load * s->nr;
	int ret = -ENOMEM;

	if (!runs || !results)
		goto out;
	device_study_runs(s, runs, results);
	ret = stored_sim_run_all(runs, nr, s->seed, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < s->nr; i++) {
		size_t turns = device_chance_turns(s->loads[i].plan->nr);

		device_study_take(s, i, &results[per_load * i],
				  &results[s->old ? per_load * i + 1 : nr], &results[again], turns);
		again += turns;
	}
out:
	for (size_t i = 0; i < nr && results; i++)
		stored_result_release(&results[i]);
	free(results);
	free(runs);
	return ret;
}

void device_study_release(struct device_study *s)
{
	for (size_t i = 0; i < s->nr && s->results; i++)
		device_times_release(&s->results[i].times);
	free(s->results);
	free(s->rows);
	s->results = NULL;
	s->rows = NULL;
}

/* ---- the conclusion ---- */

static enum verdict device_verdict_of(const struct device_study_row *row)
{
	return verdict_of(row->before_s, row->target_s, row->low, row->high);
}

/*
 * Returns the most important mean: first one that surely becomes slower, then one that is
 * uncertain, then the rest.
 */
static const struct device_study_row *device_study_worst(const struct device_study *s)
{
	const struct device_study_row *worst = NULL;
	enum verdict of = VERDICT_SAME;

	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct device_study_row *row = &s->rows[i];
		enum verdict v = device_verdict_of(row);

		if (row->point != DEVICE_MEAN || !isfinite(row->before_s))
			continue;
		v = v < VERDICT_CANNOT_TELL ? VERDICT_SAME : v;
		if (worst && (v < of || (v == of && row->target_s / row->before_s <=
							    worst->target_s / worst->before_s)))
			continue;
		worst = row;
		of = v;
	}
	return worst;
}

static void device_study_say(struct device_study *s, const struct device_study_row *row, char *out,
			     size_t size)
{
	char before[UNITS_BYTES], now[UNITS_BYTES], low[UNITS_BYTES], high[UNITS_BYTES];
	enum verdict v = device_verdict_of(row);
	const char *name = s->loads[row->load].name, *type = device_type_names[row->type];
	const char *plural = row->type == DEVICE_FLUSH ? "es" : "s";
	double change = 100 * (row->target_s / row->before_s - 1);

	units_time(row->before_s, before);
	units_time(row->target_s, now);
	units_time(row->low, low);
	units_time(row->high, high);
	if (v == VERDICT_CANNOT_TELL)
		snprintf(out, size,
			 "After the migration: cannot tell whether the %s%s of %s become slower "
			 "or faster: from %s to %s (%+.1f %%), but the 90 %% interval, %s to %s, "
			 "includes no change; a run on the target would tell.",
			 type, plural, name, before, now, change, low, high);
	else
		snprintf(out, size,
			 "After the migration: the %s%s of %s %s, from %s to %s (%+.1f %%), as the "
			 "simulated device answers the stored requests.",
			 type, plural, name, verdict_words(v), before, now, change);
	s->cannot_tell |= v == VERDICT_CANNOT_TELL;
}

static void device_study_conclude(struct device_study *s)
{
	const struct device_study_row *worst = device_study_worst(s);
	size_t used = 0;

	for (size_t i = 0; i < s->nr && !s->cannot_tell; i++) {
		if (!s->results[i].why[0])
			continue;
		s->cannot_tell = true;
		snprintf(s->conclusion, sizeof(s->conclusion),
			 "Cannot tell: %s: %s; a run on the target would tell. Extrapolated: ",
			 s->loads[i].name, s->results[i].why);
		used = strlen(s->conclusion);
	}
	if (worst)
		device_study_say(s, worst, s->conclusion + used, sizeof(s->conclusion) - used);
	for (size_t i = 0; i < s->nr; i++) {
		const struct device_study_result *r = &s->results[i];
		char offered[UNITS_BYTES], gives[UNITS_BYTES];

		if (!(r->target_per_s < CARRIES_RATIO * r->offered_per_s))
			continue;
		used = strlen(s->conclusion);
		snprintf(s->conclusion + used, sizeof(s->conclusion) - used,
			 " %s gets less done: %s instead of %s requests/s.", s->loads[i].name,
			 units_count(r->target_per_s, gives),
			 units_count(r->offered_per_s, offered));
	}
}

int device_study_solve(struct device_study *s, struct err *err)
{
	int ret;

	s->rows = calloc(s->nr * DEVICE_NR_TYPES * DEVICE_NR_POINTS + 1, sizeof(*s->rows));
	s->results = calloc(s->nr + 1, sizeof(*s->results));
	if (!s->rows || !s->results)
		return -ENOMEM;
	ret = device_study_simulate(s, err);
	if (ret)
		return ret;
	device_study_conclude(s);
	return 0;
}

/* ---- the answer ---- */

static void device_answer_why(const struct device_study *s, const struct device_study_row *row,
			      struct answer_table *t)
{
	if (s->results[row->load].why[0])
		answer_words(t, "%s", s->results[row->load].why);
	else if (isnan(row->low))
		answer_words(t, "too few configurations were held out to tell an interval");
	else if (isfinite(row->before_s) && device_verdict_of(row) == VERDICT_CANNOT_TELL)
		answer_words(t, "the interval includes no change");
	else
		answer_number(t, NAN);
}

static void device_answer_rows(const struct device_study *s, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "case" },
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
		{ .key = "measured_s", .unit = ANSWER_SECONDS },
		{ .key = "delta_rt", .unit = ANSWER_RATIO },
		{ .key = "why" },
	};
	struct answer_table *t =
		answer_table(a, "results", "Response times",
			     "Before is where the load was recorded.", ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct device_study_row *row = &s->rows[i];

		answer_words(t, "alone");
		answer_number(t, (double)row->load + 1);
		answer_words(t, "%s", s->loads[row->load].name);
		answer_words(t, "%zu %s", row->load + 1, s->loads[row->load].name);
		answer_words(t, "%s", device_type_names[row->type]);
		answer_words(t, "%s", device_point_names[row->point]);
		answer_number(t, row->before_s);
		answer_interval(t, row->target_s, row->low, row->high);
		answer_number(t, row->target_s / row->before_s - 1);
		answer_number(t, row->measured_s);
		answer_number(t, fabs(row->measured_s - row->target_s) / row->target_s);
		device_answer_why(s, row, t);
	}
}

static void device_answer_throughput(const struct device_study *s, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .key = "case" },
		{ .key = "load", .unit = ANSWER_INTEGER },
		{ .key = "name", .title = "load" },
		{ .key = "offered_per_s", .title = "recorded", .unit = ANSWER_PER_S },
		{ .key = "target_per_s",
		  .title = "on the target",
		  .unit = ANSWER_PER_S,
		  .interval = "ci" },
		{ .key = "limited_by", .title = "limited by" },
	};
	struct answer_table *t =
		answer_table(a, "throughput", "Requests per second", NULL, ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < s->nr; i++) {
		const struct device_study_result *r = &s->results[i];

		answer_words(t, "alone");
		answer_number(t, (double)i + 1);
		answer_words(t, "%s", s->loads[i].name);
		answer_number(t, r->offered_per_s);
		answer_interval(t, r->target_per_s, NAN, NAN);
		answer_words(t, "%s",
			     r->times.limit == DEVICE_PART_NONE
				     ? "the application"
				     : device_part_names[r->times.limit]);
	}
}

struct answer *device_study_answer(const struct device_study *s)
{
	struct answer *a = answer_new("blkcast.study/1", "Study: migrate");
	bool storage = false;

	for (size_t i = 0; i < s->nr; i++)
		storage |= s->results[i].times.limit != DEVICE_PART_NONE;
	answer_fact_words(a, "study", NULL, "migrate");
	answer_fact_words(a, "by", NULL, s->old ? "relative device" : "device");
	device_answer_rows(s, a);
	device_answer_throughput(s, a);
	answer_fact(a, "level", NULL, ANSWER_NONE, DEVICE_LEVEL);
	answer_fact_words(a, "limited_by", NULL, storage ? "storage" : "clients");
	answer_conclude(a, "%s", s->conclusion);
	return a;
}
