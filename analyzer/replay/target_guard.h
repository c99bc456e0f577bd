/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_guard: this module finds out what a target of writes is, and whether it may be written.
 *
 * Replays and mimics overwrite their target. The guard decides before the first write, from
 * information of the kernel and of the target itself:
 *
 * - A block device that is in use is refused. The kernel knows this: an exclusive open fails if the
 *   device or a part of it is mounted, used for swap, or held by md, LVM or another driver. The
 *   guard keeps its exclusive open until target_guard_release(), so that nobody can mount the
 *   device meanwhile. Loop devices do not claim their backing device or file, so they are searched
 *   as well.
 * - A block device with known content (a partition table, a file system, a member of LVM, md or
 *   LUKS, as libblkid recognizes them) and a file that exists are refused, unless the user names
 *   the same path twice (overwrite).
 * - A file that does not exist is created in a folder that exists. Folders are never created, and
 *   no file is created in /dev, /proc or /sys, because only a mistyped name leads there.
 * - In a folder, only new files are created; the caller opens them with O_EXCL.
 *
 * A device in use is refused even if it is named twice; the user can unmount it first. A user of
 * the device that does not claim it, such as a virtual machine monitor, cannot be detected.
 *
 *	struct target_guard g;
 *	int ret = target_guard_take(&g, path, writes, overwrite, &err);
 *	... g.kind, g.bytes, g.exists ...
 *	target_guard_release(&g);
 */
#ifndef ANALYZER_TARGET_GUARD_H
#define ANALYZER_TARGET_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

enum target_kind {
	TARGET_DEVICE,
	TARGET_FILE,
	TARGET_FOLDER,
};

#define TARGET_CONTENT_BYTES 160

struct target_guard {
	const char *path; /* borrowed */
	enum target_kind kind;
	bool exists;	     /* false only for a file that will be created */
	uint64_t bytes;	     /* size of the device or file; 0 for a folder or a new file */
	uint64_t free_bytes; /* free space in the file system of a file or folder; 0 for a device */
	/* the content of a device in words; "": nothing known */
	char content[TARGET_CONTENT_BYTES];
	bool made; /* target_guard_make() created the file */
	int fd;	   /* the exclusive open of a device; -1: none */
};

/*
 * writes: false if the target is only read; then only its kind is found. overwrite: the path that
 * the user named as one to be overwritten, or NULL. g need not be initialized; release it whatever
 * this returns. Returns 0; -ENOENT or -ENOTDIR if the path does not exist; -ENOTEMPTY if the target
 * carries something or exists, and overwrite does not name it; -EINVAL with the reason
 * if the target must not be written, if it is no device, file or folder, or if overwrite names
 * another path; -errno.
 */
int target_guard_take(struct target_guard *g, const char *path, bool writes, const char *overwrite,
		      struct err *err);
/*
 * Checks that the file system of a file or folder has room for that many more bytes: 0 or -EFBIG.
 */
int target_guard_room(const struct target_guard *g, uint64_t more_bytes, struct err *err);
/*
 * Creates an empty file that does not exist; target_guard_release() removes it again. Returns 0 or
 * -errno.
 */
int target_guard_make(struct target_guard *g, struct err *err);
/* Describes the target for a person: "block device of 64 MiB, which carries nothing known". */
void target_guard_describe(const struct target_guard *g, char *out, size_t size);
void target_guard_release(struct target_guard *g);

#endif
