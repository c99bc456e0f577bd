/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader_pool: readers of segments for threads that need one from time to time. Making a reader's
 * memory takes longer than reading a small segment, and the memory of the last reader is still in
 * the processor's caches. For any thread.
 *
 * Checking a segment takes up to about 40 MiB beside its bytes, however small it is on the wire. So
 * at most READER_POOL_AT_ONCE threads have a reader at a time, and the others wait.
 */
#ifndef ANALYZER_READER_POOL_H
#define ANALYZER_READER_POOL_H

#include <pthread.h>

#include "formats/segment/segment.h"

#define READER_POOL_AT_ONCE 4
#define READER_POOL_KEPT    4 /* idle readers that are kept, about 300 KiB each; more are freed */

struct reader_pool {
	pthread_mutex_t lock;
	pthread_cond_t given_back;
	unsigned int nr_taken;
	struct segment_reader *idle[READER_POOL_KEPT];
	unsigned int nr_idle;
};

void reader_pool_init(struct reader_pool *p);
void reader_pool_release(struct reader_pool *p);
/*
 * Waits for its turn and returns the reader that was given back last, or NULL where none is idle;
 * the caller then makes one.
 */
struct segment_reader *reader_pool_take(struct reader_pool *p);
/* Ends the turn and gives back a cleared reader or NULL. */
void reader_pool_give(struct reader_pool *p, struct segment_reader *reader);

#endif
