/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "workload/latency.h"

/* The struct of a direction holds nothing but histograms, so they can be treated as one array. */
#define PER_DIRECTION (sizeof(struct latency_direction) / sizeof(struct histogram))
_Static_assert(sizeof(struct latency_direction) == (2 + NR_SIZE_CLASSES) * sizeof(struct histogram),
	       "queue, device, classes, no padding");
/*
 * The histograms of both directions come one after the other, then those of the stages of flushes.
 */
#define NR_IN_DIRECTIONS (2 * PER_DIRECTION)
#define NR_HISTOGRAMS	 (NR_IN_DIRECTIONS + NR_STAGES)

static struct histogram *histogram_at(struct latency *l, size_t i)
{
	struct latency_direction *d;

	if (i >= NR_IN_DIRECTIONS)
		return &l->flush[i - NR_IN_DIRECTIONS];
	d = &l->direction[i / PER_DIRECTION];
	i %= PER_DIRECTION;
	return i == 0 ? &d->queue : i == 1 ? &d->device : &d->size_class[i - 2];
}

static const struct histogram *const_at(const struct latency *l, size_t i)
{
	return histogram_at((struct latency *)l, i);
}

void latency_take_whole(struct latency *l)
{
	for (size_t i = 0; i < NR_HISTOGRAMS; i++)
		histogram_at(l, i)->is_whole = true;
}

void latency_release(struct latency *l)
{
	for (size_t i = 0; i < NR_HISTOGRAMS; i++)
		histogram_release(histogram_at(l, i));
	memset(l, 0, sizeof(*l));
}

void latency_clear(struct latency *l)
{
	for (size_t i = 0; i < NR_HISTOGRAMS; i++)
		histogram_clear(histogram_at(l, i));
	l->errors = 0;
	l->requeues = 0;
	l->paused = 0;
}

/*
 * Returns the size class of a request. Classes end at 4 KiB times powers of two. This gives the
 * same as size_class_of() without a loop.
 */
static inline unsigned int class_of(uint32_t bytes)
{
	unsigned int doublings = bytes <= 4096 ? 0 : 32 - __builtin_clz((bytes - 1) >> 12);

	return doublings < NR_SIZE_CLASSES ? doublings : NR_SIZE_CLASSES - 1;
}

/* Adds the duration of each stage whose begin and end are known. */
static int latency_add_stages(const struct request *r, struct histogram *queue,
			      struct histogram *device, struct histogram *total)
{
	bool arrival = !(r->flags & REQUEST_NO_ARRIVAL);
	bool dispatch = !(r->flags & REQUEST_NO_DISPATCH);
	bool completion = !(r->flags & REQUEST_NO_COMPLETION);
	int ret = 0;

	if (arrival && dispatch)
		ret |= histogram_add(queue, r->dispatch_ns - r->arrival_ns);
	if (dispatch && completion)
		ret |= histogram_add(device, r->completion_ns - r->dispatch_ns);
	if (arrival && completion)
		ret |= histogram_add(total, r->completion_ns - r->arrival_ns);
	return ret;
}

static int latency_add_data(struct latency_direction *d, const struct request *r)
{
	return latency_add_stages(r, &d->queue, &d->device, &d->size_class[class_of(r->bytes)]);
}

static int latency_add_flush(struct latency *l, const struct request *r)
{
	return latency_add_stages(r, &l->flush[STAGE_QUEUE], &l->flush[STAGE_DEVICE],
				  &l->flush[STAGE_TOTAL]);
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
			ret |= latency_add_data(&l->direction[r[i].operation], &r[i]);
		else if (r[i].operation == OPERATION_FLUSH)
			ret |= latency_add_flush(l, &r[i]);
	}
	return ret ? -ENOMEM : 0;
}

static int latency_flush_responses(const struct latency *l, struct response_times *out)
{
	int ret = 0;

	for (size_t i = 0; i < NR_STAGES; i++)
		ret |= histogram_merge(&out->stage[i], &l->flush[i]);
	return ret ? -ENOMEM : 0;
}

int latency_responses(const struct latency *l, enum operation operation, struct response_times *out)
{
	const struct latency_direction *d;
	int ret = 0;

	if (operation == OPERATION_FLUSH)
		return latency_flush_responses(l, out);
	d = &l->direction[operation];
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
	size_t bytes = 0;

	for (size_t i = 0; i < NR_HISTOGRAMS; i++)
		bytes += histogram_memory(const_at(l, i));
	return bytes;
}
