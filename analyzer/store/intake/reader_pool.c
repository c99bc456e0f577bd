/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/intake/reader_pool.h"

void reader_pool_init(struct reader_pool *p)
{
	*p = (struct reader_pool){ 0 };
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->given_back, NULL);
}

void reader_pool_release(struct reader_pool *p)
{
	while (p->nr_idle)
		segment_reader_free(p->idle[--p->nr_idle]);
	pthread_cond_destroy(&p->given_back);
	pthread_mutex_destroy(&p->lock);
}

struct segment_reader *reader_pool_take(struct reader_pool *p)
{
	struct segment_reader *reader = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->nr_taken >= READER_POOL_AT_ONCE)
		pthread_cond_wait(&p->given_back, &p->lock);
	p->nr_taken++;
	if (p->nr_idle)
		reader = p->idle[--p->nr_idle];
	pthread_mutex_unlock(&p->lock);
	return reader;
}

void reader_pool_give(struct reader_pool *p, struct segment_reader *reader)
{
	pthread_mutex_lock(&p->lock);
	p->nr_taken--;
	pthread_cond_signal(&p->given_back);
	if (reader && p->nr_idle < READER_POOL_KEPT) {
		p->idle[p->nr_idle++] = reader;
		reader = NULL;
	}
	pthread_mutex_unlock(&p->lock);
	segment_reader_free(reader);
}
