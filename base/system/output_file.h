/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file: writes a file that is either whole or not there at all.
 *
 * The file is written beside its destination, under a random name that ends with .tmp, and renamed,
 * so its folder must permit a new file. A process that is killed leaves that file.
 * Symbolic links are followed to where they lead. A file that is replaced keeps its rights and,
 * where root writes, its owner; one that is protected against writing is refused. A destination
 * that is no regular file (a device, a pipe) is written to directly and stays. Standard output by
 * a name (/dev/stdout) is continued, also where it is a file.
 */
#ifndef BASE_SYSTEM_OUTPUT_FILE_H
#define BASE_SYSTEM_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

struct output_file {
	FILE *out;	  /* valid for writing between begin and end */
	const char *name; /* borrowed; the name by which the caller knows the file, for messages */
	char *path;	  /* owned; path of the destination; NULL: standard output */
	char *beside;	  /* owned; path that is written to; NULL: the destination itself */
};

/*
 * mode applies to a new file and is reduced by the umask; a file that is replaced keeps those of
 * its rights that mode has too. Returns 0, or -errno with one line in err; after a failure there is
 * nothing to end.
 */
int output_file_begin(struct output_file *o, const char *path, mode_t mode, struct err *err);
/*
 * Closes the file. With status 0 it is renamed to its destination, without a sync; otherwise the
 * file beside it is removed. Returns status, or -errno where the file could not be written in full.
 */
int output_file_end(struct output_file *o, int status, struct err *err);

/*
 * Returns whether a file written to path would replace the file input, or lie in the folder input.
 * A command that reads input must not write there.
 */
bool output_file_hits(const char *path, const char *input);

/*
 * Writes a text to a new file, or, where path is NULL, to standard output. Returns 0, the kept
 * failure of the text or -errno, with one line in err.
 */
int output_file_save(const struct buf *text, const char *path, struct err *err);

/*
 * From this call on, every file that this process would write is discarded: it is one of several
 * processes that have the same answer, and another one writes.
 */
void output_file_discard(void);

#endif
