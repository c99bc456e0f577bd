// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The length of an interval's half on a logarithmic scale; NaN where it is unknown or reaches 0. */
static double log_half(double larger, double smaller)
{
	return smaller > 0 ? log(larger / smaller) : NAN;
}

static bool study_alike(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/*
 * The measured time times new / old. The errors of the two models count as independent. Where both
 * predict the very same they are one model, and its errors cancel.
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

int study_predict(const struct study *s, struct study_case *c, struct err *err)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct load_facts each[STUDY_LOADS_MAX];
	struct predicted out[STUDY_LOADS_MAX];
	int ret;

	for (size_t i = 0; i < c->nr; i++)
		each[i] = s->loads[c->loads[i]].facts;
	ret = predictor_ask(s->predictor, &ask, each, c->nr, out, &c->outside, err);
	if (ret)
		return ret;
	if (s->from && c->nr == 1)
		ret = make_relative(s, &s->loads[c->loads[0]], &ask, &out[0], &c->outside, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < c->nr; i++) {
		struct study_answer *a = &c->answers[i];

		a->rate_per_s = out[i].rate_per_s;
		a->rate_low_per_s = out[i].rate_low_per_s;
		a->rate_high_per_s = out[i].rate_high_per_s;
		memcpy(a->s, out[i].s, sizeof(a->s));
		memcpy(a->low, out[i].low, sizeof(a->low));
		memcpy(a->high, out[i].high, sizeof(a->high));
	}
	return 0;
}

int study_peak(const struct study *s, struct align_sum *sum)
{
	struct peak_load loads[STUDY_LOADS_MAX];

	for (size_t i = 0; i < s->nr; i++)
		loads[i] = (struct peak_load){ s->loads[i].group, 1 };
	return peak_find(loads, s->nr, sum);
}
