/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import_stage: finished segments that wait, in a file without a name inside the store's folder,
 * until the whole import is known to be good; then all go into the store, or none.
 */
#ifndef ANALYZER_IMPORT_STAGE_H
#define ANALYZER_IMPORT_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct import_stage {
	char *dir; /* owned: the store's folder */
	bool made; /* by us: removed again where nothing is stored */
	int fd;
	uint64_t bytes;
	struct staged {
		uint64_t offset, len;
	} * items; /* owned */
	size_t nr, cap;
};

struct import_stored {
	uint64_t nr_stored, nr_repeated; /* segments; repeated: they were there already */
	uint64_t stored_bytes;
};

/* Makes dir where it is missing. 0, -errno. */
int import_stage_init(struct import_stage *g, const char *dir, struct err *err);
/* Takes a copy. 0, -ENOSPC, -EIO, -ENOMEM. */
int import_stage_add(struct import_stage *g, const struct buf *segment, struct err *err);
/*
 * Stores them. -EEXIST where the store holds something else under one of their names, before
 * anything is stored; on any failure what was stored is taken out again.
 */
int import_stage_commit(struct import_stage *g, struct import_stored *out, struct err *err);
void import_stage_release(struct import_stage *g);

#endif
