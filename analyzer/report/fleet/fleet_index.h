/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_index: finds what a scan says of a device or a host without a look at all streams and
 * traces for each of them, so that a report on 10 000 hosts takes time in proportion to them.
 *
 * It is made once after the scan: the streams sorted by host and device, and the watched intervals
 * sorted by host and time. The scan must outlive it.
 */
#ifndef ANALYZER_REPORT_FLEET_FLEET_INDEX_H
#define ANALYZER_REPORT_FLEET_FLEET_INDEX_H

#include <stdbool.h>

#include "analyzer/store/scan/scan.h"
#include "formats/profile/profile.h"

struct fleet_time {
	const char *host;
	uint64_t begin_ns, end_ns;
};

struct fleet_times {
	struct fleet_time *items; /* owned */
	size_t nr, cap;
};

struct fleet_index {
	const struct scan_stream **streams; /* owned; those with a size, by host, name and number */
	size_t nr_streams;
	struct fleet_times watched; /* by host and begin */
};

/* Returns 0 or -ENOMEM. Release *x whatever this returns. */
int fleet_index_init(struct fleet_index *x, const struct scan *scan);
void fleet_index_release(struct fleet_index *x);
/* Returns the size of the profile's device, or NaN if the size is unknown. */
double fleet_index_size_bytes(const struct fleet_index *x, const struct profile *p);
/*
 * Appends the intervals of [begin_ns, end_ns) in which the host was watched. Where the scan has no
 * record of the host there, the whole interval counts as watched. Returns 0 or -ENOMEM.
 */
int fleet_index_watched(const struct fleet_index *x, const char *host, uint64_t begin_ns,
			uint64_t end_ns, struct fleet_times *out);
/* Sorts the intervals of all hosts by time, and joins those that touch. */
void fleet_times_join(struct fleet_times *t);
/*
 * Returns the seconds of [begin_ns, end_ns) in joined intervals. *at is 0 for the first call;
 * begins and ends of later calls must not fall.
 */
double fleet_times_within_s(const struct fleet_times *t, size_t *at, uint64_t begin_ns,
			    uint64_t end_ns);

#endif
