/* SPDX-License-Identifier: Apache-2.0 */
/* summary: describes a workload, and what its response times consist of, in plain words. */
#ifndef ANALYZER_REPORT_PAGE_SUMMARY_H
#define ANALYZER_REPORT_PAGE_SUMMARY_H

#include "base/memory/buf.h"
#include "formats/profile/profile.h"

/* This enum says in which stage the time of a request is spent. */
enum verdict {
	/* there are no response times, or no dispatch times to separate the stages */
	VERDICT_UNKNOWN,
	VERDICT_DEVICE,	 /* mostly inside the device */
	VERDICT_QUEUED,	 /* mostly waiting for a device that is busy meanwhile */
	VERDICT_LIMITED, /* mostly waiting for a device that is often idle meanwhile */
};

/*
 * Waiting is the main part from one half on. in_device is the mean number of requests inside the
 * device while others wait (inflight_device_while_waiting()). A device that serves one request at a
 * time holds one then. With less than SUMMARY_BUSY on average, the device could have taken some of
 * the waiting requests, so something else held them back: a limit, a throttle or a scheduler.
 */
#define SUMMARY_BUSY 0.7
enum verdict summary_verdict(const struct profile *p, double in_device);

/*
 * Returns the share of the total response time that is spent before the device, or NaN if it is
 * unknown.
 */
double summary_queue_ratio(const struct profile *p);

/*
 * Names what rates and sizes are of: "requests", or "reads and writes" where the load has flushes or
 * other requests besides, which have no size and are not in these rates.
 */
const char *summary_counted(const struct profile *p);

/* Writes two or three sentences without markup: intensity, mix, sizes, pattern, times. */
void summary_workload(const struct profile *p, struct buf *out);
/* Writes the verdict in one sentence. */
void summary_reason(const struct profile *p, double in_device, struct buf *out);
/* Writes one sentence: the grade, its reason, and what was lost. */
void summary_quality(const struct profile *p, struct buf *out);

#endif
