/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device_chance: how far two runs of the same stored requests differ by chance on a simulated
 * device.
 *
 * Requests that wait for each other are not independent: where one of them is late, so are those
 * behind it, and the mean of many of them is less certain than their number tells
 * (device_times_chance()). So the requests are simulated again with other random numbers, and what
 * differs between these simulations is counted. Loads of very many requests are not simulated
 * again, since chance matters little there.
 */
#ifndef ANALYZER_WHATIF_SIMULATE_DEVICE_CHANCE_H
#define ANALYZER_WHATIF_SIMULATE_DEVICE_CHANCE_H

#include "analyzer/whatif/simulate/stored_sim.h"

/*
 * The bounds of |ln(one / other)| that nine in ten pairs of runs keep, by type and point; 0 where
 * a type has no requests.
 */
struct device_chance {
	double half[DEVICE_NR_TYPES][DEVICE_NR_POINTS];
};

/* Returns how many times a plan of so many requests is to be simulated again. */
size_t device_chance_turns(size_t nr_requests);
/*
 * Computes the bounds from the first simulation of one load, first, and from the nr others of it,
 * more: the larger one of what independent requests would differ by and of what these simulations
 * do.
 */
void device_chance_of(struct device_chance *c, const struct stored_result *first,
		      const struct stored_result *more, size_t nr);

#endif
