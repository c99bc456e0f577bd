/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_closed: computes clients, requests in flight and think times by their definitions, over
 * complete lists.
 */
#ifndef TESTS_SLOW_CLOSED_H
#define TESTS_SLOW_CLOSED_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/*
 * Returns the mean over whole intervals of the number of distinct threads that submit in them,
 * without kernel threads.
 */
double slow_clients_mean(const struct request *r, size_t nr, uint64_t begin_ns, uint64_t end_ns,
			 uint64_t interval_ns);
/*
 * Returns the integral of the number of requests in flight over [begin_ns, end_ns), computed by a
 * sweep over the sorted ends.
 */
double slow_in_flight_mean(const struct request *r, size_t nr, uint64_t begin_ns, uint64_t end_ns);
/*
 * Returns the mean gap before a request of a thread, where nothing of the thread was outstanding
 * when the request arrived, nor when the request before it arrived. Returns NaN without such a gap.
 * Costs O(n^2).
 */
double slow_think_time_mean_s(const struct request *r, size_t nr);

#endif
