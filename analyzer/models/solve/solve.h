/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve: simulates a net until its results have the required precision.
 *
 * Batch means use one run. It is cut into 64 to 128 batches, whose length doubles as the run goes
 * on. MSER finds the warm-up, which is left out, and the remaining batches are merged into 20
 * groups or more. The run ends when every mean has the precision and the groups are not
 * correlated. A run that would take long goes on as replications. These are independent runs on all
 * processors, each without its warm-up, as many as the precision needs. With either method, the
 * random seed alone determines the result.
 */
#ifndef ANALYZER_SOLVE_H
#define ANALYZER_SOLVE_H

#include "analyzer/models/sim/output.h"

enum solve_method {
	SOLVE_BATCH_MEANS,
	SOLVE_REPLICATIONS,
};

/* This struct says how far a simulation is. */
struct solve_progress {
	uint64_t events;
	double precision; /* the precision that was reached */
	/*
	 * How many events the required precision takes in all, by the square-root law from the
	 * width to expect (struct estimate_limit); infinite where that is not known yet.
	 */
	double events_needed;
	const char *limit; /* names the result with the least precision; NULL if it is unknown */
};

struct solve_options {
	enum solve_method method; /* of nets; an architecture is always replicated */
	/*
	 * Simulates an architecture and returns results even if there is no steady state. A search
	 * over parameters needs this, because it may pass through such values and must see that
	 * their times are too long.
	 */
	bool through_overload;
	bool quantiles;	  /* the precision of quantiles counts too */
	double precision; /* relative half-width to reach; ignored with model_time */
	/* length of the run, or of each replication; 0 means as long as necessary */
	double model_time;
	uint64_t seed;
	/* limit in all; the result says if it stopped the simulation early */
	uint64_t max_events;
	unsigned nr_replications; /* minimum; 2 or more */
	unsigned nr_threads;	  /* 0 means all processors */
	/* events after which batch means may go on as replications; 0 means SOLVE_LONG_EVENTS */
	uint64_t long_events;
	/* places, colours of places as PLACE.COLOUR, and probes whose precision counts */
	const char *const *wanted;
	size_t nr_wanted; /* 0 means all places and probes */
	/* May be NULL. Called after each look at the results so far. */
	void (*progress)(void *ctx, const struct solve_progress *now);
	void *ctx;
};

#define SOLVE_DEFAULTS                                                                        \
	{                                                                                     \
		.precision = 0.01, .seed = 1, .max_events = 2000000000, .nr_replications = 16 \
	}

#define SOLVE_LONG_EVENTS 32000000
#define SOLVE_LIMIT_BYTES 256
/* Samples whose correlation is higher would make intervals too short by about 20 %. */
#define SOLVE_MAX_CORRELATION 0.4

struct solution {
	struct estimate estimate;
	enum solve_method method; /* the one that made the estimates */
	uint64_t events;
	double model_time; /* simulated time in all */
	double warm_up;	   /* the part of it that was left out */
	size_t nr_samples;
	double precision;	       /* the precision that was reached */
	double expected;	       /* the precision to expect of other runs of this length */
	double correlation;	       /* correlation of the samples; good if near 0 */
	char limit[SOLVE_LIMIT_BYTES]; /* names the result with that precision */
};

/*
 * Returns how many events the wanted precision takes in all, by the square-root law, after `events`
 * events have given this precision.
 */
double solve_events_needed(uint64_t events, double precision, double wanted);

/*
 * Returns 0, an error of qpn_sim_run(), or -EINVAL if wanted[] names something that is not in the
 * net.
 */
int solve_net(struct solution *out, const struct net *n, const struct solve_options *o,
	      struct err *err);
void solution_release(struct solution *s);

#endif
