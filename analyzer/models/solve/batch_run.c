// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/solve/batch_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define GROUPS	     20
#define PILOT_EVENTS 4096
/* 60 to 128 uncorrelated samples rarely have a higher correlation than this. */
#define FINE_CORRELATION 0.15

int batch_run_out_of_memory(const struct net *n, struct err *err)
{
	return err_set(err, ENOMEM, "%s: out of memory", n->file);
}

int batch_run_begin(struct batch_run *r, const struct net *n, uint64_t seed, struct err *err)
{
	*r = (struct batch_run){ .n = n };
	return qpn_sim_new(&r->sim, n, seed, err);
}

void batch_run_release(struct batch_run *r)
{
	batch_run_release_samples(r->batches, r->nr);
	r->nr = 0;
	qpn_sim_free(r->sim);
	r->sim = NULL;
}

int batch_run_pilot(struct batch_run *r, struct err *err)
{
	uint64_t events = PILOT_EVENTS;
	struct qpn_sample x;
	int ret;

	for (uint32_t i = 0; i < r->n->nr_slots; i++)
		events += 8 * r->n->slots[i].tokens;
	do {
		ret = qpn_sim_run(r->sim, INFINITY, events, err);
		r->events += events;
	} while (!ret && qpn_sim_now(r->sim) <= 0 && r->events < BATCH_RUN_PILOT_EVENTS);
	if (ret)
		return ret;
	if (!(qpn_sim_now(r->sim) > 0))
		return err_set(err, ELOOP,
			       "%s: time does not go on: expected a service that takes some",
			       r->n->file);
	r->length = qpn_sim_now(r->sim);
	if (qpn_sim_collect(r->sim, &x))
		return batch_run_out_of_memory(r->n, err);
	qpn_sample_release(&x);
	return 0;
}

int batch_run_add(struct batch_run *r, struct err *err)
{
	int ret = qpn_sim_run(r->sim, qpn_sim_now(r->sim) + r->length, UINT64_MAX, err);

	if (ret)
		return ret;
	if (qpn_sim_collect(r->sim, &r->batches[r->nr]))
		return batch_run_out_of_memory(r->n, err);
	r->events += r->batches[r->nr++].events;
	return 0;
}

int batch_run_halve(struct batch_run *r)
{
	for (size_t i = 0; i < r->nr / 2; i++) {
		if (i) {
			r->batches[i] = r->batches[2 * i];
			r->batches[2 * i] = (struct qpn_sample){ 0 };
		}
		if (qpn_sample_merge(&r->batches[i], &r->batches[2 * i + 1]))
			return -ENOMEM;
		qpn_sample_release(&r->batches[2 * i + 1]);
	}
	r->nr /= 2;
	r->length *= 2;
	return 0;
}

int batch_run_group(const struct batch_run *r, size_t from, struct qpn_sample *groups,
		    size_t nr_groups, bool quantiles)
{
	size_t nr = r->nr - from;

	for (size_t g = 0; g < nr_groups; g++) {
		int ret = qpn_sample_init(&groups[g], r->n);

		for (size_t i = from + g * nr / nr_groups;
		     !ret && i < from + (g + 1) * nr / nr_groups; i++) {
			if (quantiles)
				ret = qpn_sample_merge(&groups[g], &r->batches[i]);
			else
				qpn_sample_merge_sums(&groups[g], &r->batches[i]);
		}
		if (!ret)
			continue;
		batch_run_release_samples(groups, g + 1);
		return ret;
	}
	return 0;
}

void batch_run_release_samples(struct qpn_sample *x, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		qpn_sample_release(&x[i]);
}

int batch_run_samples(const struct batch_run *r, size_t from, struct qpn_sample *groups,
		      size_t *nr_groups, double *correlation, bool quantiles)
{
	size_t nr = r->nr - from;

	for (;;) {
		int ret = batch_run_group(r, from, groups, nr, quantiles);

		if (ret)
			return ret;
		*nr_groups = nr;
		*correlation = sample_correlation(groups, nr);
		if (nr == GROUPS || *correlation <= FINE_CORRELATION)
			return 0;
		batch_run_release_samples(groups, nr);
		nr = nr / 2 >= GROUPS ? nr / 2 : GROUPS;
	}
}

int batch_run_whole(const struct batch_run_whole *w, struct qpn_sample *samples, size_t nr,
		    struct replication *out, struct err *err)
{
	struct batch_run *r = calloc(1, sizeof(*r));
	size_t from;
	int ret;

	if (!r)
		return batch_run_out_of_memory(w->n, err);
	ret = batch_run_begin(r, w->n, w->seed, err);
	r->length = w->length / BATCH_RUN_FIXED;
	while (!ret && r->nr < BATCH_RUN_FIXED)
		ret = batch_run_add(r, err);
	if (ret)
		goto out;
	from = sample_warm_up(r->batches, r->nr);
	out->warm_up = (double)from * r->length;
	out->events = r->events;
	if (batch_run_group(r, from, samples, nr, true))
		ret = batch_run_out_of_memory(w->n, err);
out:
	batch_run_release(r);
	free(r);
	return ret;
}
