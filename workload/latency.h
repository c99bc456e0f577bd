/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency: response times per direction, stage and size class, and of flushes per stage, on the
 * native-histogram grid.
 *
 * Each request is recorded in its queue and device stage and in the total of its size class; the
 * total over all sizes is the sum of the classes, made when asked for. A stage whose ends the
 * source does not know takes nothing. Means are exact, quantiles within one bucket (2.2 %). Errors
 * and requeues are counted for every operation. Cost three histogram updates; memory 11 KiB per
 * histogram that has values, 23 at most; without flushes their three take none. Merge is exact in
 * any order.
 */
#ifndef WORKLOAD_LATENCY_H
#define WORKLOAD_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include "formats/profile/profile.h"
#include "formats/request.h"

struct latency_direction {
	struct histogram queue, device;
	struct histogram size_class[NR_SIZE_CLASSES]; /* total stage */
};

struct latency {
	struct latency_direction direction[2]; /* read, write */
	struct histogram flush[NR_STAGES];     /* a flush has no size: no classes */
	uint64_t errors;		       /* requests that failed */
	uint64_t requeues;		       /* times the driver handed one back */
	uint64_t paused; /* REQUEST_PAUSED: how long they took is not known, and not recorded */
};

/* A zeroed struct is empty; its histograms grow with use. After this each takes its memory whole at once. */
void latency_take_whole(struct latency *l);
void latency_release(struct latency *l);
/* Empties it, keeping the memory. */
void latency_clear(struct latency *l);
/* 0, or -ENOMEM: some durations are missing. */
int latency_add_many(struct latency *l, const struct request *r, size_t nr);
/* Adds the response times of reads, writes or flushes to out. 0, or -ENOMEM. */
int latency_responses(const struct latency *l, enum operation operation,
		      struct response_times *out);
size_t latency_memory(const struct latency *l);

#endif
