/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watched: which time of a host was watched, as the segments of a scan tell, and which was not.
 *
 * Real time, ns. Overlaps of traces count once. What segments tell that the scan has not come to yet
 * is not known: after the scan's end all is. Cost: intervals times traces of the host per call.
 */
#ifndef ANALYZER_WATCHED_H
#define ANALYZER_WATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/scan.h"

struct watched_interval {
	uint64_t begin_ns, end_ns;
};

/* The first interval watched without a break from at_ns or later on; false where there is none. */
bool watched_next(const struct scan *scan, const char *host, uint64_t at_ns,
		  struct watched_interval *out);
/* Nanoseconds of [begin, end) that were watched; *last: the end of the last of them, or begin. */
uint64_t watched_ns(const struct scan *scan, const char *host, uint64_t begin_ns, uint64_t end_ns,
		    uint64_t *last_ns);
/* The intervals of [begin, end) that nobody watched, in order; *out is to be freed. 0 or -ENOMEM. */
int watched_gaps(const struct scan *scan, const char *host, uint64_t begin_ns, uint64_t end_ns,
		 struct watched_interval **out, size_t *nr);

#endif
