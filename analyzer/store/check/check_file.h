/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_file: the code that the checks of stores and spools share: walking folders, reading files,
 * noting findings. Only check_store.c and check_spool.c use it.
 */
#ifndef ANALYZER_CHECK_FILE_H
#define ANALYZER_CHECK_FILE_H

#include "analyzer/store/check/store_check.h"
#include "analyzer/store/index/segment_facts.h"
#include "base/memory/buf.h"

/* Adds a finding, whose text the caller fills in. Returns NULL where memory is short. */
struct check_finding *check_note(struct check_report *r, const char *path,
				 enum check_problem problem, const char *why, const char *cure);
/* Notes a file that cannot be read. Returns 0 or -ENOMEM. */
int check_note_unreadable(struct check_report *r, const char *path, const char *why);
/*
 * Reads a regular file. Returns 0; -EFBIG where it is longer than max_bytes; -EIO with the reason
 * where it cannot be read, whatever the cause; -ENOMEM.
 */
int check_read(const char *path, size_t max_bytes, struct buf *out, struct err *err);
/*
 * Reads and decodes a segment into f, which must be released on success, and counts it. Returns 0;
 * -EIO and -ENOMEM as check_read() does; another -errno where the file is not a valid segment.
 */
int check_segment(struct check_report *r, const char *path, struct buf *data,
		  struct segment_facts *f, struct err *err);
bool check_ends_with(const char *text, const char *end);
/*
 * Calls visit for every file below dir, in the order of names, with its path and the part of it
 * below dir. dir may be a symbolic link; those below it are not followed. Stops where visit returns
 * nonzero and returns that value; otherwise 0 or -errno.
 */
int check_walk(const char *dir, int (*visit)(void *ctx, const char *path, const char *below),
	       void *ctx, struct err *err);

#endif
