/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_compact: joins small objects of a store into large ones. A folder has nothing to join.
 *
 * The caller holds STORE_LOCK_RETENTION. See cluster_compact.h for how a cluster does it.
 */
#ifndef ANALYZER_STORE_COMPACT_H
#define ANALYZER_STORE_COMPACT_H

#include <stdatomic.h>

#include "analyzer/store/store.h"

struct store_compaction {
	bool all;		 /* joins bundles of today too, which may still grow */
	const atomic_bool *stop; /* NULL: runs to its end */
};

struct compact_counts {
	uint64_t nr_segments;	    /* segments that were moved */
	uint64_t nr_joined;	    /* objects whose segments were moved */
	uint64_t nr_written, bytes; /* new objects, and their bytes */
	uint64_t nr_deleted;	    /* replaced objects that were deleted now */
	uint64_t nr_orphans;	    /* deleted objects that nothing named */
	uint64_t nr_left_out; /* segments that stay where they are, because they are damaged */
};

/*
 * Returns 0, also where damaged segments stayed; -ECANCELED; -EBUSY: the lock went to another
 * process; or the first error, with one line in err. Steps that ended before an error stay, and are
 * in counts.
 */
int store_compact(struct store *s, const struct store_compaction *how,
		  struct compact_counts *counts, struct err *err);

#endif
