/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs: numbers distinct pairs of words 0, 1, 2, ... in the order of their first appearance.
 * A segment's requests share few combinations of device, operation and flags, and few issuers.
 */
#ifndef FORMATS_PAIRS_H
#define FORMATS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint64_t first, second;
};

/* A zeroed one is empty. */
struct pairs {
	struct pair *pair; /* owned, in order of first appearance */
	uint32_t nr, cap;
	uint32_t *slot; /* index + 1 by hash; 2 * cap of them; owned */
	uint32_t last;	/* index found last */
};

void pairs_release(struct pairs *p);
/* Forgets the pairs, keeping the memory where it is small. */
void pairs_clear(struct pairs *p);
/* The index of a pair, entered where it is new, or -ENOMEM. O(1), at once where it is the last. */
int64_t pairs_index(struct pairs *p, struct pair pair);

#endif
