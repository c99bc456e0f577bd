/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices: several devices or hosts at once: the load of each second, summed over all, and how much
 * lower its peak is than the sum of the peaks that each had at its own time.
 */
#ifndef ANALYZER_REPORT_DEVICES_H
#define ANALYZER_REPORT_DEVICES_H

#include "analyzer/report/frame.h"
#include "analyzer/report/load.h"

struct device_load {
	const char *name; /* borrowed: "host:sda" */
	const struct load *load;
};

struct devices {
	const struct device_load *each; /* borrowed; busiest first */
	size_t nr;
	const struct load *sum; /* of all, over the same times */
	uint64_t window_ns;
};

/* 0, -ENODATA for less than two devices, -ENOMEM. */
int devices_draw(const struct devices *d, const struct view *v, struct buf *out);
/* A line per device, then "sum of own peaks" and "peak of the sum". */
int devices_csv(const struct devices *d, struct buf *out);

#endif
