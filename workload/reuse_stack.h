/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse_stack: exact LRU stack distances over a bounded set of blocks.
 *
 * Each block occupies a slot, and slots are assigned in order of time. A bit per slot tells whether
 * the last reference of a block is there. The distance of a block is the number of bits set after
 * its slot: the rest of its word, the counts of the remaining words in its group, and the counts of
 * the groups after it. Moving a block clears one bit and sets another, which costs O(1). When the
 * slots are used up they are renumbered without gaps. This takes one pass over the slots, at most
 * once in slots / 2 references. A heap by hash gives the block to drop.
 */
#ifndef WORKLOAD_REUSE_STACK_H
#define WORKLOAD_REUSE_STACK_H

#include <stddef.h>
#include <stdint.h>

struct reuse_stack;

/*
 * The most bytes that one block takes in all tables together: 28 in the arrays, up to 64 in the
 * index.
 */
#define REUSE_STACK_BLOCK_BYTES 96

/* max_blocks is at least 1. Returns NULL without memory. */
struct reuse_stack *reuse_stack_new(uint32_t max_blocks);
void reuse_stack_free(struct reuse_stack *s);
uint32_t reuse_stack_nr(const struct reuse_stack *s);
/* Returns how many blocks the stack may hold. */
uint32_t reuse_stack_cap(const struct reuse_stack *s);
/*
 * Lets a full stack hold up to max_blocks, which must be more than now. Returns 0, or -ENOMEM with
 * nothing changed.
 */
int reuse_stack_grow(struct reuse_stack *s, uint32_t max_blocks);
/*
 * References a block that is held: moves it to the top and returns the number of other blocks
 * referenced since its last reference. Returns UINT32_MAX, and changes nothing, where the block is
 * not held.
 */
uint32_t reuse_stack_touch(struct reuse_stack *s, uint64_t hash);
/*
 * Puts a block that is not held on top. There must be fewer than max_blocks. Returns 0 or -ENOMEM.
 */
int reuse_stack_push(struct reuse_stack *s, uint64_t hash);
/* Returns the largest hash held. The stack must not be empty. */
uint64_t reuse_stack_largest(const struct reuse_stack *s);
/* Drops the block with the largest hash. The stack must not be empty. */
void reuse_stack_drop_largest(struct reuse_stack *s);
size_t reuse_stack_memory(const struct reuse_stack *s);

#endif
