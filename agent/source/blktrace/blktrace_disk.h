/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blktrace_disk: sets up, starts, stops and removes the kernel's block trace of one disk.
 *
 * A trace outlives the process that set it up. The traces of this agent carry a mark: an end sector
 * beyond the end of any disk, which contains the agent's pid and which sysfs shows. By this mark
 * the next agent finds a trace whose agent has died, and removes it. It leaves traces of other
 * programs alone.
 *
 * No descriptor of the disk stays open, so that the disk can be unmounted, detached and removed
 * while it is traced.
 */
#ifndef AGENT_BLKTRACE_DISK_H
#define AGENT_BLKTRACE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/guest/device.h"
#include "base/text/err.h"

/* The kernel's interfaces that a trace needs. Tests put their own functions here. */
struct blktrace_kernel {
	/* Path of debugfs, usually "/sys/kernel/debug". */
	const char *debugfs;
	/* Path of the disks by number, usually "/sys/dev/block". */
	const char *sysfs_dev;
	/* Returns a descriptor or -errno. */
	int (*open_disk)(void *ctx, uint32_t device, const char *name);
	/* Calls ioctl(2). Returns 0 or -errno. */
	int (*control)(void *ctx, int fd, unsigned long request, void *arg);
	/* Is device_completed() outside of tests. */
	int (*completed)(void *ctx, uint32_t device, uint64_t *out);
	/* Is device_in_flight() outside of tests. */
	int64_t (*in_flight)(void *ctx, uint32_t device);
	int (*list)(int (*each)(void *ctx, const struct device_info *info), void *ctx);
	bool (*is_alive)(void *ctx, uint32_t pid); /* Returns whether this process is an agent. */
	void *ctx;
};
extern const struct blktrace_kernel blktrace_kernel_real;

struct blktrace_disk {
	uint32_t device;
	char name[DEVICE_NAME_BYTES];	/* name of the disk as sysfs spells it */
	char folder[DEVICE_NAME_BYTES]; /* name of the disk's folder in debugfs/block */
	/* Owned. One descriptor per CPU; -1 where the CPU has no file yet. */
	int *fds;
	int nr_cpus, dropped_fd;
	uint8_t version; /* version of the trace's records: 7 or 8 */
	bool is_set_up, is_started;
};

/*
 * Checks what could prevent tracing of any disk: missing privileges, no debugfs, or a lockdown.
 * Changes nothing. Returns 0 or -errno with the reason in err.
 */
int blktrace_check(const struct blktrace_kernel *k, struct err *err);

/*
 * Checks whether a trace of this disk can be set up, without changing anything. A trace that a dead
 * agent left behind does not count as an obstacle. Returns 0; -EBUSY where somebody else traces the
 * disk; -ENOTSUP where the disk has no requests or block tracing is not built into the kernel. The
 * reason is in err.
 */
int blktrace_disk_check(const struct blktrace_kernel *k, const struct device_info *info,
			struct err *err);

/*
 * Sets up and starts a trace with a ring of ring_bytes per CPU, and fills d. Returns 0, or -errno
 * with one line in err; nothing is left behind on failure.
 */
int blktrace_disk_open(struct blktrace_disk *d, const struct blktrace_kernel *k,
		       const struct device_info *info, size_t ring_bytes, int nr_cpus,
		       struct err *err);
/*
 * Returns whether the kernel has removed the trace: the disk has gone (its number may belong to
 * another disk by now), or somebody else ended the trace. Recorded events can still be read.
 */
bool blktrace_disk_is_gone(const struct blktrace_disk *d);
/* Stops recording. Events that were recorded can still be read. */
void blktrace_disk_stop(struct blktrace_disk *d, const struct blktrace_kernel *k);
/* Stops the trace, removes it unless it is already gone, and closes its files. */
void blktrace_disk_close(struct blktrace_disk *d, const struct blktrace_kernel *k);

/*
 * Opens the file of a CPU that came online after the trace began. Returns whether this CPU has a
 * file now.
 */
bool blktrace_disk_cpu(struct blktrace_disk *d, const struct blktrace_kernel *k, int cpu);
/* Returns the number of events since the start for which the kernel had no room. */
uint64_t blktrace_disk_dropped(const struct blktrace_disk *d);

#endif
