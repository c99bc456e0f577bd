/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blktrace_disk: the kernel's block trace of one disk: set up, started, stopped, taken away.
 *
 * A trace outlives the process that set it up. Ours bears a mark, an end sector beyond any disk
 * that holds our pid, which sysfs shows: the next agent finds a trace whose agent is gone and
 * clears it, and leaves alone that of anybody else.
 *
 * No descriptor of the disk stays open: it can be unmounted, detached and removed while traced.
 */
#ifndef AGENT_BLKTRACE_DISK_H
#define AGENT_BLKTRACE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/device.h"
#include "base/err.h"

/* What is asked of the kernel; tests have their own. */
struct blktrace_kernel {
	const char *debugfs;						/* "/sys/kernel/debug" */
	const char *sysfs_dev;						/* "/sys/dev/block" */
	int (*open_disk)(void *ctx, uint32_t device, const char *name); /* fd or -errno */
	int (*control)(void *ctx, int fd, unsigned long request, void *arg); /* 0 or -errno */
	int (*completed)(void *ctx, uint32_t device, uint64_t *out); /* device_completed() */
	int64_t (*in_flight)(void *ctx, uint32_t device);	     /* device_in_flight() */
	int (*list)(int (*each)(void *ctx, const struct device_info *info), void *ctx);
	bool (*is_alive)(void *ctx, uint32_t pid); /* whether it is an agent */
	void *ctx;
};
extern const struct blktrace_kernel blktrace_kernel_real;

struct blktrace_disk {
	uint32_t device;
	char name[DEVICE_NAME_BYTES];	/* as sysfs has it */
	char folder[DEVICE_NAME_BYTES]; /* of debugfs/block */
	int *fds;			/* owned; of each CPU, -1: not there yet */
	int nr_cpus, dropped_fd;
	uint8_t version; /* of its records: 7 or 8 */
	bool is_set_up, is_started;
};

/*
 * What stands in the way, before any disk is looked at: rights, debugfs, lockdown. Changes nothing.
 */
int blktrace_check(const struct blktrace_kernel *k, struct err *err);

/*
 * Whether a trace can be set up: 0; -EBUSY, -ENOTSUP (no requests, or not built in) with the
 * reason. A trace that an agent left behind does not count. Changes nothing.
 */
int blktrace_disk_check(const struct blktrace_kernel *k, const struct device_info *info,
			struct err *err);

/*
 * Sets up and starts; ring_bytes per CPU. -errno with one line in err: nothing is left behind. d is
 * filled by it.
 */
int blktrace_disk_open(struct blktrace_disk *d, const struct blktrace_kernel *k,
		       const struct device_info *info, size_t ring_bytes, int nr_cpus,
		       struct err *err);
/*
 * Whether the kernel has taken the trace away: the disk went, and what has its number now, if
 * anything does, is another one; or somebody else ended the trace. What was recorded can still be
 * read.
 */
bool blktrace_disk_is_gone(const struct blktrace_disk *d);
/* No more events; what there are can still be read. */
void blktrace_disk_stop(struct blktrace_disk *d, const struct blktrace_kernel *k);
/* Stops, takes the trace away unless it is gone, closes. */
void blktrace_disk_close(struct blktrace_disk *d, const struct blktrace_kernel *k);

/* Opens the file of a CPU that came later; whether there is one now. */
bool blktrace_disk_cpu(struct blktrace_disk *d, const struct blktrace_kernel *k, int cpu);
/* Events that the kernel had no room for, since the start. */
uint64_t blktrace_disk_dropped(const struct blktrace_disk *d);

#endif
