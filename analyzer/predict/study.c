// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

static int add_window(struct align *a, uint32_t stream, const struct profile *w)
{
	uint64_t requests = w->requests[OPERATION_READ] + w->requests[OPERATION_WRITE], put = 0;
	double seconds = w->end_s - w->begin_s;
	uint64_t parts = (uint64_t)fmax(1, ceil(seconds));
	int status = 0;

	for (uint64_t i = 0; i < parts && !status; i++) {
		uint64_t until = requests * (i + 1) / parts;
		double at = w->begin_s + seconds * ((double)i + 0.5) / (double)parts;

		status = align_add(a, stream, (uint64_t)(at * 1e9), until - put, 0);
		put = until;
	}
	return status;
}

int study_peak(const struct study *s, struct align_sum *sum)
{
	struct align *a = NULL;
	int status = align_new(&a, 0);

	for (size_t i = 0; i < s->nr && !status; i++) {
		const struct profile_group *g = s->loads[i].group;
		char name[32];
		uint32_t stream = 0;

		snprintf(name, sizeof(name), "%zu", i);
		if (!g->nr_windows)
			status = -ENODATA;
		if (!status)
			status = align_stream(a, name, "", &stream);
		for (size_t k = 0; k < g->nr_windows && !status; k++)
			status = add_window(a, stream, &g->windows[k]);
	}
	if (!status)
		status = align_sum(a, ALIGN_REQUESTS, sum);
	align_free(a);
	return status;
}
