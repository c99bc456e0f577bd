/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency: response times per direction, stage and size class, and of flushes per stage, as
 * histograms of the native grid.
 *
 * Each request is recorded in its queue stage, in its device stage, and in the total of its size
 * class. The total over all sizes is the sum of the classes and is made on demand. A stage with an
 * unknown begin or end records nothing. Means are exact; quantiles are exact within one bucket (2.2
 * %). Errors and requeues are counted for every operation. A request costs three updates of a
 * histogram. A histogram that has values takes 11 KiB, and 23 KiB at most; the three histograms of
 * flushes take nothing where there are no flushes. Merging is exact in any order.
 */
#ifndef WORKLOAD_LATENCY_H
#define WORKLOAD_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "formats/profile/profile.h"
#include "formats/request.h"

struct latency_direction {
	struct histogram queue, device;
	struct histogram size_class[NR_SIZE_CLASSES]; /* total stage only */
};

struct latency {
	struct latency_direction direction[2]; /* read, write */
	struct histogram flush[NR_STAGES];     /* a flush has no size, hence no classes */
	uint64_t errors;		       /* requests that failed */
	uint64_t requeues;		       /* times that the driver returned a request to the
					        * queue */
	uint64_t paused; /* requests with REQUEST_PAUSED: their duration is unknown and is not
			  * recorded */
};

/*
 * A zeroed struct is empty, and its histograms grow with use. After this call each histogram
 * allocates all its memory at once.
 */
void latency_take_whole(struct latency *l);
void latency_release(struct latency *l);
/* Empties the struct and keeps its memory. */
void latency_clear(struct latency *l);
/* Returns 0, or -ENOMEM where some durations are missing. */
int latency_add_many(struct latency *l, const struct request *r, size_t nr);
/* Adds the response times of reads, writes or flushes to out. Returns 0 or -ENOMEM. */
int latency_responses(const struct latency *l, enum operation operation,
		      struct response_times *out);
size_t latency_memory(const struct latency *l);

#endif
