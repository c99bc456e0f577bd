/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts: the types of the file systems that are mounted from a disk.
 *
 * A mount counts where its device is the disk, one of its partitions, or a volume (device mapper,
 * md) that is made of these. A file system without a device number of its own (btrfs) counts by the
 * block device that it was mounted from. Only mounts that the agent itself sees are found. It costs
 * one reading of /proc/self/mountinfo, and a few files of sysfs for each mount of a block device.
 */
#ifndef AGENT_MOUNTS_H
#define AGENT_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

#define MOUNTS_PATH "/proc/self/mountinfo"

/*
 * Writes the types, such as "ext4" or "vfat,ext4", each once and in the order of the mounts; those
 * for which there is no room are left out. out becomes "" where there is none. path is MOUNTS_PATH.
 */
void mounts_file_systems(const char *path, uint32_t disk, char *out, size_t size);

#endif
