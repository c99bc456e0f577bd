// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/headroom/headroom_device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/simulate/stored_scale.h"
#include "base/memory/array.h"

/* The factor is found to this share; the ends of its interval are known less well anyway. */
#define FACTOR_PRECISION 0.01
#define ENDS_PRECISION	 0.03
/* Factors that differ by less are the same: loads were multiplied and divided in between. */
#define FACTOR_ROUNDING 1e-9

/* This struct is a search for the factor at which one of the three curves breaks the objective. */
struct device_search {
	struct headroom_device *device;
	int side, point;
	double limit_s;
	bool extrapolates; /* today's load is not covered already */
	size_t nr_runs;	   /* simulations that this objective may still add */
	double most;
};

void headroom_device_release(struct headroom_device *d)
{
	free(d->runs);
	d->runs = NULL;
	d->nr_runs = d->cap_runs = 0;
}

static struct headroom_device_run *device_run_find(const struct headroom_device *d, double factor)
{
	for (size_t i = 0; i < d->nr_runs; i++)
		if (d->runs[i].factor == factor)
			return &d->runs[i];
	return NULL;
}

static void device_run_take(struct headroom_device_run *run, const struct study_case *c)
{
	snprintf(run->why, sizeof(run->why), "%.*s", (int)sizeof(run->why) - 1, c->why);
	for (int side = 0; side < 2; side++)
		for (int point = 0; point < STUDY_POINTS; point++) {
			struct headroom_point *p = &run->times[side][point];

			*p = (struct headroom_point){ run->factor, NAN, NAN, NAN };
			for (size_t i = 0; i < c->nr; i++) {
				const struct study_answer *a = &c->answers[i];
				const struct study_time *t = &a->points[side][point];
				bool mean = point == STUDY_MEAN;
				double s = mean ? a->s[side] : t->way ? t->s : NAN;

				if (!isfinite(s) || s <= p->predicted)
					continue;
				p->predicted = s;
				p->low = mean ? a->low[side] : t->low;
				p->high = mean ? a->high[side] : t->high;
			}
		}
	for (size_t i = 0; i < c->nr; i++)
		run->rate_per_s += c->answers[i].rate_per_s;
}

/* Keeps a run at its place among the other runs, which are ascending by factor. */
static int device_run_keep(struct headroom_device *d, const struct headroom_device_run *run)
{
	size_t at = d->nr_runs;

	if (array_grow(&d->runs, &d->cap_runs, d->nr_runs + 1, sizeof(*d->runs)))
		return -ENOMEM;
	for (; at && d->runs[at - 1].factor > run->factor; at--)
		d->runs[at] = d->runs[at - 1];
	d->runs[at] = *run;
	d->nr_runs++;
	return 0;
}

static int device_run_simulate(struct headroom_device *d, const struct study_replay *plans,
			       struct headroom_device_run *run, struct err *err)
{
	struct study_simulate *sim = calloc(1, sizeof(*sim));
	struct study_case *c = calloc(1, sizeof(*c));
	struct study *s = malloc(sizeof(*s));
	int ret = sim && c && s ? 0 : -ENOMEM;

	if (ret)
		goto out;
	*s = *d->study;
	*sim = (struct study_simulate){ .target = d->target, .replay = plans, .seed = d->seed };
	c->nr = s->nr;
	for (size_t i = 0; i < s->nr; i++) {
		c->loads[i] = i;
		s->loads[i].facts.rate_per_s *=
			(double)plans->plans[i].nr / (double)d->replay->plans[i].nr;
	}
	ret = study_simulate_case(sim, s, c, err);
	if (ret)
		goto out;
	device_run_take(run, c);
	ret = device_run_keep(d, run);
out:
	free(sim);
	free(c);
	free(s);
	return ret;
}

/*
 * Simulates the loads times a factor, and sets *factor to the factor by which the loads could
 * really be multiplied. *factor becomes 0 if a load would have no requests, and if no simulation is
 * left.
 */
static int device_search_run(struct device_search *s, double *factor, struct err *err)
{
	struct headroom_device *d = s->device;
	struct headroom_device_run run = { 0 };
	struct study_replay *plans = calloc(1, sizeof(*plans));
	double nr = 0, stored = 0, asked = *factor;
	bool all = true;
	int ret = plans ? 0 : -ENOMEM;

	*factor = 0;
	for (; !ret && plans->nr < d->study->nr; plans->nr++) {
		const struct causal_plan *plan = &d->replay->plans[plans->nr];

		ret = stored_scale(&plans->plans[plans->nr], plan, 1, asked);
		all &= plans->plans[plans->nr].nr > 0;
		nr += (double)plans->plans[plans->nr].nr;
		stored += (double)plan->nr;
	}
	if (ret || !all)
		goto out;
	run.factor = nr / stored;
	*factor = run.factor;
	if (device_run_find(d, run.factor))
		goto out;
	if (!s->nr_runs || d->nr_runs >= HEADROOM_POINTS) {
		*factor = 0;
		goto out;
	}
	s->nr_runs--;
	ret = device_run_simulate(d, plans, &run, err);
out:
	if (plans)
		study_replay_release(plans);
	free(plans);
	return ret;
}

/* ---- the search ---- */

/* Returns whether the curve (-1 its lower end, 1 its upper end) breaks the objective there. */
static bool device_search_broken(const struct device_search *s, double factor, int which)
{
	const struct headroom_device_run *run = device_run_find(s->device, factor);
	const struct headroom_point *p = &run->times[s->side][s->point];

	if (run->why[0] && !s->extrapolates)
		return true; /* Beyond what the campaign measured: the search ends before it. */
	return (which < 0 ? p->low : which > 0 ? p->high : p->predicted) > s->limit_s;
}

/*
 * Doubles the factor until the objective breaks, or halves it until it holds. Sets the ends between
 * which it breaks; *low is 0 if it holds nowhere, *high infinite if it does not break.
 */
static int device_search_bracket(struct device_search *s, int which, double *low, double *high,
				 struct err *err)
{
	bool broken = device_search_broken(s, 1, which);
	double step = broken ? 0.5 : 2, asked = 1, factor;

	*low = broken ? 0 : 1;
	*high = broken ? 1 : INFINITY;
	while ((broken || asked < s->most) && asked > 1 / HEADROOM_DEVICE_FACTOR) {
		int ret;

		asked = fmin(asked * step, s->most);
		factor = asked;
		ret = device_search_run(s, &factor, err);
		if (ret || !(factor > 0))
			return ret;
		if (device_search_broken(s, factor, which))
			*high = asked;
		else
			*low = asked;
		if (device_search_broken(s, factor, which) != broken)
			return 0;
	}
	return 0;
}

/* Simulates factors until the one at which the curve breaks the objective lies between two. */
static int device_search_break(struct device_search *s, int which, struct err *err)
{
	double low, high, precision = which ? ENDS_PRECISION : FACTOR_PRECISION;
	int ret = device_search_bracket(s, which, &low, &high, err);

	while (!ret && low > 0 && isfinite(high) && high > low * (1 + precision)) {
		double asked = sqrt(low * high), factor = asked;

		ret = device_search_run(s, &factor, err);
		if (ret || !(factor > 0))
			return ret;
		if (device_search_broken(s, factor, which))
			high = asked;
		else
			low = asked;
	}
	return ret;
}

/* Makes each time at least as long as with less load; today's time stays as it is. */
static void device_search_guard(struct headroom_point *curve, size_t nr, size_t now)
{
	for (size_t i = now + 1; i < nr; i++) {
		curve[i].predicted = fmax(curve[i].predicted, curve[i - 1].predicted);
		curve[i].low = fmax(curve[i].low, curve[i - 1].low);
		curve[i].high = fmax(curve[i].high, curve[i - 1].high);
	}
	for (size_t i = now; i-- > 0;) {
		curve[i].predicted = fmin(curve[i].predicted, curve[i + 1].predicted);
		curve[i].low = fmin(curve[i].low, curve[i + 1].low);
		curve[i].high = fmin(curve[i].high, curve[i + 1].high);
	}
}

static void device_search_curve(const struct device_search *s, struct headroom *h)
{
	const struct headroom_device *d = s->device;
	size_t now = 0;

	for (size_t i = 0; i < d->nr_runs && h->nr < HEADROOM_POINTS; i++) {
		const struct headroom_device_run *run = &d->runs[i];

		if ((run->why[0] && !s->extrapolates) ||
		    isnan(run->times[s->side][s->point].predicted))
			continue;
		if (run->factor == 1)
			now = h->nr;
		h->curve[h->nr] = run->times[s->side][s->point];
		h->curve[h->nr++].load *= h->today;
	}
	device_search_guard(h->curve, h->nr, now);
	headroom_take_curve(h, &h->curve[now]);
}

/* ---- the answer ---- */

/*
 * Returns the clients while the load ran. The facts are means over the whole recording, whose idle
 * beginning and end had none.
 */
static double headroom_device_clients(const struct load_facts *f, const struct causal_plan *plan)
{
	double requests = (double)plan->nr - (double)plan->response[DEVICE_FLUSH].nr;
	double active = requests / (f->rate_per_s * plan->window_s);
	struct load_facts while_active = *f;

	if (isfinite(active) && active > 1)
		while_active.concurrency *= active;
	return predictor_clients(&while_active);
}

/* Sets the load that grows: the rate if all requests come by themselves, otherwise the clients. */
static void headroom_device_load(const struct headroom_device *d, struct headroom *h)
{
	bool open = true;

	for (size_t i = 0; i < d->study->nr; i++)
		open &= stored_scale_is_open(&d->replay->plans[i]);
	h->load = open ? "rate" : "clients";
	for (size_t i = 0; i < d->study->nr; i++)
		h->today += open ? d->study->loads[i].facts.rate_per_s
				 : headroom_device_clients(&d->study->loads[i].facts,
							   &d->replay->plans[i]);
}

/* Returns the largest factor whose simulation is affordable, at least 1. */
static double headroom_device_most(const struct headroom_device *d)
{
	double nr = 0, most = d->most_requests > 0 ? d->most_requests : HEADROOM_DEVICE_REQUESTS;

	for (size_t i = 0; i < d->study->nr; i++)
		nr += (double)d->replay->plans[i].nr;
	return fmax(1, fmin(HEADROOM_DEVICE_FACTOR, most / nr));
}

static int headroom_device_point(const struct headroom_objective *o, struct err *err)
{
	for (unsigned int point = 0; point < STUDY_POINTS; point++)
		if (!strcmp(o->point, point ? study_point_name(point) : ""))
			return (int)point;
	return err_set(err, EINVAL,
		       "%s.%s: a simulated device tells mean, p50, p95 and p99 of its requests",
		       o->side ? "write" : "read", o->point);
}

int headroom_find_device(struct headroom *h, struct headroom_device *d,
			 const struct headroom_objective *o, struct err *err)
{
	struct device_search s = { .device = d,
				   .side = o->side,
				   .limit_s = o->limit_s,
				   .nr_runs = HEADROOM_DEVICE_RUNS,
				   .most = headroom_device_most(d) };
	static const int curves[] = { 0, 1, -1 };
	const struct headroom_device_run *now;
	double factor = 1;
	int ret;

	memset(h, 0, sizeof(*h));
	h->limit = o->limit_s;
	s.point = headroom_device_point(o, err);
	if (s.point < 0)
		return s.point;
	headroom_device_load(d, h);
	ret = device_search_run(&s, &factor, err);
	if (ret)
		return ret;
	now = device_run_find(d, 1);
	if (isnan(now->times[s.side][s.point].predicted))
		return err_set(err, EINVAL, "no load has %ss enough to tell their %s",
			       o->side ? "write" : "read", study_point_name((unsigned int)s.point));
	s.extrapolates = now->why[0];
	memcpy(h->why, now->why, sizeof(h->why));
	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
		const struct headroom_point *p = &device_run_find(d, 1)->times[s.side][s.point];

		if (curves[i] && isnan(p->low))
			continue;
		ret = device_search_break(&s, curves[i], err);
		if (ret)
			return ret;
	}
	device_search_curve(&s, h);
	return 0;
}

void headroom_device_rates(struct headroom_result *r, const struct headroom_device *d)
{
	r->offered_per_s = 0;
	r->today_per_s = device_run_find(d, 1)->rate_per_s;
	r->limit_per_s = NAN;
	for (size_t i = 0; i < d->study->nr; i++)
		r->offered_per_s += d->study->loads[i].facts.rate_per_s;
	/* Between two simulations the rate follows the factor. */
	for (size_t i = 0; i < d->nr_runs; i++) {
		if (d->runs[i].factor > r->found->at.factor * (1 + FACTOR_ROUNDING))
			break;
		r->limit_per_s = d->runs[i].rate_per_s * r->found->at.factor / d->runs[i].factor;
	}
}
