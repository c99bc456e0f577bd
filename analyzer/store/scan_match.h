/* SPDX-License-Identifier: Apache-2.0 */
/* scan_match: a scan's filter, made ready for the ids of one segment. */
#ifndef ANALYZER_SCAN_MATCH_H
#define ANALYZER_SCAN_MATCH_H

#include "analyzer/store/scan.h"
#include "formats/segment/segment.h"

struct scan_match {
	const struct scan_filter *filter; /* borrowed */
	uint64_t *cgroups;		  /* owned; ids that are taken, ascending */
	size_t nr_cgroups;
	uint64_t *processes; /* owned; pids that are taken, ascending */
	size_t nr_processes;
	/* The filter's times on the segment's CLOCK_MONOTONIC; the end is exclusive. */
	uint64_t begin_ns, end_ns;
	bool all; /* every request of a taken device is taken */
};

void scan_match_init(struct scan_match *m, const struct scan_filter *filter);
void scan_match_release(struct scan_match *m);
/* Prepares the filter for the requests of the segment with this header. Returns 0 or -ENOMEM. */
int scan_match_segment(struct scan_match *m, const struct segment_header *h);

/* Returns whether the filter takes a device of this number and name. */
bool scan_match_device(const struct scan_filter *f, uint32_t device, const char *name);
/* Returns whether the filter takes the request, apart from its device. O(log ids). */
bool scan_match_request(const struct scan_match *m, const struct request *r);

#endif
