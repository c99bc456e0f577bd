/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_region: memory for trees of JSON values that are made and released as a whole.
 *
 * The JSON of one profile is a tree of several thousand small values that live for a millisecond.
 * Taken from the heap of a thread, they leave holes between values that live longer, and the heap
 * of an agent that makes such a tree each second grows for hours. A region takes large blocks from
 * the system once, hands out their bytes one after the other, and forgets all of them at once.
 *
 *	json_region_install();              once, before any JSON value and before other threads
 *	json_region_enter(&region);         from here this thread's JSON values lie in the region
 *	...                                 make, print and release the values
 *	json_region_leave();                no value of the region may be used any more
 *
 * Between enter and leave only values of this region may be made; older ones may be released. A
 * region belongs to one thread. The memory that it keeps is at most JSON_REGION_KEPT_BYTES.
 */
#ifndef BASE_DATA_JSON_REGION_H
#define BASE_DATA_JSON_REGION_H

#include <stddef.h>

#define JSON_REGION_BLOCK_BYTES (256u << 10)
#define JSON_REGION_KEPT_BYTES	(1u << 20)

struct json_region_block;

/* A region of zeros is empty and ready for use. */
struct json_region {
	struct json_region_block *first, *at; /* at: the block that is being filled */
	void *last; /* the newest piece; NULL where there is none, or where it was released */
};

/* Makes jansson take its memory from the entered region, or from the heap where there is none. */
void json_region_install(void);
void json_region_enter(struct json_region *r);
/* Forgets all values of the region and keeps some of its memory for the next time. */
void json_region_leave(void);
/* Returns the memory that the region holds, in bytes. */
size_t json_region_bytes(const struct json_region *r);
void json_region_release(struct json_region *r);

#endif
