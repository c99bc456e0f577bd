/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_room: holds the amounts that the windows of many devices share, so that the work and
 * memory of a reader of a trace are bounded as a whole.
 *
 * One window is bounded whatever its load. A trace that names hundreds of devices makes hundreds of
 * windows, though, and one request of gigabytes touches as many blocks as many thousands of
 * ordinary ones. A reader of traces that others sent therefore gives all its windows one room. The
 * room grants bytes for the tables of blocks, and a number of blocks that are examined one by one.
 * Both grow with the number of requests. An ordinary trace of any length and of any number of
 * devices finds enough of both, and a short trace cannot cost much. Where the room is used up the
 * estimates lose precision and not correctness: a miss-ratio curve is made of fewer samples, and a
 * footprint is counted by a sketch. Blocks that are not examined make both unknown, which the
 * profile says.
 *
 * Samples beyond REUSE_SAMPLES of a device have a budget of their own, so that one device with a
 * precise curve takes nothing from the footprints and the first samples of the others.
 *
 * Windows without a room (those of the agent) allocate each table whole when it is first used, so
 * that their memory soon stops growing. Windows with a room let their tables grow with use.
 *
 *	struct window_room room;
 *	window_room_init(&room, nr_requests);
 *	config.room = &room;	 (of every window; the room outlives them)
 *
 * The same requests in the same order give the same result. Not thread-safe: of the lanes of the
 * windows (window.h) only the lane of the blocks uses the room, and only one thread at a time works
 * in a lane.
 */
#ifndef WORKLOAD_WINDOW_ROOM_H
#define WORKLOAD_WINDOW_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * On average, this many blocks per request are examined for footprint and reuse distances: 4 MiB,
 * the largest request that the kernel makes by default (BLK_DEF_MAX_SECTORS_CAP, 2560 to 8192
 * sectors).
 */
#define WINDOW_BLOCKS_PER_REQUEST 1024u
#define WINDOW_FIRST_BLOCKS	  65536u /* 256 MiB: a few large requests are examined whole */

/*
 * The tables of blocks of one device take 1 MiB when they are full. This is enough for four devices
 * at once where there are few requests.
 */
#define WINDOW_ROOM_FIRST_BYTES (4u << 20)
/*
 * A request of 4 KiB adds at most one block to each of the two tables, which take about 96 and 32
 * bytes for it.
 */
#define WINDOW_ROOM_BYTES_PER_REQUEST 128u
/*
 * The samples beyond REUSE_SAMPLES. The first bytes are enough for REUSE_MAX_SAMPLES samples of one
 * device; each further 350 000 requests of the trace allow one more such device.
 */
#define WINDOW_ROOM_FIRST_SAMPLE_BYTES	     (5376u << 10)
#define WINDOW_ROOM_SAMPLE_BYTES_PER_REQUEST 16u

/* An amount that windows take from, and how little of it was ever left. */
struct window_budget {
	uint64_t left;
	uint64_t least_left; /* least amount ever left; 0 also if more was wanted than was left */
};

struct window_room {
	struct window_budget blocks; /* blocks that may still be examined one by one */
	struct window_budget bytes;  /* bytes by which the tables of blocks may still grow */
	/* bytes for samples beyond REUSE_SAMPLES of a device */
	struct window_budget sample_bytes;
};

static inline struct window_budget window_budget_of(uint64_t amount)
{
	return (struct window_budget){ .left = amount, .least_left = amount };
}

/* nr_requests is the number of requests in the trace. */
static inline void window_room_init(struct window_room *room, uint64_t nr_requests)
{
	const uint64_t most = UINT64_MAX / 2 / WINDOW_ROOM_BYTES_PER_REQUEST;
	uint64_t nr = nr_requests < most ? nr_requests : most;

	room->blocks = window_budget_of(WINDOW_FIRST_BLOCKS);
	room->bytes =
		window_budget_of(WINDOW_ROOM_FIRST_BYTES + nr * WINDOW_ROOM_BYTES_PER_REQUEST);
	room->sample_bytes = window_budget_of(WINDOW_ROOM_FIRST_SAMPLE_BYTES +
					      nr * WINDOW_ROOM_SAMPLE_BYTES_PER_REQUEST);
}

/* Shares the bytes among that many readers of the same requests. nr_shares is at least 1. */
static inline void window_room_share(struct window_room *room, uint32_t nr_shares)
{
	room->bytes = window_budget_of(room->bytes.left / nr_shares);
	room->sample_bytes = window_budget_of(room->sample_bytes.left / nr_shares);
}

/*
 * Takes from a budget of a room. Returns false where less is left. Without a room the budget is
 * NULL, and there is always enough.
 */
static inline bool window_room_take(struct window_budget *budget, uint64_t amount)
{
	if (!budget)
		return true;
	if (amount > budget->left) {
		budget->least_left = 0;
		return false;
	}
	budget->left -= amount;
	if (budget->left < budget->least_left)
		budget->least_left = budget->left;
	return true;
}

/* Returns how much of a budget was taken at most: all of it where more was asked for. */
static inline uint64_t window_room_taken(const struct window_budget *whole,
					 const struct window_budget *left)
{
	return left->least_left < whole->left ? whole->left - left->least_left : 0;
}

static inline void window_room_return(struct window_budget *budget, uint64_t amount)
{
	if (budget)
		budget->left += amount;
}

#endif
