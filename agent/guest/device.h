/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: block devices as sysfs shows them. A device number has the form that struct request uses,
 * which is the kernel's own: major << 20 | minor.
 */
#ifndef AGENT_DEVICE_H
#define AGENT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"

#define DEVICE_NAME_BYTES 64

struct device_info {
	uint32_t device;	      /* number of the device itself */
	uint32_t disk;		      /* number of the whole disk, which requests carry */
	char name[DEVICE_NAME_BYTES]; /* kernel name: "sda", "nvme0n1", "loop0" */
	uint64_t size_bytes;
	bool partition, rotational;
};

/*
 * Finds a device by name ("sda"), by path ("/dev/sda", symbolic links are followed) or by number
 * ("8:0"). Returns 0, or -ENODEV with the most similar names in err. out is untouched on failure.
 */
int device_find(const char *what, struct device_info *out, struct err *err);

/* Finds a device by number. Returns 0, or -ENODEV where it is gone. */
int device_read(uint32_t device, struct device_info *out);

/*
 * Calls each for every block device, partitions included, in no fixed order, until it returns a
 * value other than 0. Returns that value, 0, or -errno where sysfs cannot be read.
 */
int device_list(int (*each)(void *ctx, const struct device_info *info), void *ctx);

/*
 * Returns whether the device is a loop, ram, zram, floppy or optical device or a partition. Such
 * devices are shown only where the user names them.
 */
bool device_is_hidden_by_default(const struct device_info *info);

/*
 * Returns a number from the disk's queue folder ("iostats", "rotational"), or -ENOENT where there
 * is none.
 */
int device_queue_flag(uint32_t device, const char *name);

/*
 * Returns the number of requests completed since boot by the kernel's own count: reads, writes
 * (including pure flushes and write zeroes) and discards; or -ENODEV: no such device; -ENODATA:
 * iostats are off.
 */
int device_completed(uint32_t device, uint64_t *out);

/*
 * Returns the number of requests of the disk that the kernel counts as in flight, or -ENODEV, or
 * -ENODATA if iostats are off.
 */
int64_t device_in_flight(uint32_t device);

#endif
