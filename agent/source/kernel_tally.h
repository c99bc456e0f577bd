/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_tally: how many requests a tracer missed, by the kernel's own count of those completed.
 *
 * A tracer that drops events knows how many events it dropped, not how many requests nobody saw any
 * more. The kernel counts completed requests anyway: what it counted since the start, less those
 * seen, is missing. Compared at one instant: the count is read, and the seen are those that
 * completed by then, once all events up to it have come. Off by at most the requests that complete
 * while the count is read. Devices that keep no statistics, and those that came after the start,
 * cannot be told. One thread.
 */
#ifndef AGENT_KERNEL_TALLY_H
#define AGENT_KERNEL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define KERNEL_TALLY_DEVICES 64

/* Requests completed since boot: device_completed(), or a test's own. */
typedef int (*kernel_tally_read)(uint32_t device, uint64_t *out);

struct kernel_tally {
	struct kernel_tally_device {
		uint32_t device;
		bool is_known; /* base was read */
		uint64_t base, seen, told;
		uint64_t sample; /* the count at the sample */
		uint64_t later;	 /* of seen, completed after the sample */
	} devices[KERNEL_TALLY_DEVICES];
	size_t nr, last;
	kernel_tally_read read;
	uint64_t sample_ns; /* 0: none is waiting */
};

/* Reads the bases: to be called as tracing begins. */
void kernel_tally_begin(struct kernel_tally *t, const uint32_t *devices, size_t nr,
			kernel_tally_read read);
/* Whether what is missing of the device can be told. Once it cannot, it never can again. */
bool kernel_tally_covers(const struct kernel_tally *t, uint32_t device);
/* A request that was handed over. */
void kernel_tally_seen(struct kernel_tally *t, const struct request *r);
/* Reads the counts now; no-op while a sample waits. */
void kernel_tally_sample(struct kernel_tally *t, uint64_t now_ns);
/*
 * Compares, when all requests that completed by the sample have been seen: each is called with how
 * many more are missing of a device than were told before. False: no sample waits, or it is later
 * than seen_ns. A count that went back is that of another disk under the number: from there on.
 */
bool kernel_tally_settle(struct kernel_tally *t, uint64_t seen_ns,
			 void (*each)(void *ctx, uint32_t device, uint64_t missing), void *ctx);

#endif
