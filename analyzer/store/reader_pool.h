/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_pool: readers of segments for threads that each need one now and then. What a reader works
 * in takes longer to make than a small segment to read, and the last one used is still in the
 * caches. Any thread.
 *
 * To check a segment takes up to some 40 MiB beside its bytes, whatever its length on the wire. So at
 * most READER_POOL_AT_ONCE threads have a reader at a time; the others wait for one.
 */
#ifndef ANALYZER_READER_POOL_H
#define ANALYZER_READER_POOL_H

#include <pthread.h>

#include "formats/segment/segment.h"

#define READER_POOL_AT_ONCE 4
#define READER_POOL_KEPT    4 /* idle ones, about 300 KiB each; more are freed */

struct reader_pool {
	pthread_mutex_t lock;
	pthread_cond_t given_back;
	unsigned int nr_taken;
	struct segment_reader *idle[READER_POOL_KEPT];
	unsigned int nr_idle;
};

void reader_pool_init(struct reader_pool *p);
void reader_pool_release(struct reader_pool *p);
/* Waits for its turn. The one that was given back last; NULL where none is idle: the caller makes it. */
struct segment_reader *reader_pool_take(struct reader_pool *p);
/* Ends the turn, with a cleared one or NULL. */
void reader_pool_give(struct reader_pool *p, struct segment_reader *reader);

#endif
