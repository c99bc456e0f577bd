// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/mix/mix_device.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/simulate/stored_scale.h"
#include "base/memory/array.h"

void mix_device_release(struct mix_device *d)
{
	free(d->runs);
	d->runs = NULL;
	d->nr_runs = d->cap_runs = 0;
}

static const struct mix_device_run *mix_device_find(const struct mix_device *d,
						    const size_t *counts)
{
	for (size_t i = 0; i < d->nr_runs; i++)
		if (!memcmp(d->runs[i].counts, counts, d->study->nr * sizeof(*counts)))
			return &d->runs[i];
	return NULL;
}

static double mix_device_requests(const struct mix_device *d, const size_t *counts)
{
	double nr = 0;

	for (size_t i = 0; i < d->study->nr; i++)
		nr += (double)counts[i] * (double)d->replay->plans[i].nr;
	return nr;
}

double mix_device_most(const struct mix_device *d)
{
	double stored = 0, most = d->most_requests > 0 ? d->most_requests : MIX_DEVICE_REQUESTS;

	for (size_t i = 0; i < d->study->nr; i++)
		stored += (double)d->replay->plans[i].nr;
	return stored > most ? stored : most;
}

/* Multiplies the plans and the rates of the loads that are in the mix. */
static int mix_device_scale(const struct mix_device *d, struct mix_device_run *run, struct study *s,
			    struct study_replay *plans)
{
	for (; plans->nr < s->nr; plans->nr++) {
		size_t i = plans->nr, count = run->counts[i];
		int ret;

		if (!count)
			continue;
		ret = stored_scale(&plans->plans[i], &d->replay->plans[i], count, 1);
		if (ret)
			return ret;
		s->loads[i].facts.rate_per_s *= (double)count;
		run->answers.loads[run->answers.nr++] = i;
	}
	return 0;
}

static int mix_device_simulate(const struct mix_device *d, struct mix_device_run *run,
			       struct err *err)
{
	struct study_simulate *sim = calloc(1, sizeof(*sim));
	struct study_replay *plans = calloc(1, sizeof(*plans));
	struct study *s = malloc(sizeof(*s));
	int ret = sim && plans && s ? 0 : -ENOMEM;

	if (ret)
		goto out;
	*s = *d->study;
	*sim = (struct study_simulate){
		.target = d->target, .replay = plans, .seed = d->seed, .copies = run->counts
	};
	ret = mix_device_scale(d, run, s, plans);
	if (!ret)
		ret = study_simulate_case(sim, s, &run->answers, err);
out:
	if (plans)
		study_replay_release(plans);
	free(plans);
	free(sim);
	free(s);
	return ret;
}

/* Returns whether a mix has at least as many copies of each load as another one. */
static bool mix_device_covers(const struct mix_device *d, const size_t *counts, const size_t *other)
{
	for (size_t i = 0; i < d->study->nr; i++)
		if (counts[i] < other[i])
			return false;
	return true;
}

static const struct study_answer *mix_device_answer(const struct mix_device_run *run, size_t load)
{
	for (size_t i = 0; i < run->answers.nr; i++)
		if (run->answers.loads[i] == load)
			return &run->answers.answers[i];
	return NULL;
}

/*
 * More loads never make a load faster. What differs by the random numbers of the simulations is
 * corrected by the mixes that were answered before, so that the answers of one search agree.
 */
static void mix_device_order(struct mix_device *d, struct mix_device_run *run)
{
	for (size_t k = 0; k < d->nr_runs; k++) {
		const struct mix_device_run *other = &d->runs[k];
		bool more = mix_device_covers(d, run->counts, other->counts);

		if (!more && !mix_device_covers(d, other->counts, run->counts))
			continue;
		for (size_t i = 0; i < run->answers.nr; i++) {
			size_t load = run->answers.loads[i];
			const struct study_answer *a = mix_device_answer(other, load);
			double factor, change;

			if (!a)
				continue;
			factor = (double)run->counts[load] / (double)other->counts[load];
			change = more ? study_simulate_at_least(a, factor, &run->answers.answers[i])
				      : study_simulate_at_most(a, factor, &run->answers.answers[i]);
			d->most_change = fmax(d->most_change, change);
		}
	}
}

int mix_device_solve(struct mix_device *d, const size_t *counts, const struct study_case **out,
		     struct err *err)
{
	const struct mix_device_run *found = mix_device_find(d, counts);
	struct mix_device_run *run;
	int ret;

	*out = NULL;
	if (!found && mix_device_requests(d, counts) > mix_device_most(d))
		return 0;
	if (!found) {
		if (array_grow(&d->runs, &d->cap_runs, d->nr_runs + 1, sizeof(*d->runs)))
			return -ENOMEM;
		run = &d->runs[d->nr_runs];
		*run = (struct mix_device_run){ .answers.nr = 0 };
		memcpy(run->counts, counts, d->study->nr * sizeof(*counts));
		ret = mix_device_simulate(d, run, err);
		if (ret)
			return ret;
		mix_device_order(d, run);
		d->nr_runs++;
		found = run;
	}
	*out = &found->answers;
	return 0;
}
