/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keyed_hash.h"
#include "formats/pairing_table.h"

int held_table_init(struct held_table *t, size_t max)
{
	*t = (struct held_table){
		.bits = 1, .secret = keyed_hash_secret(), .oldest = HELD_NONE, .newest = HELD_NONE
	};
	if (max >= HELD_NONE / 4)
		return -ENOMEM;
	while ((size_t)1 << t->bits < 2 * max)
		t->bits++;
	t->max = (uint32_t)max;
	t->held = calloc(max, sizeof(*t->held));
	for (int c = 0; c < NR_CHAINS; c++)
		t->buckets[c] = malloc(((size_t)1 << t->bits) * sizeof(uint32_t));
	if (!t->held || !t->buckets[0] || !t->buckets[1]) {
		held_table_release(t);
		return -ENOMEM;
	}
	for (int c = 0; c < NR_CHAINS; c++)
		memset(t->buckets[c], 0xff, ((size_t)1 << t->bits) * sizeof(uint32_t));
	for (uint32_t i = 0; i < t->max; i++)
		t->held[i].newer = i + 1 < t->max ? i + 1 : HELD_NONE;
	return 0;
}

void held_table_release(struct held_table *t)
{
	free(t->held);
	free(t->buckets[0]);
	free(t->buckets[1]);
	*t = (struct held_table){ .held = NULL };
}

static uint32_t *bucket_of(const struct held_table *t, enum held_chain chain, uint32_t device,
			   uint64_t sector)
{
	uint64_t key = sector ^ (uint64_t)device << 40;

	return &t->buckets[chain][keyed_home(t->secret, key, t->bits)];
}

static uint64_t end_of(const struct held *h)
{
	return h->at + h->left / SECTOR_BYTES;
}

static uint32_t *chain_of(const struct held_table *t, enum held_chain chain, const struct held *h)
{
	return bucket_of(t, chain, h->device, chain == CHAIN_BEGIN ? h->at : end_of(h));
}

static bool is_in_chain(enum held_chain chain, const struct held *h)
{
	return chain == CHAIN_BEGIN ||
	       ((h->state == HELD_MADE || h->state == HELD_CLOSING) && h->left);
}

static void chain_in(struct held_table *t, uint32_t i)
{
	for (int c = 0; c < NR_CHAINS; c++) {
		uint32_t *at = chain_of(t, c, &t->held[i]);

		if (!is_in_chain(c, &t->held[i]))
			continue;
		while (*at != HELD_NONE)
			at = &t->held[*at].next[c];
		t->held[i].next[c] = HELD_NONE;
		*at = i;
	}
}

static void chain_out(struct held_table *t, uint32_t i)
{
	for (int c = 0; c < NR_CHAINS; c++) {
		uint32_t *at = chain_of(t, c, &t->held[i]);

		if (!is_in_chain(c, &t->held[i]))
			continue;
		while (*at != i)
			at = &t->held[*at].next[c];
		*at = t->held[i].next[c];
	}
}

uint32_t held_table_add(struct held_table *t, uint32_t device, uint64_t sector, uint32_t bytes)
{
	uint32_t i = t->free;
	struct held *h = &t->held[i];

	t->free = h->newer;
	*h = (struct held){ .device = device,
			    .sector = sector,
			    .at = sector,
			    .bytes = bytes,
			    .left = bytes,
			    .older = t->newest,
			    .newer = HELD_NONE,
			    .state = HELD_MADE };
	*(t->newest == HELD_NONE ? &t->oldest : &t->held[t->newest].newer) = i;
	t->newest = i;
	t->nr++;
	chain_in(t, i);
	return i;
}

void held_table_remove(struct held_table *t, uint32_t i)
{
	struct held *h = &t->held[i];

	chain_out(t, i);
	*(h->older == HELD_NONE ? &t->oldest : &t->held[h->older].newer) = h->newer;
	*(h->newer == HELD_NONE ? &t->newest : &t->held[h->newer].older) = h->older;
	h->state = HELD_FREE;
	h->newer = t->free;
	t->free = i;
	t->nr--;
}

void held_table_change(struct held_table *t, uint32_t i, enum held_state state, uint64_t at,
		       uint32_t left)
{
	chain_out(t, i);
	t->held[i].state = (uint8_t)state;
	t->held[i].at = at;
	t->held[i].left = left;
	chain_in(t, i);
}

static bool is_alike(const struct held *h, const struct block_event *e)
{
	return h->device == e->device && h->operation == e->operation &&
	       !((h->flags ^ e->flags) & REQUEST_PASSTHROUGH);
}

uint32_t held_table_begins(const struct held_table *t, const struct block_event *e, uint64_t sector,
			   enum held_state state, uint64_t gap_ns)
{
	uint32_t best = HELD_NONE, i = *bucket_of(t, CHAIN_BEGIN, e->device, sector);
	int best_score = -1;

	for (; i != HELD_NONE; i = t->held[i].next[CHAIN_BEGIN]) {
		const struct held *h = &t->held[i];
		int score = 4 * !h->is_told + 2 * (h->alive_ns > gap_ns) + (h->left == e->bytes);

		if (h->at != sector || h->state != state || !is_alike(h, e))
			continue;
		if (score > best_score || (score == best_score && state == HELD_ISSUED)) {
			best = i;
			best_score = score;
		}
	}
	return best;
}

uint32_t held_table_ends(const struct held_table *t, const struct block_event *e,
			 enum held_state state, uint32_t other_than)
{
	uint32_t best = HELD_NONE, i = *bucket_of(t, CHAIN_END, e->device, e->sector);

	for (; i != HELD_NONE; i = t->held[i].next[CHAIN_END]) {
		const struct held *h = &t->held[i];

		if (i != other_than && h->state == state && end_of(h) == e->sector &&
		    is_alike(h, e))
			best = i;
	}
	return best;
}
