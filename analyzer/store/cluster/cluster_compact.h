/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_compact: this module joins bundles into large ones, sorted by host and time.
 *
 * One process does it at a time, under the lease of retention. A step (compact_plan.h) reads whole
 * bundles into a temporary file, writes their segments in the new order as one object, reads that
 * object back and compares its SHA-256, and then moves the rows of all segments in one
 * transaction. The transaction fails if the lease went to another process meanwhile. The old
 * objects stay for an hour, because somebody may be reading them. A process that dies leaves at
 * most an object that nothing names, which cluster_sweep.h deletes.
 *
 * A segment whose bytes do not have its hash is not copied: it stays in its bundle, which
 * compaction leaves alone for a day. All other segments are joined. Memory is about 200 bytes for
 * each segment of a step; the temporary file takes at most COMPACT_MAX_BYTES and at most half of
 * the free space.
 */
#ifndef ANALYZER_CLUSTER_COMPACT_H
#define ANALYZER_CLUSTER_COMPACT_H

#include "analyzer/store/store_compact.h"

int cluster_home_compact(struct store *s, const struct store_compaction *how,
			 struct compact_counts *counts, struct err *err);

#endif
