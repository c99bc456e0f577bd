/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic_source: a source (agent/source/source.h) that makes requests up, for tests and benchmarks.
 *
 * With a rate, request number i of the device completes at begin_ns + i / rate whether a tracer is
 * there or not: what "the kernel" has counted is a function of time alone, as it is to a tracer
 * that comes and goes.
 */
#ifndef TESTS_SYNTHETIC_SOURCE_H
#define TESTS_SYNTHETIC_SOURCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "agent/source/source.h"

struct synthetic_plan {
	uint32_t device;
	uint32_t nr_devices;	 /* device, device + 1, ... in turn; 0: one */
	uint64_t begin_ns;	 /* CLOCK_MONOTONIC; of request 0 */
	uint64_t requests_per_s; /* made as time goes by; 0: batch as fast as polled */
	uint32_t batch;		 /* requests per poll where requests_per_s is 0 */
	uint32_t latency_ns;	 /* largest; uniform below it */
	uint64_t limit;		 /* requests in all, of all runs; 0: without end */
	uint32_t lost_every;	 /* one lost in the kernel after so many; 0: none */
	enum loss_cause lost_to; /* why */
	uint32_t own_every;	 /* one submitted by this process after so many; 0: none */
	uint32_t passthrough;	 /* requests without disk, beside all others, at the second poll */
	int fail_after_polls;	 /* the poll that returns -EIO; 0: none */
	_Atomic uint64_t polls;	 /* begun so far */
	_Atomic uint64_t delivered; /* so far */
	_Atomic uint64_t lost;
};

extern struct synthetic_plan synthetic_plan;
extern const struct source_ops synthetic_source;

/* As cutover_read: how many requests have completed by now. */
int synthetic_completed(uint32_t device, uint64_t *completed);

#endif
