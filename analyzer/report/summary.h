/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary: what a workload is, and what its response times are made of, in plain words.
 */
#ifndef ANALYZER_REPORT_SUMMARY_H
#define ANALYZER_REPORT_SUMMARY_H

#include "base/buf.h"
#include "formats/profile/profile.h"

/* Where the time of a request goes. */
enum verdict {
	VERDICT_UNKNOWN, /* no response times, or no dispatch times to tell the stages apart */
	VERDICT_DEVICE,	 /* most of it inside the device */
	VERDICT_QUEUED,	 /* most of it waiting for a device that is busy meanwhile */
	VERDICT_LIMITED, /* most of it waiting for a device that is often idle meanwhile */
};

/*
 * Waiting is most of it from one half up. in_device: requests inside the device while others wait
 * (inflight_device_while_waiting()). A device that serves one at a time holds one then; with less
 * than SUMMARY_BUSY on average it could have taken some of those that waited, and something else
 * held them back: a limit, a throttle, a scheduler.
 */
#define SUMMARY_BUSY 0.7
enum verdict summary_verdict(const struct profile *p, double in_device);

/* Share of the total response time that is spent before the device; NaN unknown. */
double summary_queue_ratio(const struct profile *p);

/* Two or three sentences, without markup: intensity, mix, sizes, pattern, times. */
void summary_workload(const struct profile *p, struct buf *out);
/* One sentence of the verdict. */
void summary_reason(const struct profile *p, double in_device, struct buf *out);
/* One sentence: grade, why, what was lost. */
void summary_quality(const struct profile *p, struct buf *out);

#endif
