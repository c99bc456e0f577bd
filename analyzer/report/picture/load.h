/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load: requests and bytes per window, for the peaks by which a size is chosen.
 *
 * The window is 1 s; 100 ms for traces under 10 s, 10 ms under 1 s, and 1 ms under 0.1 s. It is
 * wider only where the trace is longer than 36 h (LOAD_WINDOWS windows). The length of the window
 * is printed beside every peak.
 */
#ifndef ANALYZER_REPORT_PICTURE_LOAD_H
#define ANALYZER_REPORT_PICTURE_LOAD_H

#include "analyzer/report/draw/gaps.h"
#include "analyzer/report/draw/timegrid.h"

#define LOAD_WINDOWS 131072

enum load_row {
	LOAD_REQUESTS,
	LOAD_BYTES,
};
#define NR_LOAD_ROWS 2

struct load {
	struct timegrid grid;	     /* NR_LOAD_ROWS */
	const struct time_gap *gaps; /* borrowed; a window within a gap does not count */
	size_t nr_gaps;
};

void load_init(struct load *l);
void load_release(struct load *l);
/* Returns 0 or -ENOMEM. */
int load_add(struct load *l, uint64_t arrival_ns, uint32_t bytes);

/*
 * Rates per second over the watched time of all windows, including idle ones. A window of which
 * less than nine tenths were watched counts in the mean alone, unless there is no other.
 */
struct load_peak {
	double mean, p95, p99, max;
	uint64_t max_at_ns; /* begin of the first window with the maximum */
};
struct load_peaks {
	double window_s;
	size_t nr_windows;
	struct load_peak of[NR_LOAD_ROWS];
};
/* Returns the window for a span of time. */
uint64_t load_window_ns(uint64_t span_ns);
/*
 * Computes peaks over windows of window_ns, or of the grid's own columns where these are wider.
 * Quantiles are by nearest rank. Returns 0, -ENODATA or -ENOMEM.
 */
int load_peaks(const struct load *l, uint64_t window_ns, struct load_peaks *out);

#endif
