/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_read: this module reads bytes of segments and summaries from the objects of a cluster.
 *
 * A read goes on behind the requested segment while the next segments of its stream lie there, and
 * the next ranges of the stream are fetched meanwhile (cluster_blocks.h). Each segment is compared
 * with its hash in the catalog. A segment that compaction moved since the index was read is looked
 * up again.
 */
#ifndef ANALYZER_CLUSTER_READ_H
#define ANALYZER_CLUSTER_READ_H

#include "analyzer/store/cluster/cluster.h"

/*
 * path: the path of a segment or a summary, as segment_name.h and store_summary.h make it.
 * Returns 0, -ENOENT, -EBADMSG, ...
 */
int cluster_read_path(struct cluster *c, const char *path, size_t limit, struct buf *b,
		      struct err *err);
/* Reads one segment and checks it against its hash. */
int cluster_read_place(struct cluster *c, struct cluster_stream *s, const struct cluster_place *p,
		       struct buf *b, struct err *err);

#endif
