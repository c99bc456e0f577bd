// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/headroom/study_slo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/units.h"

/* Returns the study's point of an objective, or -1. */
static int study_slo_point(const struct headroom_objective *o)
{
	for (unsigned int point = 0; point < STUDY_POINTS; point++)
		if (!strcmp(o->point, point ? study_point_name(point) : ""))
			return (int)point;
	return -1;
}

int study_slo_add(struct study_slo *s, const char *text, struct err *err)
{
	struct headroom_objective *o = &s->objectives[s->nr];
	int ret;

	if (s->nr == STUDY_SLO_MAX)
		return err_set(err, EINVAL, "objectives: expected up to %d objectives",
			       STUDY_SLO_MAX);
	ret = headroom_read_objective(text, o, err);
	if (ret)
		return ret;
	if (study_slo_point(o) < 0)
		return err_set(err, EINVAL, "objective %.60s: a study tells mean, p50, p95 and p99",
			       text);
	s->texts[s->nr++] = text;
	return 0;
}

static const struct study_row *study_slo_row(const struct study_result *r, size_t case_index,
					     size_t load, int side, int point)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		const struct study_row *row = &r->rows[i];

		if (row->case_index == case_index && row->load == load && row->side == side &&
		    row->point == (enum study_point)point && isfinite(row->target_s))
			return row;
	}
	return NULL;
}

void study_slo_judge(const struct study_slo *s, size_t k, const char *name, double at_s,
		     double high_s, struct study_slo_worst *w)
{
	enum study_slo_verdict verdict = STUDY_SLO_HOLDS;
	double limit_s = s->objectives[k].limit_s;
	char at[UNITS_BYTES], high[UNITS_BYTES], words[384] = "";

	units_time(at_s, at);
	if (!isfinite(at_s)) {
		snprintf(words, sizeof(words),
			 " Cannot tell whether %s of %s holds: there is no such time.", s->texts[k],
			 name);
		verdict = STUDY_SLO_UNKNOWN;
	} else if (at_s > limit_s) {
		snprintf(words, sizeof(words), " %s of %s does not hold: %s.", s->texts[k], name,
			 at);
		verdict = STUDY_SLO_BROKEN;
	} else if (high_s > limit_s) {
		snprintf(words, sizeof(words), " %s of %s holds with %s, but may not: up to %s.",
			 s->texts[k], name, at, units_time(high_s, high));
	}
	if (verdict > w->verdict || (verdict == w->verdict && !w->out[0]))
		snprintf(w->out, w->size, "%s", words);
	w->verdict = verdict > w->verdict ? verdict : w->verdict;
}

enum study_slo_verdict study_slo_check(const struct study_slo *s, const struct study_result *r,
				       char *out, size_t size)
{
	struct study_slo_worst worst = { STUDY_SLO_HOLDS, out, size };

	out[0] = 0;
	for (size_t at = 0; at < r->nr_cases; at++)
		for (size_t i = 0; i < r->cases[at].nr && study_is_asked(r, at); i++)
			for (size_t k = 0; k < s->nr; k++) {
				size_t load = r->cases[at].loads[i];
				const struct headroom_objective *o = &s->objectives[k];
				const struct study_row *row =
					study_slo_row(r, at, load, o->side, study_slo_point(o));
				char name[128];

				if (!load_facts_has(&r->study->loads[load].facts, o->side))
					continue;
				study_name(r->study, load, name);
				study_slo_judge(s, k, name, row ? row->target_s : NAN,
						row ? row->high : NAN, &worst);
			}
	return worst.verdict;
}

static const struct device_study_row *
study_slo_device_row(const struct device_study *d, size_t load, const struct headroom_objective *o)
{
	for (size_t i = 0; i < d->nr_rows; i++)
		if (d->rows[i].load == load && (int)d->rows[i].type == o->side &&
		    (int)d->rows[i].point == study_slo_point(o))
			return &d->rows[i];
	return NULL;
}

enum study_slo_verdict study_slo_check_device(const struct study_slo *s,
					      const struct device_study *d, char *out, size_t size)
{
	struct study_slo_worst worst = { STUDY_SLO_HOLDS, out, size };

	out[0] = 0;
	for (size_t i = 0; i < d->nr; i++)
		for (size_t k = 0; k < s->nr; k++) {
			const struct headroom_objective *o = &s->objectives[k];
			const struct device_study_row *row = study_slo_device_row(d, i, o);

			if (!d->loads[i].plan->response[o->side].nr)
				continue;
			study_slo_judge(s, k, d->loads[i].name, row ? row->target_s : NAN,
					row ? row->high : NAN, &worst);
		}
	return worst.verdict;
}
