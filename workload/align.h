/* SPDX-License-Identifier: Apache-2.0 */
/*
 * align: several hosts and devices at once, on one clock: the load of their sum, second by second.
 *
 * Each stream (a host and a device) has a series of requests and bytes per interval of
 * CLOCK_REALTIME. Over all streams: mean, P95, P99 and maximum of the sum, when that maximum was
 * and who made it, beside the sum of each stream's own maximum: the difference is what is saved by
 * not adding high-water marks that never coincide.
 *
 * The interval is 1 s. Memory is bounded: max_cells intervals over all streams (16 bytes each);
 * where one more would not fit, neighbouring intervals are joined everywhere and the interval is
 * twice as long. Intervals begin at whole multiples of their length since 1970, so that series of
 * any two collectors lie on one another and merging is exact in any order. Streams are known by
 * their names; the same name is the same stream.
 *
 * Not thread-safe. Cost O(1) per call amortized; the sums O(cells + intervals log intervals).
 */
#ifndef WORKLOAD_ALIGN_H
#define WORKLOAD_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "formats/profile/profile.h"

#define ALIGN_MAX_CELLS	  (1u << 22) /* the default: 48 streams for a day at 1 s, 64 MiB */
#define ALIGN_MAX_STREAMS 65536
#define ALIGN_NR_MAKERS	  8

enum align_quantity {
	ALIGN_REQUESTS,
	ALIGN_BYTES,
};
#define NR_ALIGN_QUANTITIES 2

struct align;

/* What one stream has in the interval of the maximum. */
struct align_maker {
	uint32_t stream; /* for align_host() and align_device() */
	double per_s;
	double share; /* of the sum in that interval, 0..1 */
};

/* Rates per second, over the intervals from the first to the last with any load. */
struct align_sum {
	double interval_s;
	size_t nr_intervals;
	double mean_per_s, p95_per_s, p99_per_s;
	double max_per_s;
	double max_begin_s;	/* CLOCK_REALTIME: where its interval begins; the first of equals */
	double own_peaks_per_s; /* sum of each stream's own maximum; >= max_per_s */
	uint32_t nr_streams;	/* with any load */
	struct align_maker makers[ALIGN_NR_MAKERS]; /* of the maximum, the largest first */
	size_t nr_makers;
};

/* max_cells 0: the default. 0, -ENOMEM. */
int align_new(struct align **out, size_t max_cells);
void align_free(struct align *a);
/*
 * The stream of that host and device, made if it is new. Names are cut to PROFILE_NAME_BYTES - 1.
 * 0, -ENOMEM, -ENOSPC past ALIGN_MAX_STREAMS.
 */
int align_stream(struct align *a, const char *host, const char *device, uint32_t *out);
/* Load that arrived at real_ns on a stream. 0, -ENOMEM (not counted), -EINVAL: no such stream. */
int align_add(struct align *a, uint32_t stream, uint64_t real_ns, uint64_t requests,
	      uint64_t bytes);
/* Zeroes and NaN rates without any load. 0, -ENOMEM. */
int align_sum(const struct align *a, enum align_quantity quantity, struct align_sum *out);

uint32_t align_nr_streams(const struct align *a);
/* Borrowed until align_free(). */
const char *align_host(const struct align *a, uint32_t stream);
const char *align_device(const struct align *a, uint32_t stream);
/* Length of the intervals now. */
double align_interval_s(const struct align *a);

#endif
