/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keyed_hash.h"
#include "formats/segment/pairs.h"

#define FIRST_CAP 128u
#define KEPT_CAP  4096u

void pairs_release(struct pairs *p)
{
	free(p->pair);
	free(p->slot);
	*p = (struct pairs){ 0 };
}

void pairs_clear(struct pairs *p)
{
	if (p->cap > KEPT_CAP)
		pairs_release(p);
	else if (p->nr)
		memset(p->slot, 0, 2 * (size_t)p->cap * sizeof(*p->slot));
	p->nr = p->last = 0;
}

static bool pairs_same(struct pair a, struct pair b)
{
	return a.first == b.first && a.second == b.second;
}

/*
 * Returns the slot of a pair, or the free slot where the pair would go. The first word gets a home
 * among all numbers, from which the second one leads on: a guest that chooses the words knows of no
 * two pairs that meet.
 */
static uint32_t pairs_slot(const struct pairs *p, struct pair pair)
{
	uint32_t mask = 2 * p->cap - 1;
	uint64_t first = keyed_home(p->secret, pair.first, 63);
	uint32_t at = (uint32_t)keyed_home(first, pair.second, 32) & mask;

	while (p->slot[at] && !pairs_same(p->pair[p->slot[at] - 1], pair))
		at = (at + 1) & mask;
	return at;
}

static int pairs_grow(struct pairs *p)
{
	uint32_t cap = p->cap ? 2 * p->cap : FIRST_CAP;
	struct pair *pair = malloc(cap * sizeof(*pair));
	uint32_t *slot = calloc(2 * (size_t)cap, sizeof(*slot));

	p->secret = keyed_hash_secret();
	if (!pair || !slot) {
		free(pair);
		free(slot);
		return -ENOMEM;
	}
	if (p->nr)
		memcpy(pair, p->pair, p->nr * sizeof(*pair));
	free(p->pair);
	free(p->slot);
	p->pair = pair;
	p->slot = slot;
	p->cap = cap;
	for (uint32_t i = 0; i < p->nr; i++)
		slot[pairs_slot(p, pair[i])] = i + 1;
	return 0;
}

int64_t pairs_index(struct pairs *p, struct pair pair)
{
	uint32_t at;

	if (p->nr && pairs_same(p->pair[p->last], pair))
		return p->last;
	if (p->nr == p->cap && pairs_grow(p))
		return -ENOMEM;
	at = pairs_slot(p, pair);
	if (!p->slot[at]) {
		p->pair[p->nr] = pair;
		p->slot[at] = ++p->nr;
	}
	return p->last = p->slot[at] - 1;
}
