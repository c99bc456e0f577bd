/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window: every estimator of one device over one period, fed one request at a time.
 *
 * A window holds the requests that completed in its period, fed in order of arrival. Each is
 * credited whole to it, whenever it arrived (closed.h says why); arrivals a little out of order
 * are borne (each estimator's header says how). Memory is bounded whatever the load. The same code
 * runs live in the agent and offline in the analyzer, and gives the same answer.
 *
 * Not thread-safe: one window, one thread. No I/O, no clock, no logging.
 */
#ifndef WORKLOAD_WINDOW_H
#define WORKLOAD_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/profile/profile.h"
#include "formats/request.h"
#include "workload/window_room.h"

struct window_config {
	uint32_t subset_requests;    /* of Algorithm 1, up to 32768; 0: the default, 4096 */
	uint64_t client_interval_ns; /* 1/phi; 0: the default, 1 s */
	uint32_t mrc_samples;	     /* SHARDS bound, 64 to 65536; 0: the default, 8192 */
	uint64_t seed;	    /* of the spatial hashes; the same for all that are to be compared */
	bool leave_out_own; /* do not count REQUEST_OWN */
	bool leave_out_regions; /* no law of places and no miss-ratio curve: they are unknown */
	bool cheap;		/* counts, sizes and response times only: no locality, no pattern */
	struct window_room *room; /* borrowed, shared with other windows; NULL: none */
};

struct window;

/* 0, -ENOMEM, -EINVAL. begin_ns: CLOCK_MONOTONIC start of the period. */
int window_new(struct window **out, const struct window_config *config, uint64_t begin_ns);
void window_free(struct window *w);
/* Makes it ready for the next period, keeping the memory. What looks back over the whole stream
 * (reuse distances) stays; window_reset() forgets those too. */
void window_clear(struct window *w, uint64_t begin_ns);
void window_reset(struct window *w, uint64_t begin_ns);

/* Begins the next period as window_clear() does, after a pause: no time between is anybody's. */
void window_resume(struct window *w, uint64_t begin_ns);

/*
 * Nobody watched [begin_ns, end_ns) of the period: no gap between arrivals, no bin of the index of
 * dispersion and no think time reaches over it. Called between the requests that arrived before and
 * after it. Rates and means over time stay over the whole period: the caller knows the coverage.
 */
void window_unwatched(struct window *w, uint64_t begin_ns, uint64_t end_ns);

/*
 * Feeds one request that request_check() accepts. 0, or -ENOMEM: the request is then counted in
 * its operation but may be missing from other estimators, and the profile says so in quality.why.
 * O(1) amortized.
 */
int window_add(struct window *w, const struct request *r);
/* Feeds many; the fast path. Returns as window_add(). */
int window_add_many(struct window *w, const struct request *r, size_t nr);

/*
 * The estimators in groups that share no state, so that each group may be fed by a thread of its own;
 * every group must get the same requests in the same order. window_add_many() feeds all groups.
 */
enum window_lane {
	WINDOW_TIMES, /* counts, sizes, arrivals, threads; window_unwatched() belongs to this lane */
	WINDOW_RESPONSES, /* response times, and how references spread over the device */
	WINDOW_PATTERN,	  /* interleaved-sequential ratios */
	WINDOW_BLOCKS,	  /* footprint and reuse distances */
};
#define WINDOW_LANES 4

/* Feeds the estimators of one lane. Returns as window_add_many(). */
int window_add_lane(struct window *w, enum window_lane lane, const struct request *r, size_t nr);

/* One sample of the file set, taken every 1/phi: files, their total size. */
void window_add_fileset(struct window *w, uint64_t nr_files, uint64_t total_bytes);

/* Requests counted so far. */
uint64_t window_count(const struct window *w);

/* Bytes allocated, the struct included: 12 KiB when new, 2 MiB at full load. */
size_t window_memory(const struct window *w);

/*
 * Closes the period at end_ns (> begin_ns) and writes all estimates into p (initialized by the
 * caller, who also fills host, device, source, begin_s, end_s, lost and coverage before or after).
 * The window can go on being fed afterwards. -ENOMEM, -EINVAL.
 */
int window_profile(const struct window *w, uint64_t end_ns, struct profile *p);

#endif
