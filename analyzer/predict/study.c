// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEVEL 0.9 /* of the intervals */

static int ask(const struct study *s, const struct load_facts *f, int side, struct study_case *c,
	       struct study_answer *a, struct err *err)
{
	const struct model *m = s->models[side];
	double *x = calloc(m->schema.nr + 1, sizeof(*x)), half;
	int status = x ? load_model_row(m, f, s->set, s->nr_set, x, err) : -ENOMEM;

	if (!status && !c->outside)
		c->outside = load_model_outside(m, x);
	if (!status)
		status = model_predict(m, x, 1, &a->s[side]);
	half = status ? NAN : model_half_width(m, LEVEL);
	if (isfinite(half))
		model_interval(m, a->s[side], half, &a->low[side], &a->high[side]);
	free(x);
	return status;
}

int study_by_models(const struct study *s, struct study_case *c, struct err *err)
{
	struct study_answer all = { { NAN, NAN }, { NAN, NAN }, { NAN, NAN }, NAN };
	struct load_facts each[STUDY_LOADS_MAX], joined;
	int status = 0;

	for (size_t i = 0; i < c->nr; i++)
		each[i] = s->loads[c->loads[i]].facts;
	load_facts_join(each, c->nr, &joined);
	for (int side = 0; side < 2 && !status; side++)
		if (s->models[side])
			status = ask(s, &joined, side, c, &all, err);
	for (size_t i = 0; i < c->nr; i++) {
		const struct profile *p = &s->loads[c->loads[i]].group->whole;

		c->answers[i] = all;
		for (int side = 0; side < 2; side++)
			if (!p->requests[side ? OPERATION_WRITE : OPERATION_READ])
				c->answers[i].s[side] = NAN;
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
