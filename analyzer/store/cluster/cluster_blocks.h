/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_blocks: ranges of bundles that were read or will be read soon, in bounded memory.
 *
 * Every request to the object store costs a round trip, so a reader says which ranges it needs
 * next, and CLUSTER_AHEAD threads fetch them meanwhile, each over a connection of its own. The
 * least recently used ranges are dropped. Nothing is fetched ahead while half of the memory is
 * taken by ranges that nobody has used yet. The threads start with the first range that is fetched
 * ahead. Any thread may call these functions.
 */
#ifndef ANALYZER_CLUSTER_BLOCKS_H
#define ANALYZER_CLUSTER_BLOCKS_H

#include "analyzer/store/cluster/cluster.h"

#define CLUSTER_AHEAD	     4
#define CLUSTER_BLOCKS_BYTES (64u << 20)

/* A range of bytes of the bundle with this index. */
struct cluster_range {
	uint32_t bundle;
	uint64_t at, nr;
};

int cluster_blocks_new(struct cluster_blocks **out, struct cluster *c, struct err *err);
void cluster_blocks_free(struct cluster_blocks *b);
/* Forgets everything, because the bundles have other indexes now. */
void cluster_blocks_drop(struct cluster_blocks *b);
/*
 * Appends the bytes of want to out. If no block has them, fetches the range around, which contains
 * want; around becomes the range of the block that was read. Returns 0 or what object_get()
 * returns.
 */
int cluster_blocks_read(struct cluster_blocks *b, const struct cluster_range *want,
			struct cluster_range *around, struct buf *out, struct err *err);
/* Asks for a range that will be needed soon. Returns false if no more are taken now. */
bool cluster_blocks_ahead(struct cluster_blocks *b, const struct cluster_range *range);

#endif
