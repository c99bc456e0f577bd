// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study_slo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

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
		return err_set(err, EINVAL, "--slo: expected up to %d objectives", STUDY_SLO_MAX);
	ret = headroom_read_objective(text, o, err);
	if (ret)
		return ret;
	if (study_slo_point(o) < 0)
		return err_set(err, EINVAL, "--slo %.60s: a study tells mean, p50, p95 and p99",
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

/* Judges one objective for one load, and writes to out what to say about it. */
static enum study_slo_verdict study_slo_judge(const struct study_result *r, size_t case_index,
					      size_t load, const struct headroom_objective *o,
					      const char *text, char *out, size_t size)
{
	const struct study_row *row =
		study_slo_row(r, case_index, load, o->side, study_slo_point(o));
	char name[128], at[UNITS_BYTES], high[UNITS_BYTES];

	study_name(r->study, load, name);
	if (!row) {
		snprintf(out, size, " Cannot tell whether %s of %s holds: there is no such time.",
			 text, name);
		return STUDY_SLO_UNKNOWN;
	}
	units_time(row->target_s, at);
	if (row->target_s > o->limit_s) {
		snprintf(out, size, " %s of %s does not hold: %s.", text, name, at);
		return STUDY_SLO_BROKEN;
	}
	if (row->high > o->limit_s)
		snprintf(out, size, " %s of %s holds with %s, but may not: up to %s.", text, name,
			 at, units_time(row->high, high));
	return STUDY_SLO_HOLDS;
}

enum study_slo_verdict study_slo_check(const struct study_slo *s, const struct study_result *r,
				       char *out, size_t size)
{
	enum study_slo_verdict worst = STUDY_SLO_HOLDS;

	out[0] = 0;
	for (size_t at = 0; at < r->nr_cases; at++)
		for (size_t i = 0; i < r->cases[at].nr && study_is_asked(r, at); i++)
			for (size_t k = 0; k < s->nr; k++) {
				size_t load = r->cases[at].loads[i];
				const struct headroom_objective *o = &s->objectives[k];
				char words[384] = "";
				enum study_slo_verdict v;

				if (!load_facts_has(&r->study->loads[load].facts, o->side))
					continue;
				v = study_slo_judge(r, at, load, o, s->texts[k], words,
						    sizeof(words));
				if (v > worst || (v == worst && !out[0]))
					snprintf(out, size, "%s", words);
				worst = v > worst ? v : worst;
			}
	return worst;
}
