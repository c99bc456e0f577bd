/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align: combines several hosts and devices on one clock and describes the load of their sum.
 *
 * Each stream (one device of one host) has a series of requests and bytes per interval of
 * CLOCK_REALTIME. Over all streams align gives the mean, P95, P99 and maximum of the sum, the time
 * of that maximum, and the streams that contributed most to it. Beside these it gives the sum of
 * each stream's own maximum. The difference between the two maxima is the capacity that is saved
 * where the streams do not peak at the same time.
 *
 * An interval has 1 s at first. Memory is bounded by max_cells intervals over all streams (16 bytes
 * each). Where one more interval would not fit, neighbouring intervals of all streams are joined
 * and the interval becomes twice as long. Intervals begin at whole multiples of their length since
 * 1970. The intervals of any two collectors therefore coincide, and merging is exact in any order.
 * A stream is identified by its names: equal names are the same stream.
 *
 * Not thread-safe. A call costs O(1) amortized; the sums cost O(cells + intervals log intervals).
 */
#ifndef WORKLOAD_ALIGN_H
#define WORKLOAD_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "formats/profile/profile.h"

#define ALIGN_MAX_CELLS	  (1u << 22) /* the default: enough for 48 streams, one day, 1 s; 64 MiB */
#define ALIGN_MAX_STREAMS 65536
#define ALIGN_NR_MAKERS	  8

enum align_quantity {
	ALIGN_REQUESTS,
	ALIGN_BYTES,
};
#define NR_ALIGN_QUANTITIES 2

struct align;

/* The contribution of one stream to the interval of the maximum. */
struct align_maker {
	uint32_t stream; /* for align_host() and align_device() */
	double per_s;
	double share; /* share of the sum in that interval, 0..1 */
};

/* Rates per second, over the intervals from the first to the last that has any load. */
struct align_sum {
	double interval_s;
	size_t nr_intervals;
	double begin_s; /* begin of the first interval, CLOCK_REALTIME */
	double total;	/* all load */
	double mean_per_s, p95_per_s, p99_per_s;
	double max_per_s;
	double max_begin_s; /* begin of the maximum's interval, CLOCK_REALTIME; first of equals */
	double own_peaks_per_s; /* sum of each stream's own maximum; >= max_per_s */
	uint32_t nr_streams;	/* streams with any load */
	struct align_maker makers[ALIGN_NR_MAKERS]; /* makers of the maximum, in descending order */
	size_t nr_makers;
};

/* max_cells 0 selects the default. Returns 0 or -ENOMEM. */
int align_new(struct align **out, size_t max_cells);
void align_free(struct align *a);
/*
 * Finds the stream of that host and device, and creates it where it is new. Names are cut to
 * PROFILE_NAME_BYTES - 1. Returns 0, -ENOMEM, or -ENOSPC beyond ALIGN_MAX_STREAMS.
 */
int align_stream(struct align *a, const char *host, const char *device, uint32_t *out);
/*
 * Adds load that arrived on a stream at real_ns. Returns 0, -ENOMEM (the load is not counted), or
 * -EINVAL where there is no such stream.
 */
int align_add(struct align *a, uint32_t stream, uint64_t real_ns, uint64_t requests,
	      uint64_t bytes);
/*
 * Orders the streams by the names of host and device, so that their numbers do not depend on which
 * load came first. Numbers given before are no longer valid.
 */
void align_sort(struct align *a);
/* Appends everything to out, for align_join() in another process. Returns 0 or -ENOMEM. */
int align_write(const struct align *a, struct buf *out);
/*
 * Adds what align_write() wrote. Where align_has_room() holds afterwards, the sums are those of one
 * collector that was given all the load in any order. Returns 0, -ENOMEM, -ENOSPC or -EBADMSG.
 */
int align_join(struct align *a, struct cursor *in);
/*
 * Returns whether intervals have their first length, and would have had it in any order of the
 * load. Close to the bound this depends on the number of cells that were allocated ahead.
 */
bool align_has_room(const struct align *a);

/* Fills out; without load it gets zeros, and NaN for the rates. Returns 0 or -ENOMEM. */
int align_sum(const struct align *a, enum align_quantity quantity, struct align_sum *out);
/* Does the same without nr_unwatched intervals, in which nobody watched and which have no load. */
int align_sum_watched(const struct align *a, enum align_quantity quantity, size_t nr_unwatched,
		      struct align_sum *out);

uint32_t align_nr_streams(const struct align *a);
/* Return the names of a stream, which are valid until align_free(). */
const char *align_host(const struct align *a, uint32_t stream);
const char *align_device(const struct align *a, uint32_t stream);
/* Returns the current length of an interval. */
double align_interval_s(const struct align *a);

#endif
