/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_read: this module reads bytes of segments and summaries from the objects of a cluster.
 *
 * Every request to the object store costs a round trip. Therefore each read continues behind the
 * requested segment, because the next segments of a scan mostly lie there. The data is kept in
 * memory, at most CLUSTER_BLOCKS_BYTES; the least recently used data is dropped first. Each segment
 * is compared with its hash in the catalog.
 */
#ifndef ANALYZER_CLUSTER_READ_H
#define ANALYZER_CLUSTER_READ_H

#include "analyzer/store/cluster.h"

#define CLUSTER_READ_AHEAD   (256u << 10)
#define CLUSTER_BLOCKS_BYTES (64u << 20)

/* path: the path of a segment or a summary, as segment_name.h and store_summary.h make it.
 * Returns 0, -ENOENT, -EBADMSG, ... */
int cluster_read_path(struct cluster *c, const char *path, size_t limit, struct buf *b,
		      struct err *err);
/* Reads one segment and checks it against its hash. */
int cluster_read_place(struct cluster *c, const struct cluster_place *p, struct buf *b,
		       struct err *err);
void cluster_blocks_free(struct cluster *c);

#endif
