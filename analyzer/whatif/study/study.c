// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Returns half the length of an interval on a logarithmic scale; NaN if the interval is unknown or
 * reaches 0.
 */
static double log_half(double larger, double smaller)
{
	return smaller > 0 ? log(larger / smaller) : NAN;
}

struct study_time study_get_time(const struct study_answer *a, unsigned int type,
				 unsigned int point)
{
	if (type == STUDY_FLUSH || point != STUDY_MEAN)
		return a->points[type][point];
	return (struct study_time){ a->s[type], a->low[type], a->high[type],
				    isnan(a->s[type]) ? STUDY_UNKNOWN : STUDY_BY_MODEL };
}

void study_set_time(struct study_answer *a, unsigned int type, unsigned int point,
		    const struct study_time *t)
{
	if (type == STUDY_FLUSH || point != STUDY_MEAN) {
		a->points[type][point] = *t;
		return;
	}
	a->s[type] = t->s;
	a->low[type] = t->low;
	a->high[type] = t->high;
}

static bool study_alike(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/*
 * Computes the measured time times new / old. The errors of the two models count as independent. If
 * both predictions are identical, they come from the same model, and its errors cancel.
 */
static void relative_side(int side, double base_s, const struct predicted *old, struct predicted *p)
{
	double ratio = p->s[side] / old->s[side], down, up;
	bool same = p->s[side] == old->s[side] && study_alike(p->low[side], old->low[side]) &&
		    study_alike(p->high[side], old->high[side]);

	down = hypot(log_half(p->s[side], p->low[side]), log_half(old->high[side], old->s[side]));
	up = hypot(log_half(p->high[side], p->s[side]), log_half(old->s[side], old->low[side]));
	p->s[side] = base_s * ratio;
	p->low[side] = same ? p->s[side] : p->s[side] * exp(isnan(up) ? NAN : -down);
	p->high[side] = same ? p->s[side] : p->s[side] * exp(isnan(down) ? NAN : up);
}

static int make_relative(const struct study *s, const struct study_load *load,
			 const struct predictor_ask *ask, struct predicted *p, const char **outside,
			 struct err *err)
{
	const char *which = NULL;
	struct predicted old;
	int ret = predictor_ask(s->from, ask, &load->facts, 1, &old, &which, err);

	if (ret)
		return ret;
	if (!*outside)
		*outside = which;
	for (int side = 0; side < 2; side++) {
		if (isnan(p->s[side]))
			continue;
		if (!(load->base_s[side] > 0) || !(old.s[side] > 0))
			return err_set(err, EINVAL,
				       "%s: the %ss have no %s: an answer relative to the old "
				       "storage needs it",
				       load->group->whole.device_name, side ? "write" : "read",
				       load->base_s[side] > 0
					       ? "prediction above 0 on the old storage"
					       : "measured response time");
		relative_side(side, load->base_s[side], &old, p);
	}
	p->rate_per_s = predictor_rate(&load->facts, p->s);
	p->rate_low_per_s = predictor_rate(&load->facts, p->high);
	p->rate_high_per_s = predictor_rate(&load->facts, p->low);
	return 0;
}

/* Returns the mean of a type on the target. */
static struct study_time study_mean(const struct study_answer *a, int type)
{
	if (type == STUDY_FLUSH)
		return a->points[STUDY_FLUSH][STUDY_MEAN];
	return (struct study_time){ a->s[type], a->low[type], a->high[type], STUDY_BY_MODEL };
}

/* Fills the points that no model gives, by the ratio of the means. */
static void study_fill_points(const struct study *s, struct study_case *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct study_load *load = &s->loads[c->loads[i]];
		struct study_answer *a = &c->answers[i];

		for (int type = 0; type < STUDY_TYPES; type++) {
			const struct study_time mean = study_mean(a, type);

			for (int point = STUDY_P50; point < STUDY_POINTS; point++)
				if (!a->points[type][point].way && mean.way)
					a->points[type][point] = study_points_by_ratio(
						load->measured_s[type][point],
						load->measured_s[type][STUDY_MEAN], &mean);
		}
	}
}

/*
 * Asks the models for the percentiles that they have. Relative answers use the ratio of the means
 * only, so that a load that stays on its storage gets its measured times.
 */
static int study_ask_points(const struct study *s, struct study_case *c,
			    const struct load_facts *each, const char **outside, struct err *err)
{
	struct predicted out[STUDY_LOADS_MAX];
	int ret;

	for (int point = STUDY_P50; point < STUDY_POINTS && !s->from; point++) {
		const char *name = study_point_name((unsigned int)point);
		const struct predictor_ask ask = {
			.point = name,
			.sides = { predictor_knows(s->predictor, name, 0),
				   predictor_knows(s->predictor, name, 1) }
		};

		if (!ask.sides[0] && !ask.sides[1])
			continue;
		const char *which = NULL;

		ret = predictor_ask(s->predictor, &ask, each, c->nr, out, &which, err);
		if (ret)
			return ret;
		*outside = *outside ? *outside : which;
		for (size_t i = 0; i < c->nr; i++)
			for (int side = 0; side < 2; side++)
				if (isfinite(out[i].s[side]))
					c->answers[i].points[side][point] = (struct study_time){
						out[i].s[side], out[i].low[side], out[i].high[side],
						STUDY_BY_MODEL
					};
	}
	return 0;
}

/* Predicts flushes on the target; the loads then wait for these instead of the measured flushes. */
static int study_ask_flushes(const struct study *s, struct study_case *c, struct load_facts *each,
			     const char **outside, struct err *err)
{
	for (int point = STUDY_MEAN; point < STUDY_POINTS; point++) {
		const char *name = point ? study_point_name((unsigned int)point) : "";
		struct study_time t = { .way = STUDY_BY_MODEL };
		int ret = predictor_ask_flush(s->predictor, name, each, c->nr, &t.s, &t.low,
					      &t.high, outside, err);

		if (ret)
			return ret;
		for (size_t i = 0; i < c->nr && isfinite(t.s); i++) {
			if (!(each[i].flush_per_s > 0))
				continue;
			c->answers[i].points[STUDY_FLUSH][point] = t;
			if (point == STUDY_MEAN)
				each[i].flush_s = t.s;
		}
	}
	return 0;
}

static void study_take_answer(const struct predicted *p, struct study_answer *a)
{
	a->rate_per_s = p->rate_per_s;
	a->rate_low_per_s = p->rate_low_per_s;
	a->rate_high_per_s = p->rate_high_per_s;
	memcpy(a->s, p->s, sizeof(a->s));
	memcpy(a->low, p->low, sizeof(a->low));
	memcpy(a->high, p->high, sizeof(a->high));
}

/* Says in c->why which variable lies outside; the first one is kept. */
static void study_take_outside(struct study_case *c, const char *outside)
{
	if (outside && !c->why[0])
		snprintf(c->why, sizeof(c->why),
			 "'%.60s' lies outside what the target's model knows", outside);
}

int study_predict(const struct study *s, struct study_case *c, struct err *err)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct load_facts each[STUDY_LOADS_MAX];
	struct predicted out[STUDY_LOADS_MAX];
	const char *outside = NULL, *flushes = NULL, *points = NULL;
	int ret;

	for (size_t i = 0; i < c->nr; i++) {
		each[i] = s->loads[c->loads[i]].facts;
		memset(&c->answers[i], 0, sizeof(c->answers[i]));
	}
	c->why[0] = 0;
	ret = study_ask_flushes(s, c, each, &flushes, err);
	if (ret)
		return ret;
	ret = predictor_ask(s->predictor, &ask, each, c->nr, out, &outside, err);
	if (ret)
		return ret;
	if (s->from && c->nr == 1)
		ret = make_relative(s, &s->loads[c->loads[0]], &ask, &out[0], &outside, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->nr; i++)
		study_take_answer(&out[i], &c->answers[i]);
	ret = study_ask_points(s, c, each, &points, err);
	if (ret)
		return ret;
	study_take_outside(c, outside);
	study_take_outside(c, flushes);
	study_take_outside(c, points);
	study_fill_points(s, c);
	return 0;
}

int study_peak(const struct study *s, struct align_sum *sum)
{
	struct peak_load loads[STUDY_LOADS_MAX];

	for (size_t i = 0; i < s->nr; i++)
		loads[i] = (struct peak_load){ s->loads[i].group, 1 };
	return peak_find(loads, s->nr, sum);
}

void study_take_loads(struct study *s, const struct loads *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct study_load *load = &s->loads[s->nr++];

		load->group = l->groups[i];
		load_facts_of_group(load->group, &load->facts);
	}
}
