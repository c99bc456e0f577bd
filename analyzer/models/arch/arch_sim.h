/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_sim: discrete-event simulation of a software system and those who use it.
 *
 * Each user is a thread of behaviours; forks make more of them. A resource of policy PS serves all
 * its jobs at rate min(1, servers / jobs), by virtual time; FCFS and passive resources keep a
 * queue; delay serves at once. A storage asks its I/O analysis model (storage.h). All users of a
 * closed scenario begin at time 0 and think after each round. A call between containers that a
 * link joins passes the link both ways: bytes / throughput + latency, one at a time, where bytes
 * is the sum of the BYTESIZE of what is handed over, and of what the callee set on the way back;
 * X.INNER.BYTESIZE, and X.INNER.part.BYTESIZE, count X.NUMBER_OF_ELEMENTS times.
 *
 * Every instance and every scenario draws from a stream of its own (common random numbers). One
 * simulation belongs to one thread; many may share a model. Cost O(log n) per event.
 */
#ifndef ANALYZER_ARCH_SIM_H
#define ANALYZER_ARCH_SIM_H

#include <stdint.h>

#include "analyzer/models/arch/arch_model.h"
#include "analyzer/models/sim/qhist.h"

/* Actions in one instant after which time is taken to stand still. */
#define ARCH_SIM_MAX_STEPS 50000000
/* Threads after which an open scenario is taken to be unstable. */
#define ARCH_SIM_MAX_THREADS 2000000

struct arch_sim;

/* Durations of one kind since the last collection. */
struct arch_times {
	double sum, squares, nr;
};

/*
 * What happened in a stretch of model time. times: nr_scenarios rounds, then nr_measures, then
 * nr_passives waits. levels, integrals over time: busy servers and jobs of each resource, held and
 * waiting of each passive, requests in service of each storage. controls: sums that are 0 in
 * expectation, of demands less their mean (in seconds of service, by resource) and of times between
 * rounds or arrivals less theirs (by scenario); 0 where a mean is not known. A zeroed struct is
 * empty.
 */
struct arch_sample {
	double duration;
	uint64_t events;
	uint32_t nr_times, nr_levels, nr_controls;
	struct arch_times *times; /* owned, as all below */
	struct qhist *hists;	  /* by times */
	double *levels;
	double *done;	  /* by resource: jobs that ended */
	double *controls; /* by resource, then by scenario */
	uint32_t nr_resources;
	uint64_t asked, outside; /* of the storages' models */
};

/* -ENOMEM; -EINVAL where a rate or a population is impossible. The model is borrowed. */
int arch_sim_new(struct arch_sim **out, const struct arch_model *m, uint64_t seed, struct err *err);
/*
 * The same for arch_load.h: one open scenario alone, without queues: every resource serves at once,
 * passive resources have as many units as it takes, requests to storages take no time.
 */
int arch_sim_new_alone(struct arch_sim **out, const struct arch_model *m, uint32_t scenario,
		       uint64_t seed, struct err *err);
void arch_sim_free(struct arch_sim *s);

/*
 * Runs until model time `until` or until nr_events more have happened. -EINVAL, -ENOENT, -ERANGE:
 * an expression that has no value (file and line in err); -ELOOP: time stands still; -EOVERFLOW:
 * more than ARCH_SIM_MAX_THREADS; -EDEADLK: all wait for passive resources; -ENOMEM.
 */
int arch_sim_run(struct arch_sim *s, double until, uint64_t nr_events, struct err *err);
/* Of a simulation alone: lets no more users in, and runs until the last has left. As above. */
int arch_sim_drain(struct arch_sim *s, struct err *err);
double arch_sim_now(const struct arch_sim *s);
/* Seconds of service that a resource was asked for since the beginning; units of a passive one. */
double arch_sim_work(const struct arch_sim *s, uint32_t resource);
double arch_sim_capacity(const struct arch_sim *s, uint32_t passive);

/* Hands over what was gathered since the last time and starts anew. 0 or -ENOMEM. */
int arch_sim_collect(struct arch_sim *s, struct arch_sample *out);

int arch_sample_init(struct arch_sample *x, const struct arch_model *m);
void arch_sample_release(struct arch_sample *x);
/* dst += src; 0 or -ENOMEM. */
int arch_sample_merge(struct arch_sample *dst, const struct arch_sample *src);

/* Called at each end of a round, of an operation, of an io: for tests and traces. */
void arch_sim_watch(struct arch_sim *s,
		    void (*watch)(void *ctx, uint32_t index, double begin, double end), void *ctx);

/* Where things stand in a sample. */
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
