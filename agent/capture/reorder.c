/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture/reorder.h"
#include "base/memory/pages.h"

#define RELEASE_BATCH 256
#define RADIX_BITS    11
#define RADIX_SIZE    (1u << RADIX_BITS)
/*
 * If all digits take more than two passes, this many low bits are left to an insertion sort: the
 * span of a full table at 100 000 requests a second and more then takes two passes, not three. Few
 * requests of one machine differ by less than 64 ns, so that hardly any key is moved.
 */
#define FINE_BITS 6
/* Below this number of keys an insertion sort is faster than a radix sort. */
#define FEW_KEYS 48
/*
 * Number of completions after the present time that are kept; more than any device's queue holds.
 */
#define MAX_AHEAD 8192
/*
 * Number of requests fetched ahead, because the held requests do not fit into the second-level
 * cache.
 */
#define NR_PREFETCHED 8

/* The sorts move these keys of 16 bytes instead of whole requests. */
struct key {
	uint64_t time_ns;
	uint32_t slot;	 /* slot of the request; unused among completions */
	uint32_t device; /* index into devices */
};

struct device_load {
	uint32_t device;
	uint32_t in_flight;
};

struct reorder {
	struct reorder_sink sink;
	size_t max_held;
	uint64_t period_end_ns;

	struct request *slots;
	uint32_t *vacant; /* stack of unused slots */
	struct key *held; /* one per slot in use, key: arrival */
	size_t nr_held;

	struct key *ends; /* completions of released requests still ahead, key: completion */
	size_t nr_ends, cap_ends;
	struct key *spare; /* working memory of the sorts */

	struct device_load *devices;
	size_t nr_devices;
	uint32_t last_device; /* index: the next request is mostly of the same one */

	struct request batch[RELEASE_BATCH];
};

int reorder_new(struct reorder **out, size_t max_held, const struct reorder_sink *sink)
{
	struct reorder *o;

	if (max_held < 2 || max_held > UINT32_MAX / 4)
		return -EINVAL;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->sink = *sink;
	o->max_held = max_held;
	o->cap_ends = max_held + MAX_AHEAD;
	o->period_end_ns = UINT64_MAX;
	o->slots = malloc(max_held * sizeof(*o->slots));
	o->vacant = malloc(max_held * sizeof(*o->vacant));
	o->held = malloc(max_held * sizeof(*o->held));
	o->ends = malloc(o->cap_ends * sizeof(*o->ends));
	o->spare = malloc(o->cap_ends * sizeof(*o->spare));
	if (!o->slots || !o->vacant || !o->held || !o->ends || !o->spare) {
		reorder_free(o);
		return -ENOMEM;
	}
	for (size_t i = 0; i < max_held; i++)
		o->vacant[i] = (uint32_t)(max_held - 1 - i);
	*out = o;
	return 0;
}

void reorder_free(struct reorder *o)
{
	if (!o)
		return;
	free(o->slots);
	free(o->vacant);
	free(o->held);
	free(o->ends);
	free(o->spare);
	free(o->devices);
	free(o);
}

/* Moves the held requests into the first slots; the other slots are taken in ascending order. */
static void pack_slots(struct reorder *o)
{
	size_t nr_vacant = o->max_held - o->nr_held, low = 0;

	for (size_t i = 0; i < o->nr_held; i++) {
		struct key *key = &o->held[i];

		if (key->slot < o->nr_held)
			continue;
		/* As many slots below nr_held are vacant as requests lie above. */
		while (o->vacant[low] >= o->nr_held)
			low++;
		o->slots[o->vacant[low]] = o->slots[key->slot];
		key->slot = o->vacant[low++];
	}
	for (size_t i = 0; i < nr_vacant; i++)
		o->vacant[i] = (uint32_t)(o->max_held - 1 - i);
}

void reorder_give_back(struct reorder *o)
{
	pack_slots(o);
	pages_forget(o->slots, o->nr_held * sizeof(*o->slots), o->max_held * sizeof(*o->slots));
	pages_forget(o->held, o->nr_held * sizeof(*o->held), o->max_held * sizeof(*o->held));
	pages_forget(o->ends, o->nr_ends * sizeof(*o->ends), o->cap_ends * sizeof(*o->ends));
	pages_forget(o->spare, 0, o->cap_ends * sizeof(*o->spare));
}

void reorder_set_period_end(struct reorder *o, uint64_t end_ns)
{
	o->period_end_ns = end_ns;
}

static void sort_few(struct key *keys, size_t nr)
{
	for (size_t i = 1; i < nr; i++) {
		struct key key = keys[i];
		size_t at = i;

		for (; at > 0 && keys[at - 1].time_ns > key.time_ns; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

/* Makes one stable counting pass over the digit at shift, from `from` to `to`. */
static void sort_pass(const struct key *from, struct key *to, size_t nr, uint64_t base,
		      unsigned int shift)
{
	uint32_t at[RADIX_SIZE] = { 0 };
	uint32_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		at[(from[i].time_ns - base) >> shift & (RADIX_SIZE - 1)]++;
	for (size_t d = 0; d < RADIX_SIZE; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < nr; i++)
		to[at[(from[i].time_ns - base) >> shift & (RADIX_SIZE - 1)]++] = from[i];
}

/*
 * Sorts stably by time: a radix sort over only those digits in which the times differ, and an
 * insertion sort where the digits leave out the low bits.
 */
static void sort_keys(struct key *keys, struct key *spare, size_t nr)
{
	struct key *from = keys, *to = spare;
	uint64_t min = UINT64_MAX, max = 0;
	unsigned int fine_bits;
	bool sorted = true;

	for (size_t i = 0; i < nr; i++) {
		sorted &= max <= keys[i].time_ns;
		if (keys[i].time_ns < min)
			min = keys[i].time_ns;
		if (keys[i].time_ns > max)
			max = keys[i].time_ns;
	}
	if (sorted)
		return;
	if (nr < FEW_KEYS) {
		sort_few(keys, nr);
		return;
	}
	fine_bits = (max - min) >> 2 * RADIX_BITS ? FINE_BITS : 0;
	for (unsigned int shift = fine_bits; shift < 64 && (max - min) >> shift;
	     shift += RADIX_BITS) {
		struct key *swap = from;

		sort_pass(from, to, nr, min, shift);
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, nr * sizeof(*keys));
	if (fine_bits)
		sort_few(keys, nr);
}

/* Finds the device's index, and adds the device if it is new. Returns 0 or -ENOMEM. */
static int device_index(struct reorder *o, uint32_t device, uint32_t *out)
{
	struct device_load *devices;

	if (o->last_device < o->nr_devices && o->devices[o->last_device].device == device) {
		*out = o->last_device;
		return 0;
	}
	for (uint32_t i = 0; i < o->nr_devices; i++)
		if (o->devices[i].device == device) {
			*out = o->last_device = i;
			return 0;
		}
	devices = realloc(o->devices, (o->nr_devices + 1) * sizeof(*devices));
	if (!devices)
		return -ENOMEM;
	o->devices = devices;
	devices[o->nr_devices] = (struct device_load){ .device = device };
	*out = o->last_device = (uint32_t)o->nr_devices++;
	return 0;
}

static void expire_until(struct reorder *o, size_t *next, uint64_t now_ns)
{
	while (*next < o->nr_ends && o->ends[*next].time_ns <= now_ns)
		o->devices[o->ends[(*next)++].device].in_flight--;
}

/*
 * Returns the queue depth of a request that is about to be released; *next walks the completions.
 */
static uint32_t depth_at(struct reorder *o, const struct request *r, uint32_t device, size_t *next)
{
	uint32_t depth;

	expire_until(o, next, r->arrival_ns);
	depth = o->devices[device].in_flight;
	if (r->completion_ns > r->arrival_ns)
		o->devices[device].in_flight++;
	return depth;
}

/* Adds the completions of the first nr held requests, in order of time, to those that lie ahead. */
static void note_ends(struct reorder *o, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct key *key = &o->held[i];
		const struct request *r = &o->slots[key->slot];

		/* A request without duration is never in flight; depth_at() does the same. */
		if (r->completion_ns > r->arrival_ns)
			o->ends[o->nr_ends++] = (struct key){ r->completion_ns, 0, key->device };
	}
	sort_keys(o->ends, o->spare, o->nr_ends);
}

/* Forgets completions that are past, and the latest ones where too many lie ahead. */
static void drop_ends(struct reorder *o, size_t next)
{
	o->nr_ends -= next;
	memmove(o->ends, o->ends + next, o->nr_ends * sizeof(*o->ends));
	while (o->nr_ends > o->cap_ends - o->max_held)
		o->devices[o->ends[--o->nr_ends].device].in_flight--;
}

/* A request of 80 bytes lies in two cache lines, and both are needed. */
static void prefetch_slot(const struct reorder *o, size_t i, size_t nr)
{
	const struct request *r;

	if (i >= nr)
		return;
	r = &o->slots[o->held[i].slot];
	__builtin_prefetch(r);
	__builtin_prefetch((const char *)(r + 1) - 1);
}

/* Releases the first nr held requests, which are sorted; the others move up. */
static void release_first(struct reorder *o, size_t nr)
{
	size_t next = 0, filled = 0, vacant = o->max_held - o->nr_held;

	note_ends(o, nr);
	for (size_t i = 0; i < nr; i++) {
		const struct key *key = &o->held[i];
		struct request *r = &o->batch[filled++];

		prefetch_slot(o, i + NR_PREFETCHED, nr);
		*r = o->slots[key->slot];
		o->vacant[vacant++] = key->slot;
		r->queue_depth = depth_at(o, r, key->device, &next);
		if (filled == RELEASE_BATCH || i + 1 == nr) {
			o->sink.release(o->sink.ctx, o->batch, filled);
			filled = 0;
		}
	}
	drop_ends(o, next);
	o->nr_held -= nr;
	memmove(o->held, o->held + nr, o->nr_held * sizeof(*o->held));
}

/*
 * Sorts the held requests by arrival, but those that completed before the time first. Returns how
 * many completed before it.
 */
static size_t part_by_completion(struct reorder *o, uint64_t before_ns)
{
	size_t go = 0, stay = 0;

	sort_keys(o->held, o->spare, o->nr_held);
	for (size_t i = 0; i < o->nr_held; i++) {
		prefetch_slot(o, i + NR_PREFETCHED, o->nr_held);
		if (o->slots[o->held[i].slot].completion_ns < before_ns)
			o->held[go++] = o->held[i];
		else
			o->spare[stay++] = o->held[i];
	}
	memcpy(o->held + go, o->spare, stay * sizeof(*o->held));
	return go;
}

void reorder_flush(struct reorder *o, uint64_t completed_before_ns)
{
	size_t go = o->nr_held;

	if (completed_before_ns != UINT64_MAX)
		go = part_by_completion(o, completed_before_ns);
	else
		sort_keys(o->held, o->spare, o->nr_held);
	if (go)
		release_first(o, go);
}

static void make_room(struct reorder *o)
{
	size_t half = o->max_held / 2;
	size_t go = part_by_completion(o, o->period_end_ns);

	if (go > half)
		go = half;
	if (go < half / 2 || !go) {
		sort_keys(o->held, o->spare, o->nr_held);
		go = half;
	}
	release_first(o, go);
}

int reorder_add(struct reorder *o, const struct request *r)
{
	uint32_t device, slot;

	if (device_index(o, r->device, &device))
		return -ENOMEM;
	if (o->nr_held == o->max_held)
		make_room(o);
	slot = o->vacant[o->max_held - 1 - o->nr_held];
	if (o->nr_held + NR_PREFETCHED < o->max_held) {
		const struct request *later =
			&o->slots[o->vacant[o->max_held - 1 - o->nr_held - NR_PREFETCHED]];

		__builtin_prefetch(later, 1);
		__builtin_prefetch((const char *)(later + 1) - 1, 1);
	}
	o->slots[slot] = *r;
	o->held[o->nr_held++] = (struct key){ r->arrival_ns, slot, device };
	return 0;
}
