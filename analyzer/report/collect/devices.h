/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices: several devices or hosts together: the load of each second, summed over all, and how
 * much lower its peak is than the sum of the devices' own peaks, which occur at different times.
 */
#ifndef ANALYZER_REPORT_COLLECT_DEVICES_H
#define ANALYZER_REPORT_COLLECT_DEVICES_H

#include "analyzer/report/draw/frame.h"
#include "analyzer/report/picture/load.h"

struct device_load {
	const char *name; /* borrowed, such as "host:sda" */
	const struct load *load;
};

struct devices {
	const struct device_load *each; /* borrowed; the busiest first */
	size_t nr;
	const struct load *sum; /* sum over all devices for the same times */
	uint64_t window_ns;
};

/* Returns 0, -ENODATA for fewer than two devices, or -ENOMEM. */
int devices_draw(const struct devices *d, const struct view *v, struct buf *out);
/* Writes a line per device, then "sum of own peaks" and "peak of the sum". */
int devices_csv(const struct devices *d, struct buf *out);

#endif
