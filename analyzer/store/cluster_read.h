/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_read: bytes of segments and summaries out of the objects of a cluster.
 *
 * A question costs a round trip, so that each reads on behind the segment that is wanted: the next ones of a
 * scan mostly lie there. What was read is kept in memory, CLUSTER_BLOCKS_BYTES at most, the least recently
 * used going first. Each segment is held against its hash in the catalog.
 */
#ifndef ANALYZER_CLUSTER_READ_H
#define ANALYZER_CLUSTER_READ_H

#include "analyzer/store/cluster.h"

#define CLUSTER_READ_AHEAD   (256u << 10)
#define CLUSTER_BLOCKS_BYTES (64u << 20)

/* path: of a segment or a summary, as segment_name.h and store_summary.h make it. -ENOENT, -EBADMSG, ... */
int cluster_read_path(struct cluster *c, const char *path, size_t limit, struct buf *b,
		      struct err *err);
/* One segment, checked against its hash. */
int cluster_read_place(struct cluster *c, const struct cluster_place *p, struct buf *b,
		       struct err *err);
void cluster_blocks_free(struct cluster *c);

#endif
