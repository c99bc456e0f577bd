/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_run: one run of a net, cut into batches of equal length, from which samples are made.
 *
 * While a run goes on, it has at most BATCH_RUN_MOST batches. Their length doubles when there are
 * as many: pairs of them are merged. The first batches belong to the warm-up as long as
 * sample_warm_up() says so; the others are merged into the samples of an estimate.
 */
#ifndef ANALYZER_BATCH_RUN_H
#define ANALYZER_BATCH_RUN_H

#include "analyzer/models/sim/output.h"
#include "analyzer/models/solve/replications.h"

/* batches of a run of fixed length */
#define BATCH_RUN_FIXED 64
#define BATCH_RUN_MOST	128
/* A pilot run ends after this many events even where the model time has not gone on. */
#define BATCH_RUN_PILOT_EVENTS 1000000

struct batch_run {
	const struct net *n; /* borrowed */
	struct qpn_sim *sim; /* owned, as are the batches */
	struct qpn_sample batches[BATCH_RUN_MOST];
	size_t nr;
	double length; /* model time of a batch */
	uint64_t events;
};

/* Begins a run. Returns 0, or an error of qpn_sim_new(). */
int batch_run_begin(struct batch_run *r, const struct net *n, uint64_t seed, struct err *err);
void batch_run_release(struct batch_run *r);

/*
 * Chooses the length of a batch: the time of the first events, at least some events for every
 * token. What happened until then is discarded. Returns 0, an error of qpn_sim_run(), or -ELOOP
 * where the model time does not go on.
 */
int batch_run_pilot(struct batch_run *r, struct err *err);

/* Adds a batch; there must be room for it. Returns 0 or an error of qpn_sim_run(). */
int batch_run_add(struct batch_run *r, struct err *err);

/* Merges pairs of batches, so that there are half as many of twice the length. */
int batch_run_halve(struct batch_run *r);

/*
 * Merges the batches from..nr-1 into nr_groups samples of equal size, as far as possible; their
 * histograms only where quantiles are to be made. Returns 0 or -ENOMEM, which frees the samples.
 */
int batch_run_group(const struct batch_run *r, size_t from, struct qpn_sample *groups,
		    size_t nr_groups, bool quantiles);

/*
 * Makes samples from the batches after the warm-up, at most BATCH_RUN_MOST. All batches stay
 * samples while these are not correlated; otherwise pairs are merged, down to 20 samples. Many
 * samples estimate their variance well. With few samples, a run would often end when the variance
 * happens to look small, and intervals would be too short (with 19 degrees of freedom, 90 to 94 %
 * coverage instead of 95 %). Returns 0 or -ENOMEM.
 */
int batch_run_samples(const struct batch_run *r, size_t from, struct qpn_sample *groups,
		      size_t *nr_groups, double *correlation, bool quantiles);

/* This struct is a run of fixed length, which begins and ends for itself. */
struct batch_run_whole {
	const struct net *n;
	uint64_t seed;
	double length; /* model time */
};

/*
 * Makes such a run and merges what comes after its warm-up into nr samples with histograms, which
 * the caller releases. *out gets the warm-up and the events. Returns 0, an error of qpn_sim_run(),
 * or -ENOMEM.
 */
int batch_run_whole(const struct batch_run_whole *w, struct qpn_sample *samples, size_t nr,
		    struct replication *out, struct err *err);

void batch_run_release_samples(struct qpn_sample *x, size_t nr);

/* Sets the message of -ENOMEM, which it returns. */
int batch_run_out_of_memory(const struct net *n, struct err *err);

#endif
