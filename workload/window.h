/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window: every estimator of one device over one period, fed with single requests.
 *
 * A window holds the requests that completed in its period, fed in order of arrival. Each request
 * counts wholly in that period, whenever it arrived (closed.h explains why). Arrivals slightly out
 * of order are allowed; the header of each estimator says how it treats them. Memory is bounded
 * whatever the load. The same code runs live in the agent and offline in the analyzer, and gives
 * the same result.
 *
 * Not thread-safe: one thread uses a window. A window does no I/O, reads no clock and logs nothing.
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
	/* bound on the samples, 64 to 65536; 0: the default, 8192, or 65536 with a room */
	uint32_t mrc_samples;
	uint64_t seed; /* seed of the spatial hashes; windows that are compared need the same */
	bool leave_out_own;	  /* REQUEST_OWN is not counted */
	bool leave_out_regions;	  /* neither distribution over addresses nor miss-ratio curve */
	bool cheap;		  /* only counts, sizes and response times */
	struct window_room *room; /* borrowed, shared with other windows; NULL: none */
};

struct window;

/* Returns 0, -ENOMEM or -EINVAL. begin_ns is the start of the period (CLOCK_MONOTONIC). */
int window_new(struct window **out, const struct window_config *config, uint64_t begin_ns);
void window_free(struct window *w);
/*
 * Prepares the window for the next period and keeps its memory. Estimators that look back over the
 * whole stream (reuse distances) keep their history.
 */
void window_clear(struct window *w, uint64_t begin_ns);

/*
 * Begins the next period after a pause, as window_clear() does; the time of the pause counts as no
 * think time and follows no flush.
 */
void window_resume(struct window *w, uint64_t begin_ns);

/*
 * Marks [begin_ns, end_ns) of the period as not observed. No gap between arrivals, no bin of the
 * index of dispersion and no think time extends over it. The call comes between the requests that
 * arrived before and after it. Rates and means over time still divide by the whole period; the
 * caller knows the coverage.
 */
void window_unwatched(struct window *w, uint64_t begin_ns, uint64_t end_ns);

/*
 * Feeds one request that request_check() accepts. Returns 0, or -ENOMEM: the request is then
 * counted in its operation but may be missing from other estimators, and the profile says so in
 * quality.why. Costs O(1) amortized.
 */
int window_add(struct window *w, const struct request *r);
/* Feeds many requests, faster than one by one. Returns as window_add() does. */
int window_add_many(struct window *w, const struct request *r, size_t nr);

/*
 * The groups of estimators that share no state, so that a thread of its own may feed each group.
 * Every group must get the same requests in the same order. window_add_many() feeds all groups.
 */
enum window_lane {
	WINDOW_TIMES,	  /* counts, sizes, arrivals, threads; window_unwatched() belongs here */
	WINDOW_RESPONSES, /* response times, and the distribution of accesses over the device */
	WINDOW_PATTERN,	  /* interleaved-sequential ratios */
	WINDOW_BLOCKS,	  /* footprint and reuse distances */
};
#define WINDOW_LANES 4

/* Feeds the estimators of one lane. Returns as window_add_many() does. */
int window_add_lane(struct window *w, enum window_lane lane, const struct request *r, size_t nr);

/* Adds one sample of the file set, taken every 1/phi: the number of files and their total size. */
void window_add_fileset(struct window *w, uint64_t nr_files, uint64_t total_bytes);

/* Returns the number of requests counted so far. */
uint64_t window_count(const struct window *w);

/* Returns the bytes allocated, including the struct: 20 KiB when new, 2 MiB at full load. */
size_t window_memory(const struct window *w);

/*
 * Closes the period at end_ns (> begin_ns) and writes all estimates into p. The caller has
 * initialized p, and fills in host, device, source, begin_s, end_s, lost and coverage before or
 * after the call. The window may be fed further afterwards. Returns 0, -ENOMEM or -EINVAL.
 */
int window_profile(const struct window *w, uint64_t end_ns, struct profile *p);

#endif
