/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing_table: the requests under way that pairing.c knows; nobody else includes it.
 *
 * A fixed array, chained by age and by two hash tables: by the sector where what has not ended
 * begins, and for those not yet with the driver by the sector where they end.
 */
#ifndef FORMATS_PAIRING_TABLE_H
#define FORMATS_PAIRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/block_event.h"

#define HELD_NONE UINT32_MAX

/*
 * made -> issued -> out; issued -> made by a requeue; issued -> closing, where its data has ended
 * and the end of a flush is to come.
 */
enum held_state { HELD_FREE, HELD_MADE, HELD_ISSUED, HELD_CLOSING };

enum held_chain { CHAIN_BEGIN, CHAIN_END };
#define NR_CHAINS 2

struct held {
	uint64_t arrival_ns, dispatch_ns;
	uint64_t completion_ns; /* of its data; CLOSING only */
	uint64_t alive_ns;	/* when last seen: begun, or handed back */
	uint64_t sector;	/* first of all */
	uint64_t at;		/* first of what has not ended */
	uint32_t bytes, left;	/* in all, and not ended */
	uint32_t device, tid, pid, flags;
	uint32_t next[NR_CHAINS]; /* younger in its bucket */
	uint32_t older, newer;	  /* of all; the free ones are chained by newer */
	uint16_t error, requeues;
	uint8_t operation, begun_by;
	uint8_t state; /* enum held_state */
	bool has_dispatch;
	bool is_in_flush; /* the block layer ends it a second time */
	bool is_told;	  /* handed over as one that ended unseen; kept in case it ends after all */
};

struct held_table {
	struct held *held; /* owned, max of them */
	uint32_t *buckets[NR_CHAINS];
	unsigned int bits;
	uint32_t max, nr, free, oldest, newest;
};

/* max >= 1. 0 or -ENOMEM. */
int held_table_init(struct held_table *t, size_t max);
void held_table_release(struct held_table *t);

/* A new one, MADE, all else of it zero but these; the table must not be full. */
uint32_t held_table_add(struct held_table *t, uint32_t device, uint64_t sector, uint32_t bytes);
void held_table_remove(struct held_table *t, uint32_t i);
/* Changes what the chains depend on. */
void held_table_change(struct held_table *t, uint32_t i, enum held_state state, uint64_t at,
		       uint32_t left);

/*
 * Of those in this state on the event's device with its operation that begin at this sector: one that
 * was not told before others, then one last seen alive after gap_ns, one of this length, the oldest; of
 * those in state HELD_ISSUED the one that was dispatched last (pairing.h says why).
 */
uint32_t held_table_begins(const struct held_table *t, const struct block_event *e, uint64_t sector,
			   enum held_state state, uint64_t gap_ns);
/* The youngest MADE one, other than other_than, that ends at the event's sector. */
uint32_t held_table_ends(const struct held_table *t, const struct block_event *e,
			 uint32_t other_than);

#endif
