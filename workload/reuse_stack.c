/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/u64map.h"
#include "workload/reuse_stack.h"

#define SLOTS_PER_WORD	64
#define WORDS_PER_GROUP 16
#define SLOTS_PER_GROUP (SLOTS_PER_WORD * WORDS_PER_GROUP)

struct block {
	uint64_t hash;
	uint32_t slot;
};

struct reuse_stack {
	uint32_t max_blocks;
	uint32_t nr_slots;   /* a multiple of SLOTS_PER_GROUP, at least 2 * max_blocks */
	uint32_t next_slot;  /* the next slot to assign; <= nr_slots */
	struct u64map index; /* hash to blocks[] */
	struct block *blocks;
	uint32_t *slot_block;  /* [nr_slots]; valid where the bit is set */
	uint64_t *bits;	       /* [nr_slots / 64] */
	uint8_t *word_count;   /* bits set, per word */
	uint16_t *group_count; /* bits set, per group */
	uint64_t *heap;	       /* hashes, the largest first */
	uint32_t *free_blocks; /* stack of unused indexes of blocks[] */
	uint32_t nr;
};

static void reuse_stack_forget(struct reuse_stack *s)
{
	memset(s->bits, 0, s->nr_slots / SLOTS_PER_WORD * sizeof(*s->bits));
	memset(s->word_count, 0, s->nr_slots / SLOTS_PER_WORD * sizeof(*s->word_count));
	memset(s->group_count, 0, s->nr_slots / SLOTS_PER_GROUP * sizeof(*s->group_count));
	s->next_slot = 0;
}

static void reuse_stack_clear(struct reuse_stack *s)
{
	reuse_stack_forget(s);
	u64map_clear(&s->index);
	for (uint32_t i = 0; i < s->max_blocks; i++)
		s->free_blocks[i] = s->max_blocks - 1 - i;
	s->nr = 0;
}

static uint32_t reuse_stack_slots(uint32_t max_blocks)
{
	return (2 * max_blocks + SLOTS_PER_GROUP - 1) / SLOTS_PER_GROUP * SLOTS_PER_GROUP;
}

/* Gives an array room for nr items. Returns false without memory; the array is then unchanged. */
static bool reuse_stack_resize(void *array, size_t nr, size_t item_bytes)
{
	void *old, *more;

	memcpy(&old, array, sizeof(old));
	more = realloc(old, nr * item_bytes);
	if (!more)
		return false;
	memcpy(array, &more, sizeof(more));
	return true;
}

/*
 * Gives all arrays room for that many blocks. Their old contents stay; new elements are not
 * initialised.
 */
static int reuse_stack_allocate(struct reuse_stack *s, uint32_t max_blocks)
{
	size_t slots = reuse_stack_slots(max_blocks), words = slots / SLOTS_PER_WORD;

	if (!reuse_stack_resize(&s->blocks, max_blocks, sizeof(*s->blocks)) ||
	    !reuse_stack_resize(&s->heap, max_blocks, sizeof(*s->heap)) ||
	    !reuse_stack_resize(&s->free_blocks, max_blocks, sizeof(*s->free_blocks)) ||
	    !reuse_stack_resize(&s->slot_block, slots, sizeof(*s->slot_block)) ||
	    !reuse_stack_resize(&s->bits, words, sizeof(*s->bits)) ||
	    !reuse_stack_resize(&s->word_count, words, sizeof(*s->word_count)) ||
	    !reuse_stack_resize(&s->group_count, slots / SLOTS_PER_GROUP, sizeof(*s->group_count)))
		return -ENOMEM;
	return 0;
}

struct reuse_stack *reuse_stack_new(uint32_t max_blocks)
{
	struct reuse_stack *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (reuse_stack_allocate(s, max_blocks)) {
		reuse_stack_free(s);
		return NULL;
	}
	s->max_blocks = max_blocks;
	s->nr_slots = reuse_stack_slots(max_blocks);
	reuse_stack_clear(s);
	return s;
}

int reuse_stack_grow(struct reuse_stack *s, uint32_t max_blocks)
{
	uint32_t old = s->max_blocks, slots = reuse_stack_slots(max_blocks);
	size_t old_words = s->nr_slots / SLOTS_PER_WORD, words = slots / SLOTS_PER_WORD;
	size_t old_groups = s->nr_slots / SLOTS_PER_GROUP, groups = slots / SLOTS_PER_GROUP;
	int ret = reuse_stack_allocate(s, max_blocks);

	if (ret)
		return ret;
	memset(s->bits + old_words, 0, (words - old_words) * sizeof(*s->bits));
	memset(s->word_count + old_words, 0, (words - old_words) * sizeof(*s->word_count));
	memset(s->group_count + old_groups, 0, (groups - old_groups) * sizeof(*s->group_count));
	/* All old blocks are in use, so the stack of unused blocks holds only the new ones. */
	for (uint32_t i = 0; i < max_blocks - old; i++)
		s->free_blocks[i] = max_blocks - 1 - i;
	s->max_blocks = max_blocks;
	s->nr_slots = slots;
	return 0;
}

uint32_t reuse_stack_cap(const struct reuse_stack *s)
{
	return s->max_blocks;
}

void reuse_stack_free(struct reuse_stack *s)
{
	if (!s)
		return;
	u64map_release(&s->index);
	free(s->blocks);
	free(s->heap);
	free(s->free_blocks);
	free(s->slot_block);
	free(s->bits);
	free(s->word_count);
	free(s->group_count);
	free(s);
}

uint32_t reuse_stack_nr(const struct reuse_stack *s)
{
	return s->nr;
}

static void set_slot(struct reuse_stack *s, uint32_t slot, uint32_t block)
{
	s->bits[slot / SLOTS_PER_WORD] |= 1ull << slot % SLOTS_PER_WORD;
	s->word_count[slot / SLOTS_PER_WORD]++;
	s->group_count[slot / SLOTS_PER_GROUP]++;
	s->slot_block[slot] = block;
	s->blocks[block].slot = slot;
}

static void clear_slot(struct reuse_stack *s, uint32_t slot)
{
	s->bits[slot / SLOTS_PER_WORD] &= ~(1ull << slot % SLOTS_PER_WORD);
	s->word_count[slot / SLOTS_PER_WORD]--;
	s->group_count[slot / SLOTS_PER_GROUP]--;
}

static uint32_t nr_after(const struct reuse_stack *s, uint32_t slot)
{
	uint32_t word = slot / SLOTS_PER_WORD, group = slot / SLOTS_PER_GROUP;
	uint32_t group_end = (group + 1) * WORDS_PER_GROUP;
	uint32_t nr_groups = (s->next_slot + SLOTS_PER_GROUP - 1) / SLOTS_PER_GROUP;
	/* The shift is done in two steps because a shift by 64 is undefined. */
	uint64_t rest = s->bits[word] >> slot % SLOTS_PER_WORD >> 1;
	uint32_t nr = (uint32_t)__builtin_popcountll(rest);

	for (uint32_t i = word + 1; i < group_end; i++)
		nr += s->word_count[i];
	for (uint32_t i = group + 1; i < nr_groups; i++)
		nr += s->group_count[i];
	return nr;
}

/* Gives the blocks the slots 0, 1, ... in their present order. */
static void reuse_stack_renumber(struct reuse_stack *s)
{
	uint32_t nr = 0;

	for (uint32_t slot = 0; slot < s->next_slot; slot++)
		if (s->bits[slot / SLOTS_PER_WORD] >> slot % SLOTS_PER_WORD & 1)
			s->slot_block[nr++] = s->slot_block[slot];
	reuse_stack_forget(s);
	for (; s->next_slot < nr; s->next_slot++)
		set_slot(s, s->next_slot, s->slot_block[s->next_slot]);
}

static uint32_t next_slot(struct reuse_stack *s)
{
	if (s->next_slot == s->nr_slots)
		reuse_stack_renumber(s);
	return s->next_slot++;
}

uint32_t reuse_stack_touch(struct reuse_stack *s, uint64_t hash)
{
	uint32_t at = u64map_find(&s->index, hash), distance;

	if (at == U64MAP_NONE)
		return UINT32_MAX;
	distance = nr_after(s, s->blocks[at].slot);
	if (distance) { /* else the block is on top already */
		clear_slot(s, s->blocks[at].slot);
		set_slot(s, next_slot(s), at);
	}
	return distance;
}

static void heap_up(uint64_t *heap, uint32_t at)
{
	uint64_t hash = heap[at];

	for (; at && heap[(at - 1) / 2] < hash; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = hash;
}

static void heap_down(uint64_t *heap, uint32_t nr)
{
	uint64_t hash = heap[nr];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < nr && heap[child + 1] > heap[child])
			child++;
		if (child >= nr || heap[child] <= hash)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = hash;
}

int reuse_stack_push(struct reuse_stack *s, uint64_t hash)
{
	uint32_t at = s->free_blocks[s->max_blocks - 1 - s->nr];
	int ret = u64map_put(&s->index, hash, at);

	if (ret)
		return ret;
	s->blocks[at].hash = hash;
	set_slot(s, next_slot(s), at);
	s->heap[s->nr] = hash;
	heap_up(s->heap, s->nr++);
	return 0;
}

uint64_t reuse_stack_largest(const struct reuse_stack *s)
{
	return s->heap[0];
}

void reuse_stack_drop_largest(struct reuse_stack *s)
{
	uint64_t hash = s->heap[0];
	uint32_t at = u64map_find(&s->index, hash);

	clear_slot(s, s->blocks[at].slot);
	u64map_erase(&s->index, hash);
	s->nr--;
	s->free_blocks[s->max_blocks - 1 - s->nr] = at;
	if (s->nr)
		heap_down(s->heap, s->nr);
}

size_t reuse_stack_memory(const struct reuse_stack *s)
{
	size_t words = s->nr_slots / SLOTS_PER_WORD, groups = s->nr_slots / SLOTS_PER_GROUP;

	return sizeof(*s) + u64map_memory(&s->index) +
	       s->max_blocks * (sizeof(*s->blocks) + sizeof(*s->heap) + sizeof(*s->free_blocks)) +
	       s->nr_slots * sizeof(*s->slot_block) +
	       words * (sizeof(*s->bits) + sizeof(*s->word_count)) +
	       groups * sizeof(*s->group_count);
}
