/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_solve: simulates a software system until its response times are known with the required
 * precision.
 *
 * Independent replications run on all processors. Each is cut into batches, and the warm-up is
 * left out (MSER on the levels of its resources). The number and the length of replications depend
 * on the precision. The result is determined by the random seed alone, for any number of threads.
 *
 * If the open scenarios of a model bring more work than can be served, there is no steady state:
 * response times grow with the length of the simulation. The load (arch_load.h) shows this before
 * anything is simulated. Otherwise, the number of waiting jobs at the half and at the end of each
 * replication shows it. That number doubles if queues grow without end, and grows at most with the
 * square root of time if they do not.
 */
#ifndef ANALYZER_ARCH_SOLVE_H
#define ANALYZER_ARCH_SOLVE_H

#include "analyzer/models/arch/arch_load.h"
#include "analyzer/models/arch/arch_sim.h"
#include "analyzer/models/num/checkpoint.h"
#include "analyzer/models/sim/interval.h"
#include "analyzer/models/solve/solve.h"

#define ARCH_SOLVE_DEFAULTS                                                                   \
	{                                                                                     \
		.precision = 0.01, .seed = 1, .max_events = 1000000000, .nr_replications = 16 \
	}

struct arch_resource_result {
	double utilization; /* busy share of the servers; of a delay: mean number of jobs */
	double jobs;	    /* mean number of jobs in service and waiting */
	double throughput;  /* jobs per second */
};

/* The arrays are owned, and have the indices of the model. */
struct arch_solution {
	struct time_estimate *times; /* scenarios, measures and passives as in struct arch_sample */
	double *nr;		     /* number of measured values for each of times */
	struct interval *throughput; /* per second, for each of times */
	uint32_t nr_times;
	/* the throughput of a passive resource is NaN */
	struct arch_resource_result *resources, *passives;
	double *storage_jobs; /* mean number of requests in service */
	uint64_t events, asked, outside;
	double model_time, warm_up; /* seconds over all replications */
	size_t nr_replications;
	double precision; /* the precision that was reached */
	/*
	 * True if there is no steady state: times are NaN. The other values are NaN too unless the
	 * model was simulated. In that case load.overloaded is false, because the growing queue
	 * has a load that could not be computed.
	 */
	bool overloaded;
	struct arch_load load;
};

/* Returns 0, an error of arch_sim_run(), or -ENOMEM. */
int arch_solve(struct arch_solution *out, const struct arch_model *m, const struct solve_options *o,
	       struct err *err);
void arch_solution_release(struct arch_solution *s);
/*
 * Makes a solution without its results, for arch_solution_walk(): its load is known, and where this
 * is too much, overloaded is true and there is nothing to simulate. Returns what arch_solve()
 * returns.
 */
int arch_solution_begin(struct arch_solution *s, const struct arch_model *m,
			const struct solve_options *o, struct err *err);
/* Names all results but the load, to record them or to take them from a record. */
void arch_solution_walk(struct arch_solution *s, const struct arch_model *m,
			struct checkpoint_values *v);

/*
 * Returns the name of a time, such as "users", "shop.buy" or "shop.lock", which the caller frees;
 * NULL if there is no memory.
 */
char *arch_time_name(const struct arch_model *m, uint32_t time);

#endif
