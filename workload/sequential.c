/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keyed_hash.h"
#include "workload/sequential.h"

#define NONE	       UINT16_MAX
#define FIRST_REQUESTS 32

/*
 * One request of the subset. The first request with a given end also holds two things for all
 * requests with that end: the queue of those that are open, oldest first, and the number of those
 * that are in no stream yet.
 */
struct sequential_end {
	uint64_t end;
	uint16_t head, tail; /* first and last request of the queue; NONE: empty */
	uint16_t next;	     /* the next request of the queue in which this one waits */
	uint16_t waiting;
};

void sequential_init(struct sequential *s, uint32_t subset_requests)
{
	memset(s, 0, sizeof(*s));
	s->subset_requests = subset_requests;
	s->secret = keyed_hash_secret();
}

/*
 * Gives the table at most four slots per request, so that most look-ups of an unknown end meet a
 * free slot.
 */
static unsigned int sequential_bits(uint32_t cap)
{
	return 34 - (cap > 1 ? (unsigned int)__builtin_clz(cap - 1) : 32u);
}

void sequential_release(struct sequential *s)
{
	bool grows = s->grows;

	free(s->table);
	free(s->ends);
	sequential_init(s, s->subset_requests ? s->subset_requests : 1);
	s->grows = grows;
}

static size_t table_bytes(const struct sequential *s)
{
	return sizeof(*s->table) << s->bits;
}

static void forget_subset(struct sequential *s)
{
	if (s->nr)
		memset(s->table, 0, table_bytes(s));
	s->nr = 0;
	s->counted = 0;
	s->streaming = 0;
	s->continuing = 0;
}

void sequential_clear(struct sequential *s)
{
	forget_subset(s);
	s->nr_closed = 0;
	s->sum_ratios = 0;
	s->all_requests = 0;
	s->all_counted = 0;
	s->all_streaming = 0;
	s->all_continuing = 0;
}

/*
 * Returns the slot of the first request with that end, or the free slot into which it would go. A
 * guest chooses the ends; the secret keeps it from choosing them for one slot (keyed_hash.h).
 */
static inline uint16_t *slot_of(const struct sequential *s, uint64_t end)
{
	size_t mask = ((size_t)1 << s->bits) - 1;
	size_t i = keyed_home(s->secret, end, s->bits);

	while (s->table[i] && s->ends[s->table[i] - 1].end != end)
		i = (i + 1) & mask;
	return &s->table[i];
}

/* Makes room for twice as many requests, or for a whole subset. The requests keep their numbers. */
static int sequential_grow(struct sequential *s)
{
	uint32_t cap = s->cap ? 2 * s->cap : FIRST_REQUESTS;
	struct sequential before = *s;
	struct sequential_end *ends;
	uint16_t *table;

	if (!s->grows || cap > s->subset_requests)
		cap = s->subset_requests;
	table = calloc(1, sizeof(*table) << sequential_bits(cap));
	ends = table ? realloc(s->ends, cap * sizeof(*ends)) : NULL;
	if (!ends) {
		free(table);
		return -ENOMEM;
	}
	s->table = table;
	s->ends = ends;
	s->cap = cap;
	s->bits = sequential_bits(cap);
	for (size_t i = 0; before.nr && i < (size_t)1 << before.bits; i++)
		if (before.table[i])
			*slot_of(s, ends[before.table[i] - 1].end) = before.table[i];
	free(before.table);
	return 0;
}

/*
 * Returns whether the request continues an open one, and counts the requests that are in a stream
 * because of it.
 */
static inline bool close_oldest(struct sequential *s, uint64_t start, bool *in_stream)
{
	uint16_t first = *slot_of(s, start);
	struct sequential_end *e;

	*in_stream = first != 0;
	if (!first)
		return false;
	e = &s->ends[first - 1];
	s->streaming += e->waiting + 1u;
	e->waiting = 0;
	if (e->head == NONE)
		return false;
	e->head = s->ends[e->head].next;
	return true;
}

/* Stores the request under its end, and puts it into the queue of that end if it is open. */
static inline void file_end(struct sequential *s, uint64_t end, bool is_open, bool in_stream)
{
	uint16_t me = (uint16_t)s->nr, *slot = slot_of(s, end);
	struct sequential_end *mine = &s->ends[me], *e;

	mine->end = end;
	mine->next = NONE;
	if (!*slot) {
		*slot = (uint16_t)(me + 1);
		mine->head = is_open ? me : NONE;
		mine->tail = me;
		mine->waiting = !in_stream;
		return;
	}
	e = &s->ends[*slot - 1];
	e->waiting = (uint16_t)(e->waiting + !in_stream);
	if (!is_open)
		return;
	if (e->head == NONE)
		e->head = me;
	else
		s->ends[e->tail].next = me;
	e->tail = me;
}

static void close_subset(struct sequential *s)
{
	s->sum_ratios += (double)s->counted / (double)s->nr;
	s->nr_closed++;
	s->all_requests += s->nr;
	s->all_counted += s->counted;
	s->all_streaming += s->streaming;
	s->all_continuing += s->continuing;
	forget_subset(s);
}

int sequential_add(struct sequential *s, uint64_t start, uint64_t end)
{
	bool closed, in_stream;

	if (s->nr == s->cap && sequential_grow(s))
		return -ENOMEM;
	closed = close_oldest(s, start, &in_stream);
	file_end(s, end, !closed, in_stream);
	s->counted += closed ? 2 : 0;
	s->continuing += in_stream;
	if (++s->nr == s->subset_requests)
		close_subset(s);
	return 0;
}

double sequential_ratio(const struct sequential *s)
{
	double sum = s->sum_ratios;
	uint64_t nr = s->nr_closed;

	if (s->nr) {
		sum += (double)s->counted / (double)s->nr;
		nr++;
	}
	return nr ? sum / (double)nr : NAN;
}

double sequential_stream_ratio(const struct sequential *s)
{
	uint64_t nr = s->all_requests + s->nr;

	return nr ? (double)(s->all_streaming + s->streaming) / (double)nr : NAN;
}

double sequential_continuing_ratio(const struct sequential *s)
{
	uint64_t nr = s->all_requests + s->nr;

	return nr ? (double)(s->all_continuing + s->continuing) / (double)nr : NAN;
}

uint64_t sequential_counted(const struct sequential *s)
{
	return s->all_counted + s->counted;
}

size_t sequential_memory(const struct sequential *s)
{
	return s->table ? table_bytes(s) + s->cap * sizeof(*s->ends) : 0;
}
