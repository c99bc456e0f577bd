// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/long_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/solve/replications.h"

/* With fewer runs beside the lead, a machine of several processors would have nothing to do. */
#define LONG_RUN_TIMES 3
/* Three runs have at least the 20 samples that a single run is cut into. */
#define LONG_RUN_SAMPLES 8
/* The first estimate of what is needed may be wrong, so no more runs are begun at once. */
#define LONG_RUN_MOST_AT_FIRST 15

struct long_run {
	const struct batch_run *lead;
	struct solution *out;
	struct qpn_sample lead_samples[LONG_RUN_SAMPLES];
};

/* This struct is what one run of the others gives. */
struct long_run_part {
	struct qpn_sample samples[LONG_RUN_SAMPLES];
};

/* Returns how many times the length of its first run the net is run in all. */
static double long_run_lengths(const struct batch_run *lead, double needed,
			       const struct solve_options *o)
{
	double first = (double)(lead->events > o->long_events ? lead->events : o->long_events);

	return o->model_time > 0 ? 1 : fmin(needed, (double)o->max_events) / first;
}

bool long_run_is(const struct batch_run *lead, double needed, const struct solve_options *o)
{
	return lead->events >= o->long_events && long_run_lengths(lead, needed, o) > LONG_RUN_TIMES;
}

unsigned long_run_times_as_fast(const struct batch_run *lead, double needed,
				const struct solve_options *o)
{
	double lengths = long_run_lengths(lead, needed, o);
	unsigned processors = o->nr_threads ? o->nr_threads : parallel_cpus();

	return lengths > LONG_RUN_TIMES ? (unsigned)fmin(processors, ceil(lengths - 1)) : 1;
}

static int long_run_part(const struct replications *d, struct replication *out, void *sample,
			 uint64_t seed, struct err *err)
{
	const struct long_run *l = d->ctx;
	const struct batch_run_whole run = { l->lead->n, seed, d->length };
	struct long_run_part *part = sample;

	return batch_run_whole(&run, part->samples, LONG_RUN_SAMPLES, out, err);
}

static int long_run_pieces(const struct replications *d, void *sample, struct parallel_bytes *b)
{
	const struct long_run *l = d->ctx;
	struct long_run_part *part = sample;

	for (int i = 0; i < LONG_RUN_SAMPLES; i++) {
		int ret = qpn_sample_pieces(&part->samples[i], l->lead->n, b);

		if (ret)
			return ret;
	}
	return 0;
}

static void long_run_release(void *sample)
{
	struct long_run_part *part = sample;

	batch_run_release_samples(part->samples, LONG_RUN_SAMPLES);
}

/* Makes the estimates from the samples of all runs so far. */
static int long_run_judge(struct replications *d)
{
	const struct long_run *l = d->ctx;
	const struct long_run_part *parts = d->samples;
	size_t nr = LONG_RUN_SAMPLES * (d->nr + 1);
	struct qpn_sample *all = calloc(nr, sizeof(*all)); /* borrows what the samples own */
	int ret;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		all[i] = i < LONG_RUN_SAMPLES
				 ? l->lead_samples[i]
				 : parts[i / LONG_RUN_SAMPLES - 1].samples[i % LONG_RUN_SAMPLES];
	estimate_release(&l->out->estimate);
	ret = estimate_make(&l->out->estimate, l->lead->n, all, nr, true);
	if (ret)
		goto out;
	l->out->correlation = sample_correlation(all, nr);
	l->out->nr_samples = nr;
	solution_set_precision(l->out, l->lead->n, d->o);
	d->precision = l->out->precision;
	d->expected = l->out->expected;
	d->limit = l->out->limit;
out:
	free(all);
	return ret;
}

int long_run_go_on(struct solution *out, const struct batch_run *lead,
		   const struct solve_options *o, struct err *err)
{
	double events = (double)lead->events, most = (double)o->max_events;
	double needed = solve_events_needed(lead->events, out->expected, o->precision);
	struct long_run l = { .lead = lead, .out = out };
	struct replications d = { .ctx = &l,
				  .sample_size = sizeof(struct long_run_part),
				  .run = long_run_part,
				  .pieces = long_run_pieces,
				  .release = long_run_release,
				  .judge = long_run_judge,
				  .length = (double)lead->nr * lead->length,
				  .most_growth = 2,
				  .nr_before = 1,
				  .events = lead->events,
				  .model_time = out->model_time,
				  .warm_up = out->warm_up,
				  .o = o };
	int ret;

	d.nr_first = (size_t)fmin(ceil(fmin(needed, most) / events - 1), LONG_RUN_MOST_AT_FIRST);
	ret = batch_run_group(lead, sample_warm_up(lead->batches, lead->nr), l.lead_samples,
			      LONG_RUN_SAMPLES, true);
	if (!ret)
		ret = replications_run(&d, err);
	if (ret == -ENOMEM)
		batch_run_out_of_memory(lead->n, err);
	out->events = d.events;
	out->model_time = d.model_time;
	out->warm_up = d.warm_up;
	replications_release(&d);
	batch_run_release_samples(l.lead_samples, LONG_RUN_SAMPLES);
	return ret;
}
