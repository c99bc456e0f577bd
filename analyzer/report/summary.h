/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary: what a workload is, and what its response times are made of, in plain words.
 */
#ifndef ANALYZER_REPORT_SUMMARY_H
#define ANALYZER_REPORT_SUMMARY_H

#include "formats/buf.h"
#include "formats/profile.h"

/* Where the time of a request goes. */
enum verdict {
	VERDICT_UNKNOWN, /* no response times, or no dispatch times to tell the stages apart */
	VERDICT_DEVICE,	 /* most of it inside the device */
	VERDICT_QUEUED,	 /* most of it waiting, while the device is kept busy */
	VERDICT_LIMITED, /* most of it waiting, while the device is idle most of the time */
};

/*
 * Waiting counts as most of it from one half up. A device with a mean of less than half a request
 * inside it (Little's law: rate times mean time in the device) could have taken those that waited:
 * something before it held them back, a limit or a scheduler.
 */
enum verdict summary_verdict(const struct profile *p);

/* Share of the total response time that is spent before the device; NaN unknown. */
double summary_queue_ratio(const struct profile *p);

/* Two or three sentences, without markup: intensity, mix, sizes, pattern, times. */
void summary_workload(const struct profile *p, struct buf *out);
/* One sentence of the verdict. */
void summary_reason(const struct profile *p, struct buf *out);
/* One sentence: grade, why, what was lost. */
void summary_quality(const struct profile *p, struct buf *out);

#endif
