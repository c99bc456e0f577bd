// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/study.h"

#include <math.h>
#include <string.h>

int study_predict(const struct study *s, struct study_case *c, struct err *err)
{
	const struct predictor_ask ask = { .point = "", .sides = { true, true } };
	struct load_facts each[STUDY_LOADS_MAX];
	struct predicted out[STUDY_LOADS_MAX];
	int status;

	for (size_t i = 0; i < c->nr; i++)
		each[i] = s->loads[c->loads[i]].facts;
	status = predictor_ask(s->predictor, &ask, each, c->nr, out, &c->outside, err);
	for (size_t i = 0; i < c->nr && !status; i++) {
		struct study_answer *a = &c->answers[i];

		a->rate_per_s = NAN;
		memcpy(a->s, out[i].s, sizeof(a->s));
		memcpy(a->low, out[i].low, sizeof(a->low));
		memcpy(a->high, out[i].high, sizeof(a->high));
	}
	return status;
}

int study_peak(const struct study *s, struct align_sum *sum)
{
	struct peak_load loads[STUDY_LOADS_MAX];

	for (size_t i = 0; i < s->nr; i++)
		loads[i] = (struct peak_load){ s->loads[i].group, 1 };
	return peak_find(loads, s->nr, sum);
}
