/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transient: computes the behaviour of a net from its initial marking on, as a time series.
 *
 * There are independent runs, each from the initial marking to the same model time. The time is
 * cut into intervals of equal length. For each interval, each mean (population, throughput,
 * residence time of the tokens that left) is computed from the runs, with Student's confidence
 * interval over them. The random seed determines the result for any number of threads.
 */
#ifndef ANALYZER_TRANSIENT_H
#define ANALYZER_TRANSIENT_H

#include "analyzer/models/sim/output.h"

struct transient_options {
	double model_time;	  /* must be above 0 */
	unsigned nr_points;	  /* number of intervals, from 1 to 10000 */
	unsigned nr_replications; /* 2 or more */
	unsigned nr_threads;	  /* 0 means all processors */
	uint64_t seed;
};

struct transient_point {
	struct interval population, throughput, residence; /* residence is NaN if no token left */
};

struct transient {
	struct transient_point *points; /* owned; interval x slot */
	unsigned nr_points;
	uint32_t nr_slots;
	double length; /* length of an interval */
	uint64_t events;
};

/*
 * Returns 0, an error of qpn_sim_run(), or -ENOMEM. The memory is proportional to runs x intervals
 * x slots.
 */
int transient_run(struct transient *out, const struct net *n, const struct transient_options *o,
		  struct err *err);
void transient_release(struct transient *t);

#endif
