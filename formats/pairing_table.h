/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairing_table: the requests in flight that pairing.c knows. No other file includes this header,
 * except the test of the table.
 *
 * It is a fixed array with chains by age and two hash tables: by the sector at which the unfinished
 * part of a request begins, and, for requests that are not or no longer with the driver, by the
 * sector at which they end. A guest chooses the sectors; a secret keeps it from choosing them for
 * one bucket.
 */
#ifndef FORMATS_PAIRING_TABLE_H
#define FORMATS_PAIRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/block_event.h"

#define HELD_NONE UINT32_MAX

/*
 * A request goes made -> issued -> out. A requeue moves it from issued to made. It goes from issued
 * to closing where its data has ended and the end of a flush is still to come.
 */
enum held_state { HELD_FREE, HELD_MADE, HELD_ISSUED, HELD_CLOSING };

enum held_chain { CHAIN_BEGIN, CHAIN_END };
#define NR_CHAINS 2

struct held {
	uint64_t arrival_ns, dispatch_ns;
	uint64_t completion_ns; /* end of its data; valid in state CLOSING only */
	uint64_t alive_ns;	/* when it was last seen: begun, or handed back */
	uint64_t sector;	/* first sector of the request */
	/* first sector of the part that has not ended; in state CLOSING, of the last part */
	uint64_t at;
	/* bytes in all, and bytes that have not ended; in state CLOSING, bytes of the last part */
	uint32_t bytes, left;
	uint32_t device, tid, pid, flags;
	uint32_t next[NR_CHAINS]; /* the next younger request in its bucket */
	uint32_t older, newer;	  /* neighbours in age; the free entries are chained by newer */
	uint16_t error, requeues;
	uint8_t operation, begun_by;
	uint8_t state; /* enum held_state */
	bool has_dispatch;
	bool is_in_flush; /* the block layer will end it a second time */
	/* it was handed over as ended unseen, and is kept because it may still end */
	bool is_told;
};

struct held_table {
	struct held *held; /* owned; max entries */
	uint32_t *buckets[NR_CHAINS];
	unsigned int bits;
	uint64_t secret; /* of keyed_home() */
	uint32_t max, nr, free, oldest, newest;
};

/* max is at least 1. Returns 0 or -ENOMEM. */
int held_table_init(struct held_table *t, size_t max);
void held_table_release(struct held_table *t);

/*
 * Adds a request in state MADE with these values and all others 0, and returns its index. The table
 * must not be full.
 */
uint32_t held_table_add(struct held_table *t, uint32_t device, uint64_t sector, uint32_t bytes);
void held_table_remove(struct held_table *t, uint32_t i);
/* Changes the values on which the chains depend. */
void held_table_change(struct held_table *t, uint32_t i, enum held_state state, uint64_t at,
		       uint32_t left);

/*
 * Finds a request in this state with the event's device and operation that begins at this sector.
 * One that was not handed over comes before others, then one last seen after gap_ns, then one of
 * this length, then the oldest. In state HELD_ISSUED the one that was dispatched last is found;
 * pairing.h says why.
 */
uint32_t held_table_begins(const struct held_table *t, const struct block_event *e, uint64_t sector,
			   enum held_state state, uint64_t gap_ns);
/*
 * Finds the youngest request in this state (MADE or CLOSING), other than other_than, that ends at
 * the event's sector.
 */
uint32_t held_table_ends(const struct held_table *t, const struct block_event *e,
			 enum held_state state, uint32_t other_than);

#endif
