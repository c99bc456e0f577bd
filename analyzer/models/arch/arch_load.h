/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch_load: what open scenarios demand of every resource, beside what the resource can do.
 *
 * Arrivals come whatever happens, so a resource that is asked for more work per second than its
 * servers can do has a queue that grows for ever: the response times have no steady state, and a
 * simulation of any length prints numbers that mean nothing. The load is measured by a simulation in
 * which nobody ever waits (as many servers as there are jobs), one open scenario at a time and from
 * its first arrival until the last user has left: the work a round brings, times the arrival rate.
 * Where the model gives means (of demands, of times between arrivals), these are taken in place of
 * what was drawn, so that the load of most models is exact.
 *
 * A passive resource is held at least as long as nobody waits for anything while holding it: its load
 * is a lower bound, as is that of a resource that closed scenarios use too. Storages have no
 * capacity that could be computed; arch_solve() watches whether requests pile up there.
 */
#ifndef ANALYZER_ARCH_LOAD_H
#define ANALYZER_ARCH_LOAD_H

#include "analyzer/models/arch/arch_model.h"

struct arch_load_item {
	double load;	 /* mean number of servers, or of units, that are needed at once */
	double low;	 /* of its interval; the same as load where that is exact */
	double capacity; /* how many there are; infinite for a delay */
	bool overloaded; /* beyond doubt */
};

/* A zeroed one is empty. */
struct arch_load {
	struct arch_load_item *resources, *passives; /* owned; by the indices of the model */
	bool open;	 /* some scenario is open; else all loads are 0 */
	bool overloaded; /* any of them */
};

/* 0; the errors of arch_sim_run(); -ENOMEM. */
int arch_load(struct arch_load *out, const struct arch_model *m, uint64_t seed, struct err *err);
/* "host.cpu: 1.6 of 1" for each that is overloaded, by commas; "" without any. */
void arch_load_describe(const struct arch_load *l, const struct arch_model *m, char *text,
			size_t size);
/* "host.cpu", "shop.lock": for free(); NULL without memory. */
char *arch_resource_name(const struct arch_model *m, uint32_t resource);
void arch_load_release(struct arch_load *l);

#endif
