/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transient: a net from its initial marking on, as a time series.
 *
 * Independent runs, each from the beginning to the same model time; the time is cut into intervals
 * of equal length, and each mean (population, throughput, residence of the tokens that left) is
 * known for each interval from the runs, with Student's interval over them. Fixed by seed for any
 * number of threads.
 */
#ifndef ANALYZER_TRANSIENT_H
#define ANALYZER_TRANSIENT_H

#include "analyzer/models/sim/output.h"

#define TRANSIENT_MAX_POINTS 10000

struct transient_options {
	double model_time;	  /* above 0 */
	unsigned nr_points;	  /* intervals, 1 to TRANSIENT_MAX_POINTS */
	unsigned nr_replications; /* 2 or more */
	unsigned nr_threads;	  /* 0: all processors */
	uint64_t seed;
};

struct transient_point {
	struct interval population, throughput, residence; /* residence NaN where none left */
};

struct transient {
	struct transient_point *points; /* owned; interval x slot */
	unsigned nr_points;
	uint32_t nr_slots;
	double length; /* of an interval */
	uint64_t events;
};

/* 0; the errors of qpn_sim_run(); -ENOMEM. Memory: runs x intervals x slots. */
int transient_run(struct transient *out, const struct net *n, const struct transient_options *o,
		  struct err *err);
void transient_release(struct transient *t);

#endif
