/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "workload/latency.h"

/* The histograms of both directions as one array: there is nothing else in the struct. */
#define PER_DIRECTION (sizeof(struct latency_direction) / sizeof(struct histogram))
_Static_assert(sizeof(struct latency_direction) == (2 + NR_SIZE_CLASSES) * sizeof(struct histogram),
	       "queue, device, classes, no padding");

static struct histogram *histogram_at(struct latency *l, size_t i)
{
	struct latency_direction *d = &l->direction[i / PER_DIRECTION];

	i %= PER_DIRECTION;
	return i == 0 ? &d->queue : i == 1 ? &d->device : &d->size_class[i - 2];
}

static const struct histogram *const_at(const struct latency *l, size_t i)
{
	return histogram_at((struct latency *)l, i);
}

void latency_release(struct latency *l)
{
	for (size_t i = 0; i < 2 * PER_DIRECTION; i++)
		histogram_release(histogram_at(l, i));
	memset(l, 0, sizeof(*l));
}

void latency_clear(struct latency *l)
{
	for (size_t i = 0; i < 2 * PER_DIRECTION; i++)
		histogram_clear(histogram_at(l, i));
	l->errors = 0;
	l->requeues = 0;
	l->paused = 0;
}

/* Classes end at 4 KiB times powers of two; the loop-free form of size_class_of(). */
static inline unsigned int class_of(uint32_t bytes)
{
	unsigned int doublings = bytes <= 4096 ? 0 : 32 - __builtin_clz((bytes - 1) >> 12);

	return doublings < NR_SIZE_CLASSES ? doublings : NR_SIZE_CLASSES - 1;
}

static int add_data(struct latency_direction *d, const struct request *r)
{
	bool arrival = !(r->flags & REQUEST_NO_ARRIVAL);
	bool dispatch = !(r->flags & REQUEST_NO_DISPATCH);
	bool completion = !(r->flags & REQUEST_NO_COMPLETION);
	int ret = 0;

	if (arrival && dispatch)
		ret |= histogram_add(&d->queue, r->dispatch_ns - r->arrival_ns);
	if (dispatch && completion)
		ret |= histogram_add(&d->device, r->completion_ns - r->dispatch_ns);
	if (arrival && completion)
		ret |= histogram_add(&d->size_class[class_of(r->bytes)],
				     r->completion_ns - r->arrival_ns);
	return ret;
}

int latency_add_many(struct latency *l, const struct request *r, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		l->errors += r[i].error != 0;
		l->requeues += r[i].requeues;
		if (r[i].flags & REQUEST_PAUSED)
			l->paused++;
		else if (r[i].operation <= OPERATION_WRITE)
			ret |= add_data(&l->direction[r[i].operation], &r[i]);
	}
	return ret ? -ENOMEM : 0;
}

int latency_merge(struct latency *dst, const struct latency *src)
{
	int ret = 0;

	for (size_t i = 0; i < 2 * PER_DIRECTION; i++)
		ret |= histogram_merge(histogram_at(dst, i), const_at(src, i));
	dst->errors += src->errors;
	dst->requeues += src->requeues;
	dst->paused += src->paused;
	return ret ? -ENOMEM : 0;
}

int latency_responses(const struct latency *l, enum operation operation, struct response_times *out)
{
	const struct latency_direction *d = &l->direction[operation];
	int ret = 0;

	ret |= histogram_merge(&out->stage[STAGE_QUEUE], &d->queue);
	ret |= histogram_merge(&out->stage[STAGE_DEVICE], &d->device);
	for (size_t i = 0; i < NR_SIZE_CLASSES; i++) {
		ret |= histogram_merge(&out->stage[STAGE_TOTAL], &d->size_class[i]);
		ret |= histogram_merge(&out->size_class[i], &d->size_class[i]);
	}
	return ret ? -ENOMEM : 0;
}

size_t latency_memory(const struct latency *l)
{
	size_t nr = 0;

	for (size_t i = 0; i < 2 * PER_DIRECTION; i++)
		nr += const_at(l, i)->counts != NULL;
	return nr * HISTOGRAM_NR_BUCKETS * sizeof(uint64_t);
}
