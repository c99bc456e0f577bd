/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_sequential: Algorithm 1 as it is written, and the share of requests in streams as it is
 * defined. O(n^2).
 */
#ifndef TESTS_SLOW_SEQUENTIAL_H
#define TESTS_SLOW_SEQUENTIAL_H

#include <stddef.h>
#include <stdint.h>

struct slow_range {
	uint64_t start, end;
};

/* Requests counted in one subset. Works on the list in place: removed requests are cut out. */
uint64_t slow_sequential_count(struct slow_range *list, size_t nr);
/* Requests that continue an earlier one or are continued by a later one. */
uint64_t slow_sequential_streaming(const struct slow_range *list, size_t nr);
/* Requests that begin where an earlier one of the list ended. */
uint64_t slow_sequential_continuing(const struct slow_range *list, size_t nr);

#endif
