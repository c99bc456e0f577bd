/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_bad: the segments that were set aside as *.bad. They are kept for inspection and never
 * sent.
 *
 * At most SPOOL_BAD_FILES of them stay on the disk, and not more than SPOOL_BAD_BYTES unless the
 * newest alone is larger. The oldest are removed first, also while the agent runs, because an
 * analyzer that refuses everything must not fill the disk. Their content is in the ledger since
 * they were set aside, so that a removal loses nothing more. One thread.
 */
#ifndef AGENT_SPOOL_BAD_H
#define AGENT_SPOOL_BAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/system/log.h"

#define SPOOL_BAD_FILES 16
#define SPOOL_BAD_BYTES (16ull << 20)

struct spool_bad_file {
	uint64_t epoch, sequence, bytes;
};

struct spool_bad {
	struct spool_bad_file files[SPOOL_BAD_FILES + 1]; /* oldest first */
	size_t nr;
	uint64_t bytes;
	uint64_t nr_removed, removed_bytes; /* since the spool was opened */
};

/* Adds a file, whose name follows from epoch and sequence, and removes old ones. */
void spool_bad_add(struct spool_bad *b, int dir_fd, const struct spool_bad_file *file,
		   struct log *log);

#endif
