/* SPDX-License-Identifier: Apache-2.0 */
/* scan_match: a scan's filter, made ready for the ids of one segment. */
#ifndef ANALYZER_SCAN_MATCH_H
#define ANALYZER_SCAN_MATCH_H

#include "analyzer/store/scan/scan.h"
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

/* Returns whether the filter names this host, or none. It does not look at parts. */
bool scan_match_host(const struct scan_filter *f, const char *host);
/* Returns whether the filter takes a device of this number and name. */
bool scan_match_device(const struct scan_filter *f, uint32_t device, const char *name);
/* Returns whether the filter takes the request, apart from its device. O(log ids). */
bool scan_match_request(const struct scan_match *m, const struct request *r);

/* Cuts an interval on both clocks to the filter's times. Returns false where nothing is left. */
bool scan_match_cut(const struct scan_filter *f, struct scan_interval *i);
/*
 * Appends an interval to an array, or makes the last one longer where they touch and the interval
 * follows it in sequence. Sets *is_tangled where the array is then not in order of real time, or
 * overlaps. Returns 0 or -ENOMEM.
 */
int scan_match_append(struct scan_interval **all, size_t *nr, size_t *cap,
		      const struct scan_interval *i, bool follows, bool *is_tangled);
/*
 * Returns whether the agent kept the requests of a segment back. A segment in which nothing
 * happened looks the same in both cases; it counts like the segment before it, so that idle time
 * has the same share in the time that was sent as in the time that was kept back.
 */
bool scan_match_kept_back(const struct segment_header *h, uint64_t nr_requests, bool is_before);

#endif
