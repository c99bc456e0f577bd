// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/mix/mix_fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/units.h"

/* This struct holds the loads of a mix, each one repeated by its count. */
struct many {
	struct load_facts facts[PREDICTOR_LOADS_MAX];
	struct predicted answers[PREDICTOR_LOADS_MAX];
	size_t whose[PREDICTOR_LOADS_MAX], nr;
	const char *outside; /* a variable outside the training range, or NULL */
};

static int mix_fit_collect(const struct mix_fit *m, const size_t *counts, struct many *all,
			   struct err *err)
{
	all->nr = 0;
	for (size_t i = 0; i < m->nr; i++)
		for (size_t k = 0; k < counts[i]; k++) {
			if (all->nr == PREDICTOR_LOADS_MAX)
				return err_set(err, EINVAL, "expected up to %d loads at once",
					       PREDICTOR_LOADS_MAX);
			all->facts[all->nr] = m->loads[i].facts;
			all->whose[all->nr++] = i;
		}
	return 0;
}

static int check_objective(struct mix_fit *m, size_t which, struct many *all, bool upper,
			   bool *fits, char why[MIX_WHY_BYTES], struct err *err)
{
	const struct headroom_objective *o = &m->objectives[which];
	struct predictor_ask ask = { .point = o->point };
	const char *outside = NULL;
	char text[UNITS_BYTES];
	int ret;

	ask.sides[o->side] = true;
	ret = predictor_ask(m->predictor, &ask, all->facts, all->nr, all->answers, &outside, err);
	if (ret)
		return ret;
	if (!m->outside)
		m->outside = outside;
	if (outside)
		all->outside = outside;
	for (size_t i = 0; i < all->nr && *fits; i++) {
		double s = all->answers[i].s[o->side], high = all->answers[i].high[o->side];
		bool has = o->side ? all->facts[i].read_ratio < 1 : all->facts[i].read_ratio > 0;

		if (has && isnan(s))
			return err_set(err, EINVAL, "objective %s: no model of %s is given",
				       m->objective_text[which], o->response);
		if (upper && isfinite(high))
			s = high;
		if (!(s > o->limit_s))
			continue;
		*fits = false;
		snprintf(why, MIX_WHY_BYTES, "%s of %.60s: %s", m->objective_text[which],
			 m->loads[all->whose[i]].name, units_time(s, text));
	}
	return 0;
}

/*
 * A kept objective proves nothing if the target gives a load fewer requests than it offers, because
 * the times are then those of a smaller load. This check needs the means of all directions, which
 * not all predictors have.
 */
static void check_carried(struct mix_fit *m, struct many *all, bool upper, bool *fits,
			  char why[MIX_WHY_BYTES])
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct err ignored = { 0 };

	if (predictor_ask(m->predictor, &ask, all->facts, all->nr, all->answers, NULL, &ignored)) {
		m->carried_unknown = true;
		return;
	}
	for (size_t i = 0; i < all->nr && *fits; i++) {
		const struct load_facts *f = &all->facts[i];
		double per_s = all->answers[i].rate_per_s, low = all->answers[i].rate_low_per_s;
		enum load_carried c;

		m->carried_unknown |= isnan(per_s);
		c = load_facts_carried(f, upper && isfinite(low) ? low : per_s,
				       all->answers[i].rate_high_per_s);
		if (c == LOAD_CARRIED)
			continue;
		*fits = false;
		m->not_carried = true;
		load_facts_say_carried(c, "the target", m->loads[all->whose[i]].name, f->rate_per_s,
				       per_s, why, MIX_WHY_BYTES);
	}
}

static int check_capacity(struct mix_fit *m, const struct many *all, bool upper, bool *fits,
			  char why[MIX_WHY_BYTES], struct err *err)
{
	struct capacity_use use;
	int ret = capacity_use(m->capacity, all->facts, all->nr, &use, err);
	double share;

	if (ret)
		return ret;
	share = upper && isfinite(use.share.high) ? use.share.high : use.share.value;
	if (share > 1) {
		*fits = false;
		m->over_capacity = true;
		snprintf(why, MIX_WHY_BYTES, "%.1f %% of the capacity", 100 * share);
	}
	return 0;
}

/* Gives the time that an objective is about; false if it is unknown. */
static bool mix_device_time(const struct study_answer *a, const struct headroom_objective *o,
			    struct study_time *t)
{
	for (unsigned int point = 0; point < STUDY_POINTS; point++) {
		if (strcmp(o->point, point ? study_point_name(point) : ""))
			continue;
		*t = a->points[o->side][point];
		if (point == STUDY_MEAN)
			*t = (struct study_time){ a->s[o->side], a->low[o->side], a->high[o->side],
						  STUDY_BY_MODEL };
		return t->way != STUDY_UNKNOWN && isfinite(t->s);
	}
	return false;
}

/* Checks the objectives and the throughput of one load of a simulated mix. */
static int check_device_load(struct mix_fit *m, size_t load, size_t count,
			     const struct study_answer *a, bool upper, bool *fits,
			     char why[MIX_WHY_BYTES], struct err *err)
{
	struct load_facts all = m->loads[load].facts;
	enum load_carried c;
	char text[UNITS_BYTES];

	for (size_t i = 0; i < m->nr_objectives && *fits; i++) {
		const struct headroom_objective *o = &m->objectives[i];
		struct study_time t;

		if (!load_facts_has(&all, o->side))
			continue;
		if (!mix_device_time(a, o, &t))
			return err_set(
				err, EINVAL,
				"objective %s: a simulated device tells mean, p50, p95 and p99 "
				"of loads that have enough requests, not this of %.60s",
				m->objective_text[i], m->loads[load].name);
		t.s = upper && isfinite(t.high) ? t.high : t.s;
		if (!(t.s > o->limit_s))
			continue;
		*fits = false;
		snprintf(why, MIX_WHY_BYTES, "%s of %.60s: %s", m->objective_text[i],
			 m->loads[load].name, units_time(t.s, text));
	}
	all.rate_per_s *= (double)count;
	c = load_facts_carried(&all, a->rate_per_s, NAN);
	if (*fits && c != LOAD_CARRIED) {
		*fits = false;
		m->not_carried = true;
		load_facts_say_carried(c, "the target", m->loads[load].name, all.rate_per_s,
				       a->rate_per_s, why, MIX_WHY_BYTES);
	}
	return 0;
}

static int check_device(struct mix_fit *m, const size_t *counts, bool upper, struct many *all,
			bool *fits, char why[MIX_WHY_BYTES], struct err *err)
{
	const struct study_case *c;
	int ret = mix_device_solve(m->device, counts, &c, err);

	if (ret)
		return ret;
	if (!c) {
		*fits = false;
		m->not_simulated = true;
		snprintf(why, MIX_WHY_BYTES,
			 "more than %.3g million stored requests, the most that are simulated",
			 mix_device_most(m->device) / 1e6);
		return 0;
	}
	for (size_t i = 0; i < c->nr && *fits && !ret; i++)
		ret = check_device_load(m, c->loads[i], counts[c->loads[i]], &c->answers[i], upper,
					fits, why, err);
	if (!c->why[0])
		return ret;
	if (!m->outside)
		memcpy(m->device_why, c->why, sizeof(m->device_why));
	m->outside = all->outside = m->device_why;
	return ret;
}

int mix_fits(struct mix_fit *m, const size_t *counts, bool upper, bool *fits,
	     char why[MIX_WHY_BYTES], struct err *err)
{
	struct many *all = calloc(1, sizeof(*all));
	int ret = all ? mix_fit_collect(m, counts, all, err) : -ENOMEM;

	*fits = true;
	m->not_carried = m->over_capacity = false;
	why[0] = 0;
	if (ret)
		goto out;
	if (m->device && all->nr) {
		ret = check_device(m, counts, upper, all, fits, why, err);
		if (ret)
			goto out;
	}
	for (size_t i = 0; i < m->nr_objectives && *fits && all->nr && !m->device; i++) {
		ret = check_objective(m, i, all, upper, fits, why, err);
		if (ret)
			goto out;
	}
	if (*fits && m->nr_objectives && all->nr && !m->device)
		check_carried(m, all, upper, fits, why);
	if (*fits && m->capacity && all->nr)
		ret = check_capacity(m, all, upper, fits, why, err);
	if (!ret && *fits && all->outside)
		m->fits_outside = all->outside;
out:
	free(all);
	return ret;
}

int mix_largest(struct mix_fit *m, size_t *counts, size_t which, bool upper, size_t *out,
		bool *none, char why[MIX_WHY_BYTES], struct err *err)
{
	bool fits = true;
	int ret = 0;

	*out = 0;
	*none = false;
	for (counts[which] = 0; counts[which] <= m->most; counts[which]++) {
		ret = mix_fits(m, counts, upper, &fits, why, err);
		if (ret || !fits)
			break;
		*out = counts[which];
	}
	*none = !ret && !fits && !counts[which];
	counts[which] = *out;
	return ret;
}

int mix_frontier(struct mix_fit *m, size_t *counts, size_t a, size_t b, bool upper, size_t *most,
		 size_t *nr, struct err *err)
{
	char why[MIX_WHY_BYTES];
	bool none, fits;
	int ret;

	*nr = 0;
	counts[b] = 0;
	ret = mix_largest(m, counts, a, upper, &most[0], &none, why, err);
	if (ret || none)
		return ret;
	for (*nr = 1; *nr <= m->most; ++*nr) {
		counts[b] = *nr;
		for (counts[a] = most[*nr - 1];; counts[a]--) {
			ret = mix_fits(m, counts, upper, &fits, why, err);
			if (ret)
				return ret;
			if (fits || !counts[a])
				break;
		}
		if (!fits)
			break;
		most[*nr] = counts[a];
	}
	return 0;
}
