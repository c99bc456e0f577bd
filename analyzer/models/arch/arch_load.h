/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_load: compares the work that open scenarios require of every resource with the capacity of
 * the resource.
 *
 * The arrivals of an open scenario do not depend on the response times. If a resource is asked for
 * more work per second than its servers can do, its queue grows without end: the response times
 * have no steady state, and the results of a simulation of any length are meaningless. The load is
 * measured by a simulation without waiting (every resource has as many servers as jobs). It runs
 * one open scenario at a time, from its first arrival until the last user has left. The load is
 * the work per round times the arrival rate. If the model gives means (of demands, of times
 * between arrivals), they replace the drawn values, so that the load of most models is exact.
 *
 * A passive resource is held at least as long as its holder would hold it without waiting for
 * anything. Its load is therefore a lower bound, as is the load of a resource that closed
 * scenarios use too. The capacity of storages cannot be computed; arch_solve() observes whether
 * requests accumulate there.
 */
#ifndef ANALYZER_ARCH_LOAD_H
#define ANALYZER_ARCH_LOAD_H

#include "analyzer/models/arch/arch_model.h"

struct arch_load_item {
	double load;	 /* mean number of servers or units that are needed at the same time */
	double low;	 /* lower end of the interval of load; equal to load if that is exact */
	double capacity; /* number of servers or units; infinite for a delay */
	bool overloaded; /* statistically significant */
};

/* A zeroed load is empty. */
struct arch_load {
	struct arch_load_item *resources, *passives; /* owned; by the indices of the model */
	bool open;	 /* whether a scenario is open; otherwise all loads are 0 */
	bool overloaded; /* whether any resource is overloaded */
};

/* Computes the loads. Returns 0, an error of arch_sim_run(), or -ENOMEM. */
int arch_load(struct arch_load *out, const struct arch_model *m, uint64_t seed, struct err *err);
/*
 * Writes "host.cpu: 1.6 of 1" for each overloaded resource, separated by commas; "" if there is
 * none.
 */
void arch_load_describe(const struct arch_load *l, const struct arch_model *m, char *text,
			size_t size);
/*
 * Returns "host.cpu" or "shop.lock" for example. The caller frees the name. Returns NULL if there
 * is no memory.
 */
char *arch_resource_name(const struct arch_model *m, uint32_t resource);
void arch_load_release(struct arch_load *l);

#endif
