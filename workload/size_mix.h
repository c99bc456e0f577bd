/* SPDX-License-Identifier: Apache-2.0 */
/*
 * size_mix: the shares of reads and writes, and the exact count of every distinct request size.
 *
 * It gives the mean size per direction over non-empty sets (eq. 5.7, 5.8 of docs/methods.md) and
 * the mix (eq. 5.9). A size of up to 1 MiB in whole sectors has a counter of its own. Other sizes
 * share a map of SIZE_MIX_MAX_OTHERS distinct sizes per direction. Further sizes are counted in
 * `beyond`; the mean stays exact with them. Only past that bound the order of arrival decides which
 * sizes are in `beyond`. Cost: O(1). Memory: 16 KiB per direction seen, 120 KiB where the map is
 * full. Merging adds the counts.
 */
#ifndef WORKLOAD_SIZE_MIX_H
#define WORKLOAD_SIZE_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/u64map.h"
#include "formats/profile/profile.h"
#include "formats/request.h"

#define SIZE_MIX_DIRECT_SECTORS 2048 /* 1 MiB */
#define SIZE_MIX_MAX_OTHERS	2047

/*
 * If memory grows with use, this many distinct sizes are kept in a list before the table is
 * allocated.
 */
#define SIZE_MIX_FEW 128

struct size_counts { /* counts of one direction */
	bool grows;  /* Memory grows with use; else the table is allocated at the first size. */
	struct size_count *few; /* owned; small sizes in order of appearance, until direct exists */
	uint32_t nr_few, cap_few;
	uint64_t *direct; /* [SIZE_MIX_DIRECT_SECTORS + 1], by sectors; NULL while empty */
	struct u64map others;
	struct size_count *other; /* [others.nr], in order of appearance */
	size_t cap_other;
	uint64_t beyond; /* requests whose sizes are past the bound */
};

struct size_mix {
	uint64_t requests[NR_OPERATIONS], bytes[NR_OPERATIONS]; /* counts of every operation */
	struct size_counts direction[2];			/* read, write */
};

/*
 * A zeroed struct is empty and allocates its tables at the first size of a direction. After this
 * call memory grows with use instead.
 */
void size_mix_let_grow(struct size_mix *m);
void size_mix_release(struct size_mix *m);
/* Empties the struct and keeps its memory. */
void size_mix_clear(struct size_mix *m);
/*
 * Returns 0, or -ENOMEM: the counts by operation are then right, but sizes may be counted in
 * `beyond`.
 */
int size_mix_add_many(struct size_mix *m, const struct request *r, size_t nr);
/* Returns the mean bytes of an operation, or NaN where there was none. */
double size_mix_mean_bytes(const struct size_mix *m, enum operation operation);
/*
 * Returns the distinct sizes, ascending, in an array that the caller frees (NULL for none). Returns
 * 0 or -ENOMEM.
 */
int size_mix_sizes(const struct size_mix *m, enum operation operation, struct size_count **out,
		   size_t *nr);
size_t size_mix_memory(const struct size_mix *m);

#endif
