/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/reader_pool.h"

void reader_pool_init(struct reader_pool *p)
{
	*p = (struct reader_pool){ 0 };
	pthread_mutex_init(&p->lock, NULL);
}

void reader_pool_release(struct reader_pool *p)
{
	while (p->nr_idle)
		segment_reader_free(p->idle[--p->nr_idle]);
	pthread_mutex_destroy(&p->lock);
}

struct segment_reader *reader_pool_take(struct reader_pool *p)
{
	struct segment_reader *reader = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->nr_idle)
		reader = p->idle[--p->nr_idle];
	pthread_mutex_unlock(&p->lock);
	return reader;
}

void reader_pool_give(struct reader_pool *p, struct segment_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->nr_idle < READER_POOL_KEPT) {
		p->idle[p->nr_idle++] = reader;
		reader = NULL;
	}
	pthread_mutex_unlock(&p->lock);
	segment_reader_free(reader);
}
