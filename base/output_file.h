/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output_file: a file that is there whole or not at all.
 *
 * It is written beside its place and renamed, through symbolic links to where they lead. What is no
 * file (a device, a pipe, standard output by its name in /dev) is written to as it is, and stays.
 */
#ifndef FORMATS_OUTPUT_FILE_H
#define FORMATS_OUTPUT_FILE_H

#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

struct output_file {
	FILE *out;	  /* to be written to between begin and end */
	const char *name; /* borrowed: as the caller knows it, for messages */
	char *path;	  /* owned: where it goes */
	char *beside;	  /* owned: where it is written; NULL: in place */
};

/* mode: of a new file, less the umask. 0 or -errno; after a failure there is nothing to end. */
int output_file_begin(struct output_file *o, const char *path, mode_t mode, struct err *err);
/*
 * Closes it, and with status 0 puts it in its place, not synced; else nothing of it stays beside.
 * Returns status, or -errno where it could not be written in full.
 */
int output_file_end(struct output_file *o, int status, struct err *err);

#endif
