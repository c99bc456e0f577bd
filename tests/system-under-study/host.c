// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/system-under-study/host.h"

int host_init(struct host *h, const struct sus_params *p, uint32_t nr)
{
	*h = (struct host){ .p = p };
	for (int i = 0; i < 2; i++) {
		h->queues[i].cap = nr;
		h->queues[i].sorted = calloc((size_t)nr + 1, sizeof(*h->queues[i].sorted));
		if (!h->queues[i].sorted) {
			host_release(h);
			return -ENOMEM;
		}
	}
	return 0;
}

void host_release(struct host *h)
{
	free(h->queues[0].sorted);
	free(h->queues[1].sorted);
	memset(h->queues, 0, sizeof(h->queues));
}

/* The first at this address or above; nr where there is none. */
static uint32_t find(const struct host_queue *q, uint64_t address)
{
	uint32_t low = 0, high = q->nr;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (q->sorted[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void host_add(struct host *h, uint32_t request, bool write, uint64_t address, double now)
{
	struct host_queue *q = &h->queues[write];
	uint32_t at = find(q, address + 1);

	memmove(q->sorted + at + 1, q->sorted + at, (q->nr - at) * sizeof(*q->sorted));
	q->sorted[at] = (struct host_entry){ address, now, request };
	q->nr++;
}

static uint32_t oldest(const struct host_queue *q)
{
	uint32_t at = 0;

	for (uint32_t i = 1; i < q->nr; i++)
		if (q->sorted[i].since < q->sorted[at].since)
			at = i;
	return at;
}

/* Chooses the direction of a new batch; the queue is not empty. */
static void choose_direction(struct host *h)
{
	bool reads = h->queues[0].nr, writes = h->queues[1].nr;

	h->writing = !reads || (writes && h->starved >= h->p->writes_starved);
	if (h->writing)
		h->starved = 0;
	else if (writes)
		h->starved++;
}

/* Where a batch goes on or begins in its queue. */
static uint32_t choose_request(struct host *h, double now)
{
	const struct host_queue *q = &h->queues[h->writing];
	double expire = h->writing ? h->p->write_expire_s : h->p->read_expire_s;
	uint32_t first = oldest(q), at = h->has_next ? find(q, h->next) : q->nr;

	if (at == q->nr || q->sorted[first].since + expire < now)
		return first;
	return at;
}

bool host_dispatch(struct host *h, double now, uint32_t *request)
{
	struct host_queue *q = &h->queues[h->writing];
	uint32_t at;

	if (h->in_flight >= h->p->queue_depth || !(h->queues[0].nr + h->queues[1].nr))
		return false;
	at = h->has_next ? find(q, h->next) : q->nr;
	if (at == q->nr || h->batched >= h->p->fifo_batch) {
		bool before = h->writing;

		choose_direction(h);
		h->has_next &= h->writing == before;
		at = choose_request(h, now);
		h->batched = 0;
	}
	q = &h->queues[h->writing];
	*request = q->sorted[at].request;
	h->next = q->sorted[at].address;
	h->has_next = true;
	h->batched++;
	h->in_flight++;
	q->nr--;
	memmove(q->sorted + at, q->sorted + at + 1, (q->nr - at) * sizeof(*q->sorted));
	return true;
}

void host_done(struct host *h)
{
	h->in_flight--;
}
