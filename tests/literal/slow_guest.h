/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_guest: a machine whose kernel throttles write-back, microsecond by microsecond, in the
 * variables and the order of Linux' block/blk-wbt.c. It shares no code with analyzer/replay/wbt.c.
 *
 * A program writes, waits, flushes, waits, thinks, and so on. When it begins to write, it has also
 * made pages dirty, which the kernel's thread begins to write back 200 us later, one request each
 * 5 us as far as it is let. The device serves one write after the other, each in the same time, and
 * a flush in one microsecond beside them. A device without a cache gets no flushes.
 */
#ifndef TESTS_SLOW_GUEST_H
#define TESTS_SLOW_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define SLOW_GUEST_PROGRAM 100 /* the thread of the program */

struct slow_guest {
	uint32_t service_us; /* of a write */
	uint32_t think_us;   /* from the end of a flush to the next write */
	uint32_t nr_rounds;  /* writes of the program */
	uint32_t nr_dirty;   /* requests of write-back for each */
	bool cache;	     /* the device has a volatile cache */
	bool throttles;
	/* results */
	uint32_t most_under_way; /* of what is throttled */
	uint64_t waits;		 /* requests that were held back */
};

/* Runs it. requests[] has room for nr_rounds * (nr_dirty + 2). Returns their number. */
size_t slow_guest_run(struct slow_guest *g, struct request *requests);

#endif
