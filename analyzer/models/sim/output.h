/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output: what can be said of a net from samples of its simulation: batches of one run, or whole
 * replications.
 *
 * Every mean is a ratio of sums (time integral over time, residence over tokens, tokens over time);
 * its interval comes from the residuals of the samples (Law, Kelton, 9.5; Student's t). Samples
 * must be long against the net's memory: sample_correlation() says whether they are. A quantile's
 * interval is the range of quantiles of the merged histogram between the ends of the interval of
 * the share of values below it, which needs no density.
 */
#ifndef ANALYZER_OUTPUT_H
#define ANALYZER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/net/net.h"
#include "analyzer/models/sim/interval.h"
#include "analyzer/models/sim/qpn_sim.h"

struct slot_estimate {
	struct interval population;		      /* in the place */
	struct interval queue_population, queue_time; /* in its queue alone; NaN where ordinary */
	struct time_estimate residence;
	struct interval throughput; /* tokens that leave, per unit of time */
	double utilization; /* busy share of all servers by this colour; NaN where it has no meaning */
};

struct probe_estimate {
	struct time_estimate time;
	double nr;
};

struct estimate {
	struct slot_estimate *slots; /* owned */
	struct probe_estimate *probes;
	uint32_t nr_slots, nr_probes;
};

/* From nr >= 2 samples. 0 or -ENOMEM. O(nr * slots * buckets). */
int estimate_make(struct estimate *e, const struct net *n, const struct qpn_sample *x, size_t nr);
/* Nothing known: every number NaN, as of a net without a steady state. 0 or -ENOMEM. */
int estimate_make_unknown(struct estimate *e, const struct net *n);
void estimate_release(struct estimate *e);

/*
 * The largest relative half-width among what is asked for: population and residence of queueing
 * places, throughput of all, probes; or those of wanted[] alone (names of places and probes, any
 * number, 0: all). quantiles: those of residence and probes count too, by the farther end. What
 * never happened is passed over. NaN counts as infinite.
 */
double estimate_precision(const struct estimate *e, const struct net *n, const char *const *wanted,
			  size_t nr_wanted, bool quantiles);

/*
 * Batches to leave out at the beginning: MSER (White, 1997) on the population of every slot, the
 * largest of all, at most half.
 */
size_t sample_warm_up(const struct qpn_sample *x, size_t nr);
/* The largest lag-1 autocorrelation of any slot's mean population; 0 for fewer than 4 samples. */
double sample_correlation(const struct qpn_sample *x, size_t nr);

#endif
