/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window_room: what the windows of many devices share, so that a reader of a trace is bounded as a whole.
 *
 * One window is bounded whatever its load, but a trace that names hundreds of devices makes hundreds of
 * windows, and one request of gigabytes touches as many blocks as many thousands of honest ones. A reader of
 * traces that others sent gives all its windows one room. The room grants bytes for the tables of blocks, and
 * blocks to look at one by one, both by the number of requests, so that an honest trace of any length and of any
 * number of devices finds enough of both, and a short trace cannot cost much. Where the room is used up the
 * estimates lose precision and not correctness: a miss-ratio curve is made of fewer samples, a footprint is
 * counted by a sketch, and blocks that are not looked at make both unknown, which the profile says.
 *
 * Windows without a room (those of the agent) allocate each table whole when it is first used, so that
 * their memory stops growing at once. Windows with a room let their tables grow with use.
 *
 *	struct window_room room;
 *	window_room_init(&room, nr_requests);
 *	config.room = &room;	 (of every window; the room outlives them)
 *
 * The answer is the same for the same requests in the same order. Not thread-safe: of the lanes of the windows
 * (window.h) the lane of the blocks alone uses the room, and one thread at a time works in a lane.
 */
#ifndef WORKLOAD_WINDOW_ROOM_H
#define WORKLOAD_WINDOW_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks that footprint and reuse distances look at for each request, on average: 4 MiB, the largest
 * request that the kernel makes unless it is told otherwise (BLK_DEF_MAX_SECTORS_CAP, 2560 to 8192
 * sectors). */
#define WINDOW_BLOCKS_PER_REQUEST 1024u
#define WINDOW_FIRST_BLOCKS	  65536u /* 256 MiB, so that a few large requests are whole */

/* The tables of blocks of one device take 1 MiB when they are full: four devices at once, where requests are few. */
#define WINDOW_ROOM_FIRST_BYTES (4u << 20)
/* A request of 4 KiB adds at most one block to each of the two tables: some 96 bytes and 32. */
#define WINDOW_ROOM_BYTES_PER_REQUEST 128u

struct window_room {
	uint64_t blocks_left; /* that may still be looked at one by one */
	uint64_t bytes_left;  /* by which the tables of blocks may still grow */
};

/* nr_requests: how many the trace has. */
static inline void window_room_init(struct window_room *room, uint64_t nr_requests)
{
	const uint64_t most = UINT64_MAX / 2 / WINDOW_ROOM_BYTES_PER_REQUEST;

	room->blocks_left = WINDOW_FIRST_BLOCKS;
	room->bytes_left = WINDOW_ROOM_FIRST_BYTES + (nr_requests < most ? nr_requests : most) *
							     WINDOW_ROOM_BYTES_PER_REQUEST;
}

/* Takes bytes for a table; false where they are not there. Without a room there are always enough. */
static inline bool window_room_take(struct window_room *room, size_t bytes)
{
	if (!room)
		return true;
	if (bytes > room->bytes_left)
		return false;
	room->bytes_left -= bytes;
	return true;
}

static inline void window_room_return(struct window_room *room, size_t bytes)
{
	if (room)
		room->bytes_left += bytes;
}

#endif
