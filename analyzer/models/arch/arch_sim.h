/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_sim: discrete-event simulation of a software system and of its users.
 *
 * Each user is a thread that runs behaviours; forks create more threads. A resource of policy PS
 * serves all its jobs at the rate min(1, servers / jobs), by virtual time. FCFS and passive
 * resources have a queue. A delay serves every job at once. A storage asks its I/O analysis model
 * (storage.h). All users of a closed scenario begin at time 0, and think after each round. A call
 * between containers that a link joins passes the link in both directions, one message at a time.
 * The time is bytes / throughput + latency. The bytes are the sum of the BYTESIZE values of the
 * arguments, and on the way back of the variables that the callee set. X.INNER.BYTESIZE and
 * X.INNER.part.BYTESIZE count X.NUMBER_OF_ELEMENTS times.
 *
 * Every instance and every scenario draws from a stream of random numbers of its own (common
 * random numbers). One simulation belongs to one thread of the program; many simulations may share
 * a model. An event costs O(log n).
 */
#ifndef ANALYZER_ARCH_SIM_H
#define ANALYZER_ARCH_SIM_H

#include <stdint.h>

#include "analyzer/models/arch/arch_model.h"
#include "analyzer/models/sim/qhist.h"

/* After this number of actions at one instant, the simulation assumes that time stands still. */
#define ARCH_SIM_MAX_STEPS 50000000
/* An open scenario with more threads than this is assumed to be unstable. */
#define ARCH_SIM_MAX_THREADS 2000000

struct arch_sim;

/* This struct holds the durations of one kind since the last collection. */
struct arch_times {
	double sum, squares, nr;
};

/*
 * The statistics of an interval of model time.
 *
 * times has nr_scenarios rounds, then nr_measures, then nr_passives waits. levels has integrals
 * over time: busy servers and jobs of each resource, held and waiting of each passive resource,
 * requests in service of each storage. controls has sums whose expectation is 0 (control
 * variates): demands minus their mean (in seconds of service, by resource), and times between
 * rounds or arrivals minus their mean (by scenario). A control is 0 if its mean is not known. A
 * zeroed struct is empty.
 */
struct arch_sample {
	double duration;
	uint64_t events;
	uint32_t nr_times, nr_levels, nr_controls;
	struct arch_times *times; /* owned, as all below */
	struct qhist *hists;	  /* one for each of times */
	double *levels;
	double *done;	  /* by resource: number of completed jobs */
	double *controls; /* by resource, then by scenario */
	uint32_t nr_resources;
	/* requests to the storages' models, and those outside of their range */
	uint64_t asked, outside;
};

/* Returns 0, -ENOMEM, or -EINVAL if a rate or a population is impossible. The model is borrowed. */
int arch_sim_new(struct arch_sim **out, const struct arch_model *m, uint64_t seed, struct err *err);
/*
 * Creates a simulation for arch_load.h. The simulation has one open scenario and no queues: every
 * resource serves at once, passive resources have as many units as needed, and requests to storages
 * take no time.
 */
int arch_sim_new_alone(struct arch_sim **out, const struct arch_model *m, uint32_t scenario,
		       uint64_t seed, struct err *err);
void arch_sim_free(struct arch_sim *s);

/*
 * Runs until the model time `until`, or until nr_events more events have happened. Returns 0;
 * -EINVAL, -ENOENT or -ERANGE for an expression that has no value (err has file and line); -ELOOP
 * if time stands still; -EOVERFLOW for more than ARCH_SIM_MAX_THREADS threads; -EDEADLK if all
 * threads wait for passive resources; or -ENOMEM.
 */
int arch_sim_run(struct arch_sim *s, double until, uint64_t nr_events, struct err *err);
/*
 * Stops arrivals of a simulation of arch_sim_new_alone(), and runs until the last user has left.
 * Errors are as above.
 */
int arch_sim_drain(struct arch_sim *s, struct err *err);
double arch_sim_now(const struct arch_sim *s);
/*
 * arch_sim_work() returns the seconds of service that a resource was asked for since the
 * beginning; arch_sim_capacity() returns the units of a passive resource.
 */
double arch_sim_work(const struct arch_sim *s, uint32_t resource);
double arch_sim_capacity(const struct arch_sim *s, uint32_t passive);

/* Moves the statistics since the last call to out and starts again. Returns 0 or -ENOMEM. */
int arch_sim_collect(struct arch_sim *s, struct arch_sample *out);

int arch_sample_init(struct arch_sample *x, const struct arch_model *m);
void arch_sample_release(struct arch_sample *x);
/* Computes dst += src. Returns 0 or -ENOMEM. */
int arch_sample_merge(struct arch_sample *dst, const struct arch_sample *src);
/* Names the parts of a sample, as struct parallel says. A received sample was zeroed before. */
int arch_sample_pieces(struct arch_sample *x, const struct arch_model *m, struct parallel_bytes *b);

/* The functions below return indices into the levels of a sample. */
static inline uint32_t arch_level_busy(uint32_t resource)
{
	return 2 * resource;
}

static inline uint32_t arch_level_jobs(uint32_t resource)
{
	return 2 * resource + 1;
}

static inline uint32_t arch_level_held(const struct arch_model *m, uint32_t passive)
{
	return 2 * m->nr_resources + 2 * passive;
}

static inline uint32_t arch_level_waiting(const struct arch_model *m, uint32_t passive)
{
	return 2 * m->nr_resources + 2 * passive + 1;
}

static inline uint32_t arch_level_storage(const struct arch_model *m, uint32_t storage)
{
	return 2 * m->nr_resources + 2 * m->nr_passives + storage;
}

#endif
