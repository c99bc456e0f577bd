/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs: numbers distinct pairs of words 0, 1, 2, ... in the order of their first appearance. The
 * requests of a segment have few distinct combinations of device, operation and flags, and few
 * distinct issuers.
 */
#ifndef FORMATS_PAIRS_H
#define FORMATS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint64_t first, second;
};

/* A zeroed struct is empty. */
struct pairs {
	struct pair *pair; /* owned; in order of first appearance */
	uint32_t nr, cap;
	uint32_t *slot;	 /* owned; index + 1 by hash, 2 * cap entries */
	uint64_t secret; /* of keyed_home(), set with the slots */
	uint32_t last;	 /* the index that was found last */
};

void pairs_release(struct pairs *p);
/* Forgets the pairs, and keeps the memory where it is small. */
void pairs_clear(struct pairs *p);
/*
 * Returns the index of a pair, which is entered where it is new, or -ENOMEM. O(1), and immediate
 * where it is the same pair as in the last call.
 */
int64_t pairs_index(struct pairs *p, struct pair pair);

#endif
