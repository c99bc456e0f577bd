/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_found: what requests find when they arrive, by the definitions and over complete arrays:
 * every request looks at all requests before it, and a bucket is found by going through all
 * of them.
 */
#ifndef TESTS_SLOW_FOUND_H
#define TESTS_SLOW_FOUND_H

#include <stddef.h>
#include <stdint.h>

#include "formats/profile/arrival_tally.h"
#include "formats/request.h"

struct slow_found {
	uint64_t counts[2][NR_TALLIES][TALLY_NR_MOST]; /* by direction, kind and index */
};

/*
 * Counts the requests [from, nr). Those before `from` were counted in an earlier period and are
 * only found. The array is in the order in which requests are fed.
 */
void slow_found(const struct request *r, size_t from, size_t nr, struct slow_found *out);

#endif
