/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * life.h: the life of a line of the table of requests in flight: how a bio gets a line of its own,
 * and whether a line belongs to the request that is at its address now.
 *
 * A line is found by the request's address, which the kernel uses again. Where the end of an
 * earlier request and the beginning of the next were not seen, the line belongs to the earlier
 * request, and an end must not be paired with that request's arrival.
 */
#ifndef BPF_LIFE_H
#define BPF_LIFE_H

#include "bpf/event.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/*
 * sector, bytes and cmd_flags are the request's own present values; mask selects the operation from
 * the flags. The sector at which a request began lies within it even after merges have made it
 * grow. Partial ends move the sector on, so a line that has seen one is not compared.
 */
static __always_inline int line_is_of(const struct inflight *at, __u64 sector, __u32 bytes,
				      __u32 cmd_flags, __u32 mask)
{
	if (at->has_parts)
		return 1;
	if ((at->cmd_flags & mask) != (cmd_flags & mask))
		return 0;
	/*
	 * Only reads and writes (0 and 1 in every kernel) keep their sector: the driver moves a
	 * zone append to where it was written, and other operations may have no sector.
	 */
	if ((cmd_flags & mask) > 1)
		return 1;
	if (!at->bytes)
		return !bytes;
	return at->sector - sector < bytes >> 9;
}

/*
 * Returns whether a request that ends with nothing left to transfer is the line's write, of which
 * nothing has ended yet: its data ended in a flush sequence, and that end was not seen. Kernels
 * leave the sector at the begin of the data; those that take it back from the bio (commit
 * 6f8fd758de63, Linux 6.10) may leave it at their end. An empty flush has sector 0.
 */
static __always_inline int line_lost_data_end(const struct inflight *at, __u64 sector, __u32 bytes,
					      __u32 cmd_flags, __u32 mask)
{
	if (bytes || !at->bytes || !sector || (at->cmd_flags & mask) != (cmd_flags & mask))
		return 0;
	return sector == at->sector || sector == at->sector + (at->bytes >> 9);
}

/*
 * Returns the length of a request that ended in parts. left is the number of bytes left by its last
 * end. The last end of a flush sequence gives no number, and all data have ended before it; a
 * request in a flush sequence does not grow, so its length is the submitted one, however many of
 * its ends were seen or counted twice.
 */
static __always_inline __u32 line_bytes(const struct inflight *at, __u32 left)
{
	return left ? left + (__u32)at->ended_bytes : at->bytes;
}

#define INFLIGHT_WAYS 4 /* lines of a set */

/*
 * Takes a free line of the set for this key. Returns NULL where all lines are taken. Two processors
 * that look for a line at the same instant never get the same one. Needs Linux 5.12 or later.
 */
static __always_inline struct inflight *line_claim(struct inflight *set, __u64 key)
{
	for (int way = 0; way < INFLIGHT_WAYS; way++)
		if (!set[way].key && !__sync_val_compare_and_swap(&set[way].key, 0, key))
			return &set[way];
	return NULL;
}

enum line_found {
	LINE_GONE,   /* The line was freed, or another request has it. */
	LINE_UNSEEN, /* Nobody has recorded the earlier request. */
	LINE_TOLD,   /* The agent has recorded the earlier request. */
};

/*
 * Takes over the line that an earlier request at the same address still has, and returns the fate
 * of that request. Only the key that was looked for is replaced: a line that was freed meanwhile is
 * of a request that was recorded, and a line that was taken away belongs to another one. key is
 * without INFLIGHT_TOLD. Needs Linux 5.12 or later.
 */
static __always_inline enum line_found line_take_over(struct inflight *at, __u64 key)
{
	__u64 told = key | INFLIGHT_TOLD;

	if (__sync_val_compare_and_swap(&at->key, key, key) == key)
		return LINE_UNSEEN;
	return __sync_val_compare_and_swap(&at->key, told, key) == told ? LINE_TOLD : LINE_GONE;
}

/*
 * Frees the line of a request that has ended. Returns 1 where the line was still the request's, so
 * that whatever was read from it before is the request's own. Returns 0 where another request has
 * taken the line away, which then keeps it, or where the agent has recorded the request meanwhile.
 * key is without INFLIGHT_TOLD. Needs Linux 5.12 or later.
 */
static __always_inline int line_release(struct inflight *at, __u64 key)
{
	if (__sync_val_compare_and_swap(&at->key, key, 0) == key)
		return 1;
	__sync_val_compare_and_swap(&at->key, key | INFLIGHT_TOLD, 0);
	return 0;
}

#endif
