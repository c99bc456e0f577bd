/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse_stack: exact LRU stack distances over a bounded set of blocks.
 *
 * Each block occupies a slot, slots being handed out in order of time; a bit per slot says whether
 * a block's last reference is there. The distance of a block is the number of bits set after its
 * slot: the rest of its word, the counts of the words left in its group, and the counts of the
 * groups behind. Moving a block clears one bit and sets another, O(1). When the slots run out they
 * are renumbered without gaps, which every slots / 2 references at most costs a pass over them. A
 * heap by hash gives the block to drop.
 */
#ifndef WORKLOAD_REUSE_STACK_H
#define WORKLOAD_REUSE_STACK_H

#include <stddef.h>
#include <stdint.h>

struct reuse_stack;

/* Bytes of one block, all tables together, at most: 28 in the arrays, up to 64 in the index. */
#define REUSE_STACK_BLOCK_BYTES 96

/* max_blocks >= 1. NULL without memory. */
struct reuse_stack *reuse_stack_new(uint32_t max_blocks);
void reuse_stack_free(struct reuse_stack *s);
void reuse_stack_clear(struct reuse_stack *s);
uint32_t reuse_stack_nr(const struct reuse_stack *s);
/* How many blocks it may hold. */
uint32_t reuse_stack_cap(const struct reuse_stack *s);
/* Lets a full stack hold up to max_blocks, which is more than now. 0 or -ENOMEM (then nothing changed). */
int reuse_stack_grow(struct reuse_stack *s, uint32_t max_blocks);
/*
 * References a block that is held: moves it to the top and returns the number of other blocks
 * referenced since its last reference; UINT32_MAX where it is not held (nothing changes).
 */
uint32_t reuse_stack_touch(struct reuse_stack *s, uint64_t hash);
/* Puts a block that is not held on top; there are fewer than max_blocks. 0 or -ENOMEM. */
int reuse_stack_push(struct reuse_stack *s, uint64_t hash);
/* The largest hash held; there is one. */
uint64_t reuse_stack_largest(const struct reuse_stack *s);
/* Drops the block with the largest hash; there is one. */
void reuse_stack_drop_largest(struct reuse_stack *s);
size_t reuse_stack_memory(const struct reuse_stack *s);

#endif
