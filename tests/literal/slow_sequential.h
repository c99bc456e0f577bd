/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_sequential: Algorithm 1 of docs/methods.md as it is written, and the share of requests in
 * streams as it is defined. Costs O(n^2).
 */
#ifndef TESTS_SLOW_SEQUENTIAL_H
#define TESTS_SLOW_SEQUENTIAL_H

#include <stddef.h>
#include <stdint.h>

struct slow_range {
	uint64_t start, end;
};

/*
 * Returns the requests counted in one subset. It works on the list in place and removes the counted
 * requests from it.
 */
uint64_t slow_sequential_count(struct slow_range *list, size_t nr);
/* Returns the requests that continue an earlier one or are continued by a later one. */
uint64_t slow_sequential_streaming(const struct slow_range *list, size_t nr);
/* Returns the requests that begin where an earlier one of the list ended. */
uint64_t slow_sequential_continuing(const struct slow_range *list, size_t nr);

#endif
