/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_solve: a software system by simulation, until its response times are known well enough.
 *
 * Independent replications on all processors, each cut into batches of which the warm-up is left
 * out (MSER on the levels of its resources); as many, and as long, as the precision takes. The
 * seed alone decides the result, for any number of threads.
 *
 * A model whose open scenarios bring more than can be served has no steady state: its response times
 * grow for as long as one looks. It is told by its load (arch_load.h) before anything is simulated,
 * and else by what waits at the half and at the end of each replication: that doubles where queues
 * grow without end, and grows with the square root of time at most where they do not.
 */
#ifndef ANALYZER_ARCH_SOLVE_H
#define ANALYZER_ARCH_SOLVE_H

#include "analyzer/models/arch/arch_load.h"
#include "analyzer/models/arch/arch_sim.h"
#include "analyzer/models/sim/interval.h"

struct arch_solve_options {
	/*
	 * Simulate and answer also where there is no steady state: for a search over parameters that
	 * must go through such values, and prefers times that are too long.
	 */
	bool through_overload;
	bool quantiles;	   /* whose precision counts too */
	double precision;  /* relative half-width to reach; not looked at with model_time */
	double model_time; /* seconds of each replication; 0: as long as it takes */
	uint64_t seed;
	uint64_t max_events;	  /* in all; the result says where it stopped short */
	unsigned nr_replications; /* at least; 2 or more */
	unsigned nr_threads;	  /* 0: all processors */
	/* May be NULL: events so far and the precision reached. */
	void (*progress)(void *ctx, uint64_t events, double precision);
	void *ctx;
};

#define ARCH_SOLVE_DEFAULTS                                                                   \
	{                                                                                     \
		.precision = 0.01, .seed = 1, .max_events = 1000000000, .nr_replications = 16 \
	}

struct arch_resource_result {
	double utilization; /* busy share of its servers; of a delay: mean jobs */
	double jobs;	    /* mean, in service and waiting */
	double throughput;  /* jobs per second */
};

/* Arrays are owned; by the indices of the model. */
struct arch_solution {
	struct time_estimate *times; /* scenarios, measures, passives: as in struct arch_sample */
	double *nr;		     /* how many were measured, by times */
	struct interval *throughput; /* per second, by times */
	uint32_t nr_times;
	struct arch_resource_result *resources, *passives; /* a passive's throughput is NaN */
	double *storage_jobs;				   /* mean requests in service */
	uint64_t events, asked, outside;
	double model_time, warm_up; /* seconds, over all replications */
	size_t nr_replications;
	double precision; /* reached */
	/*
	 * There is no steady state: times are NaN, and the rest too unless it was simulated (then
	 * load.overloaded is false: what grows is a queue whose load could not be computed).
	 */
	bool overloaded;
	struct arch_load load;
};

/* 0; the errors of arch_sim_run(); -ENOMEM. */
int arch_solve(struct arch_solution *out, const struct arch_model *m,
	       const struct arch_solve_options *o, struct err *err);
void arch_solution_release(struct arch_solution *s);

/* The name of a time: "users", "shop.buy", "shop.lock"; NULL without memory, to be freed. */
char *arch_time_name(const struct arch_model *m, uint32_t time);

#endif
