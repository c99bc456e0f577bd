/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watched: finds the time in which a host was observed according to the segments of a scan, and the
 * time in which it was not.
 *
 * Times are real time in ns. Time that several traces cover counts once. Segments that the scan has
 * not read yet are not known, so the answer is complete only after the end of the scan. To find one
 * interval costs O(traces), plus O(log intervals) for each trace of the host, or O(intervals) for a
 * trace whose clock went back.
 */
#ifndef ANALYZER_WATCHED_H
#define ANALYZER_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/scan/scan.h"

struct watched_interval {
	uint64_t begin_ns, end_ns;
};

/*
 * Returns the index of the first of nr intervals of a trace that may end after at_ns, or nr where
 * none does. is_tangled: that of the trace.
 */
size_t watched_first(const struct scan_interval *all, size_t nr, bool is_tangled, uint64_t at_ns);
/*
 * Finds the first unbroken observed interval at or after at_ns. Returns false where there is none.
 */
bool watched_next(const struct scan *scan, const char *host, uint64_t at_ns,
		  struct watched_interval *out);
/*
 * Returns the observed nanoseconds of [begin, end). *last_ns becomes the end of the last observed
 * part, or begin.
 */
uint64_t watched_ns(const struct scan *scan, const char *host, uint64_t begin_ns, uint64_t end_ns,
		    uint64_t *last_ns);
/*
 * Lists the intervals of [begin, end) that were not observed, in order. The caller frees *out.
 * Returns 0 or -ENOMEM.
 */
int watched_gaps(const struct scan *scan, const char *host, uint64_t begin_ns, uint64_t end_ns,
		 struct watched_interval **out, size_t *nr);

#endif
