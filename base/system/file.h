/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: reads a whole file into memory, up to a bound that the caller sets.
 *
 * Files of /proc and /sys, whose size is reported as 0, and pipes are read to their end. A 0 byte
 * follows the text and is not counted in the buffer's length.
 */
#ifndef BASE_SYSTEM_FILE_H
#define BASE_SYSTEM_FILE_H

#include <stddef.h>

struct buf;
struct err;

/*
 * Reads the file at path into out, which is cleared first and stays the caller's to release.
 *
 * Returns 0 or -errno: what open(2) or read(2) said; -EFBIG where the file has more than max_bytes;
 * -ENOMEM. On failure out is empty and err (may be NULL) holds one line that begins with the path.
 */
int file_read(const char *path, size_t max_bytes, struct buf *out, struct err *err);

#endif
