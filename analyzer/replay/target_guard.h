/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_guard: what a target of writes is, and whether it may be written.
 *
 * Replays and mimics overwrite their target. The guard decides before the first write, from what the
 * kernel and the target itself say:
 *
 * - A block device that is in use is refused. The kernel knows best: an exclusive open fails where the
 *   device or a part of it is mounted, swapped to, or held by md, LVM or another driver. The guard keeps
 *   that exclusive open until target_guard_release(), so that nobody can mount the device meanwhile.
 *   Loop devices do not claim what they are backed by, so those are looked through as well.
 * - A block device that carries something known (a partition table, a file system, a member of LVM, md or
 *   LUKS; libblkid knows them) and a file that exists are refused, unless the user names the same path
 *   twice (overwrite).
 * - A file that does not exist is made in a folder that exists. No folder is ever made for it, and none of
 *   the files is made in /dev, /proc or /sys, where only a mistyped name leads.
 * - In a folder, only new files are made; the caller opens them with O_EXCL.
 *
 * A device in use is refused even where it is named twice: whoever means it can unmount it first. A user
 * of the device that does not claim it, such as a virtual machine's monitor, cannot be seen.
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

#include "base/err.h"

enum target_kind {
	TARGET_DEVICE,
	TARGET_FILE,
	TARGET_FOLDER,
};

#define TARGET_CONTENT_BYTES 160

struct target_guard {
	const char *path; /* borrowed */
	enum target_kind kind;
	bool exists;	     /* false only for a file that is to be made */
	uint64_t bytes;	     /* size of the device or file; 0 for a folder or a new file */
	uint64_t free_bytes; /* of the file system of a file or folder; 0 for a device */
	char content[TARGET_CONTENT_BYTES]; /* what a device carries, as words; "" nothing known */
	bool made;			    /* the file was made by target_guard_make() */
	int fd;				    /* the exclusive open of a device; -1 none */
};

/*
 * writes: false where the target is only read, and nothing but its kind is decided. overwrite: the path
 * that the user named as one to be overwritten, or NULL. g need not be initialized; release it whatever
 * this returns. 0; -ENOENT and -ENOTDIR for a path that leads nowhere; -EINVAL with the reason for a target
 * that is not to be written, for what is no device, file or folder, and for an overwrite that names
 * another path; -errno.
 */
int target_guard_take(struct target_guard *g, const char *path, bool writes, const char *overwrite,
		      struct err *err);
/* Whether the file system of a file or folder has room for that many more bytes: 0 or -EFBIG. */
int target_guard_room(const struct target_guard *g, uint64_t more_bytes, struct err *err);
/* Makes a file that does not exist, empty; target_guard_release() removes it again. 0 or -errno. */
int target_guard_make(struct target_guard *g, struct err *err);
/* What it is, for a person: "block device of 64 MiB, which carries nothing known". */
void target_guard_describe(const struct target_guard *g, char *out, size_t size);
void target_guard_release(struct target_guard *g);

#endif
