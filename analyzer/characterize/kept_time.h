/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_time: the time of a host whose requests its agent kept back, in one period.
 *
 * Times are seconds of real time since 1970. Segments that the scan has not read yet are not known.
 */
#ifndef ANALYZER_KEPT_TIME_H
#define ANALYZER_KEPT_TIME_H

#include <stdbool.h>

#include "analyzer/store/scan/scan.h"
#include "formats/profile/profile.h"

struct kept_time {
	double from_s, until_s; /* the period, set by the caller; until_s may be INFINITY */
	/* The result: the length of all intervals, the first begin and the last end. */
	double sum_s, begin_s, end_s;
	bool has_kept_back;
};

/*
 * Adds the time that the host kept back, and with_sent the time whose requests it sent as well. It
 * costs O(traces), and O(log intervals) for each trace of the host beside the intervals of the
 * period.
 */
void kept_time_find(struct kept_time *t, const struct scan *scan, const char *host, bool with_sent);
/* Returns whether the ledgers say that requests of the profile's device were kept back in it. */
bool kept_time_is_busy(const struct kept_time *t, const struct scan *scan, const struct profile *p);
/*
 * Returns the seconds of [begin_s, end_s) in which the trace kept requests back. Only the last
 * intervals are searched, because a window that is being read lies near the end of the segments
 * read so far.
 */
double kept_time_overlap_s(const struct scan_trace *trace, double begin_s, double end_s);

#endif
