/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic_source: a source (agent/source/source.h) that generates requests, for tests and
 * benchmarks.
 *
 * With a rate, request i of the device completes at begin_ns + i / rate, whether a tracer is
 * present or not. The count of the imitated kernel thus depends on the time alone, as it does for a
 * tracer that starts and stops.
 */
#ifndef TESTS_SYNTHETIC_SOURCE_H
#define TESTS_SYNTHETIC_SOURCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/source/source.h"

struct synthetic_plan {
	uint32_t device;
	uint32_t nr_devices;	 /* device, device + 1, ... in turn; 0 means 1 */
	uint64_t begin_ns;	 /* CLOCK_MONOTONIC time of request 0 */
	uint64_t requests_per_s; /* generated as time passes; 0: batch requests at every poll */
	uint32_t batch;		 /* requests per poll where requests_per_s is 0 */
	uint32_t latency_ns;	 /* largest latency; latencies are uniform below it */
	/* 8 digits of microseconds, which replace latency_ns and may change; NULL: none */
	const volatile char *latency_us_text;
	uint64_t limit;		    /* number of requests in all runs together; 0: no limit */
	uint32_t lost_every;	    /* after so many requests one is lost in the kernel; 0: none */
	enum loss_cause lost_to;    /* cause of these losses */
	uint32_t own_every;	    /* after so many requests this process submits one; 0: none */
	uint32_t passthrough;	    /* extra requests without a disk, at the second poll */
	int fail_after_polls;	    /* the poll that returns -EIO; 0: none */
	_Atomic uint64_t polls;	    /* number of polls begun so far */
	_Atomic uint64_t delivered; /* number of requests delivered so far */
	_Atomic uint64_t lost;
};

extern struct synthetic_plan synthetic_plan;
extern const struct source_ops synthetic_source;

/* Has the type of cutover_read: returns how many requests have completed by now. */
int synthetic_completed(uint32_t device, uint64_t *completed);

#endif
