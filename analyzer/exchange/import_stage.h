/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_stage: holds finished segments in a file without a name inside the store's folder until
 * the whole import is known to be valid. Then either all go into the store or none.
 */
#ifndef ANALYZER_IMPORT_STAGE_H
#define ANALYZER_IMPORT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

struct import_stage {
	char *dir; /* owned; the store's folder */
	bool made; /* this import made the folder, and removes it if nothing is stored */
	int fd;
	uint64_t bytes;
	struct staged {
		uint64_t offset, len;
	} * items; /* owned */
	size_t nr, cap;
};

struct import_stored {
	uint64_t nr_stored, nr_repeated; /* in segments; repeated ones existed before */
	uint64_t stored_bytes;
};

/* Makes dir where it is missing. Returns 0 or -errno. */
int import_stage_init(struct import_stage *g, const char *dir, struct err *err);
/* Adds a copy of the segment. Returns 0, -ENOSPC, -EIO or -ENOMEM. */
int import_stage_add(struct import_stage *g, const struct buf *segment, struct err *err);
/*
 * Stores all segments. Returns -EEXIST, before anything is stored, where the store has other
 * content under one of their names. On any failure, segments that were stored are removed again.
 */
int import_stage_commit(struct import_stage *g, struct import_stored *out, struct err *err);
void import_stage_release(struct import_stage *g);

#endif
