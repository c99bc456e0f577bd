/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_closed: clients, requests in flight and think times by their definitions, over lists held in
 * full.
 */
#ifndef TESTS_SLOW_CLOSED_H
#define TESTS_SLOW_CLOSED_H

#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

/* Average over whole intervals of the distinct threads that submit in them, no kernel threads. */
double slow_clients_mean(const struct request *r, size_t nr, uint64_t begin_ns, uint64_t end_ns,
			 uint64_t interval_ns);
/* Integral of the number in flight over [begin, end), by sweeping over the sorted ends. */
double slow_in_flight_mean(const struct request *r, size_t nr, uint64_t begin_ns, uint64_t end_ns);
/*
 * Mean gap before a thread's request, where nothing of the thread was outstanding when it arrived
 * nor when the request before it did. NaN without one. O(n^2).
 */
double slow_think_time_mean_s(const struct request *r, size_t nr);

#endif
