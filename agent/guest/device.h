/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: block devices as sysfs shows them. Numbers are as in struct request: the kernel's
 * major << 20 | minor.
 */
#ifndef AGENT_DEVICE_H
#define AGENT_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define DEVICE_NAME_BYTES 64

struct device_info {
	uint32_t device;	      /* of the device itself */
	uint32_t disk;		      /* of the whole disk: what requests carry */
	char name[DEVICE_NAME_BYTES]; /* kernel name: "sda", "nvme0n1", "loop0" */
	uint64_t size_bytes;
	bool partition, rotational;
};

/*
 * Finds a device by name ("sda"), path ("/dev/sda", symbolic links followed) or number ("8:0").
 * -ENODEV with the nearest names in err where there is none. out is untouched on failure.
 */
int device_find(const char *what, struct device_info *out, struct err *err);

/* By number. -ENODEV where it is gone. */
int device_read(uint32_t device, struct device_info *out);

/* Calls each for every block device, partitions included, in no set order, until it returns other
 * than 0; returns that, 0, or -errno where sysfs cannot be read. */
int device_list(int (*each)(void *ctx, const struct device_info *info), void *ctx);

/* Loop, ram, zram, floppy and optical devices and partitions: not shown unless named. */
bool device_is_hidden_by_default(const struct device_info *info);

/* A number of the disk's queue folder ("iostats", "rotational"); -ENOENT where there is none. */
int device_queue_flag(uint32_t device, const char *name);

/*
 * Requests completed since boot by the kernel's own count: reads, writes (those that carry only a
 * flush and write zeroes among them) and discards. -ENODEV; -ENODATA with iostats off.
 */
int device_completed(uint32_t device, uint64_t *out);

/* Requests of the disk that the kernel counts as under way; -ENODEV, -ENODATA with iostats off. */
int64_t device_in_flight(uint32_t device);

#endif
