/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_bad: the segments that were set aside as *.bad, kept for a look and never sent.
 *
 * At most SPOOL_BAD_FILES of them and, but for the newest, SPOOL_BAD_BYTES stay on the disk; the oldest
 * are removed first, also while the agent runs: an analyzer that refuses everything must not fill the
 * disk. What they held is in the ledger since they were set aside, so that a removal loses nothing
 * more. One thread.
 */
#ifndef AGENT_SPOOL_BAD_H
#define AGENT_SPOOL_BAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

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

/* Adds the file, whose name in the folder is made of epoch and sequence, and removes old ones. */
void spool_bad_add(struct spool_bad *b, int dir_fd, const struct spool_bad_file *file,
		   struct log *log);

#endif
