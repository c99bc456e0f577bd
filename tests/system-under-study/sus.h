/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sus: the system under study, a discrete-event simulation of a cached RAID array, of the hosts
 * that use it and of the benchmark that runs there. It is what models are calibrated on in place of
 * a measured machine, and shares nothing with them but random numbers and an event queue.
 *
 * A request: client -> deadline scheduler and queue depth of its virtual machine (host.h) -> path
 * -> channel processor -> (writes: link) -> array processors -> volatile cache, staging and
 * prefetch, or non-volatile cache (array.h) -> (reads: link) -> path -> client, who issues the next
 * one at once. Single servers are first come, first served. Fixed by seed.
 *
 * Caches begin as the making of the file set leaves them. Where there are writes and the file set
 * is larger than what the non-volatile memory keeps, it is brought to its steady state without
 * time. Measured from the truncation that MSER finds among batches, until the interval of each
 * class's mean response is narrow enough and the non-volatile cache in balance.
 */
#ifndef SUS_SUS_H
#define SUS_SUS_H

#include "formats/histogram.h"
#include "tests/system-under-study/disk_array.h"
#include "tests/system-under-study/sus_load.h"

struct sus_options {
	double precision;      /* relative half-width at 95 % of each class's mean response */
	uint64_t max_requests; /* measured and not */
	uint64_t seed;
};

#define SUS_OPTIONS                                                    \
	{                                                              \
		.precision = 0.015, .max_requests = 1000000, .seed = 1 \
	}

struct sus_class_result {
	uint64_t nr;
	double mean_s, sd_s, throughput; /* NaN: none */
	double half_s;			 /* half the interval of the mean */
	struct histogram histogram;	 /* owned */
};

struct sus_result {
	struct sus_class_result classes[LOAD_CLASSES];
	double time_s; /* measured */
	uint64_t requests;
	double hit_ratio;	 /* of read pages; NaN without reads */
	double disk_utilization; /* mean of the disks, over the whole run */
	struct array_counts counts;
};

/* 0, -ENOMEM, or -EINVAL for a load that cannot be (no clients, sizes, too many classes). */
int sus_run(struct sus_result *out, const struct sus_params *p, const struct load *l,
	    const struct sus_options *o);
void sus_result_release(struct sus_result *r);

#endif
