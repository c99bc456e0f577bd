/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prefetch: sequential streams as the array sees them, and how far ahead of each it stages (AMP,
 * Gill and Bathen, FAST 2007). A request that begins where a stream ended belongs to it. From its
 * request number `prefetch_after` on a stream has `degree` pages staged ahead, the next lot when
 * its reader comes within `trigger` pages of the end of what was staged; the degree grows by the
 * request where a reader uses up a lot, the trigger where he has to wait for one.
 */
#ifndef SUS_PREFETCH_H
#define SUS_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/system-under-study/sus_params.h"

#define PREFETCH_STREAMS 4096u
#define PREFETCH_BUCKETS 16384u
#define PREFETCH_NONE	 UINT32_MAX

struct stream {
	uint64_t next;	     /* sector at which it would go on */
	uint64_t staged_end; /* page after the last that was asked for; 0: none */
	uint32_t length;     /* requests so far */
	uint32_t degree, trigger;
	uint32_t chain; /* in its bucket */
};

struct prefetch {
	const struct sus_params *p;
	struct stream *streams; /* owned */
	uint32_t *buckets;	/* owned */
	uint32_t nr, oldest;
};

/* Pages to stage ahead, none where nr is 0. */
struct prefetch_order {
	uint64_t first;
	uint32_t nr;
};

/* 0 or -ENOMEM. */
int prefetch_init(struct prefetch *f, const struct sus_params *p);
void prefetch_release(struct prefetch *f);
/*
 * A read of sectors first..first+nr-1. waits: some of its pages are not in the cache. Nothing at or
 * beyond page `end` is ordered.
 */
struct prefetch_order prefetch_read(struct prefetch *f, uint64_t first, uint32_t nr, bool waits,
				    uint64_t end);

#endif
