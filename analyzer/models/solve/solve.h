/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve: a net by simulation, until it is known well enough.
 *
 * Batch means: one run, cut into 64 to 128 batches that double in length as it goes on; warm-up
 * left out by MSER; the rest grouped into 20. Ends where every mean is known to the precision and
 * the groups do not correlate. Replications: independent runs on all processors, each without its
 * warm-up, as many as the precision takes. Either way the seed alone decides the result.
 */
#ifndef ANALYZER_SOLVE_H
#define ANALYZER_SOLVE_H

#include "analyzer/models/sim/output.h"

enum solve_method {
	SOLVE_BATCH_MEANS,
	SOLVE_REPLICATIONS,
};

struct solve_options {
	enum solve_method method;
	bool quantiles;	   /* whose precision counts too */
	double precision;  /* relative half-width to reach; not looked at with model_time */
	double model_time; /* run (each replication) that long; 0: as long as it takes */
	uint64_t seed;
	uint64_t max_events;	   /* in all; the result says where it stopped short */
	unsigned nr_replications;  /* at least; 2 or more */
	unsigned nr_threads;	   /* 0: all processors */
	const char *const *wanted; /* places and probes whose precision counts */
	size_t nr_wanted;	   /* 0: all */
	/* May be NULL: events so far and the precision reached. */
	void (*progress)(void *ctx, uint64_t events, double precision);
	void *ctx;
};

#define SOLVE_DEFAULTS                                                                        \
	{                                                                                     \
		.precision = 0.01, .seed = 1, .max_events = 2000000000, .nr_replications = 16 \
	}

struct solution {
	struct estimate estimate;
	uint64_t events;
	double model_time; /* simulated in all */
	double warm_up;	   /* of it, left out */
	size_t nr_samples;
	double precision;   /* reached */
	double correlation; /* of the samples; near 0 is good */
};

/* 0; the errors of qpn_sim_run(); -EINVAL where wanted[] names what is not in the net. */
int solve_net(struct solution *out, const struct net *n, const struct solve_options *o,
	      struct err *err);
void solution_release(struct solution *s);

#endif
