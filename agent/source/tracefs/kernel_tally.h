/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_tally: counts the requests that a tracer missed, by the kernel's own count of completed
 * requests.
 *
 * A tracer that drops events knows how many events it dropped, but not how many requests it never
 * saw. The kernel counts completed requests in any case: its count since the start minus the number
 * of requests seen is the number that is missing. Both are compared for one instant: the kernel's
 * count is read, and once all events up to that instant have arrived, the requests that completed
 * by then are counted. The error is at most the number of requests that complete while the count is
 * being read. Nothing can be said about devices that keep no statistics or that appeared after the
 * start. For one thread.
 */
#ifndef AGENT_KERNEL_TALLY_H
#define AGENT_KERNEL_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/request.h"

#define KERNEL_TALLY_DEVICES 64

/*
 * Returns the number of requests completed since boot: device_completed(), or a test's own
 * function.
 */
typedef int (*kernel_tally_read)(uint32_t device, uint64_t *out);

struct kernel_tally {
	struct kernel_tally_device {
		uint32_t device;
		bool is_known; /* whether base was read */
		uint64_t base, seen, told;
		uint64_t sample; /* the kernel's count at the sample */
		uint64_t later;	 /* requests of seen that completed after the sample */
	} devices[KERNEL_TALLY_DEVICES];
	size_t nr, last;
	kernel_tally_read read;
	uint64_t sample_ns; /* when the sample was taken; 0: no sample is waiting */
};

/* Reads the bases. It must be called when tracing begins. */
void kernel_tally_begin(struct kernel_tally *t, const uint32_t *devices, size_t nr,
			kernel_tally_read read);
/*
 * Returns whether missing requests of the device can be counted. Once this is false it stays false.
 */
bool kernel_tally_covers(const struct kernel_tally *t, uint32_t device);
/* Counts a request that was handed over. */
void kernel_tally_seen(struct kernel_tally *t, const struct request *r);
/* Reads the kernel's counts now. It does nothing while a sample is waiting. */
void kernel_tally_sample(struct kernel_tally *t, uint64_t now_ns);
/*
 * Compares the counts once all requests that completed before the sample have been seen. It calls
 * each with the number of missing requests of a device that were not reported before. It returns
 * false where no sample is waiting or the sample is later than seen_ns. A count that fell belongs
 * to another disk that took over the number, and counting begins anew for it.
 */
bool kernel_tally_settle(struct kernel_tally *t, uint64_t seen_ns,
			 void (*each)(void *ctx, uint32_t device, uint64_t missing), void *ctx);

#endif
