// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "tests/system-under-study/prefetch.h"

#define PAGE_SECTORS (SUS_PAGE / 512)

int prefetch_init(struct prefetch *f, const struct sus_params *p)
{
	*f = (struct prefetch){ .p = p };
	f->streams = calloc(PREFETCH_STREAMS, sizeof(*f->streams));
	f->buckets = malloc(PREFETCH_BUCKETS * sizeof(*f->buckets));
	if (!f->streams || !f->buckets) {
		prefetch_release(f);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < PREFETCH_BUCKETS; i++)
		f->buckets[i] = PREFETCH_NONE;
	return 0;
}

void prefetch_release(struct prefetch *f)
{
	free(f->streams);
	free(f->buckets);
	*f = (struct prefetch){ 0 };
}

static uint32_t *bucket_of(struct prefetch *f, uint64_t sector)
{
	return &f->buckets[(sector * 0x9e3779b97f4a7c15ull) >> 50];
}

/* Takes a stream out of its bucket. */
static void unchain(struct prefetch *f, uint32_t s)
{
	uint32_t *at = bucket_of(f, f->streams[s].next);

	while (*at != s)
		at = &f->streams[*at].chain;
	*at = f->streams[s].chain;
}

static void chain(struct prefetch *f, uint32_t s)
{
	uint32_t *at = bucket_of(f, f->streams[s].next);

	f->streams[s].chain = *at;
	*at = s;
}

static uint32_t find(struct prefetch *f, uint64_t sector)
{
	uint32_t s = *bucket_of(f, sector);

	while (s != PREFETCH_NONE && f->streams[s].next != sector)
		s = f->streams[s].chain;
	return s;
}

/* A new stream, in the place of the oldest where all are taken. */
static uint32_t begin(struct prefetch *f)
{
	uint32_t s = f->nr < PREFETCH_STREAMS ? f->nr++ : f->oldest++ % PREFETCH_STREAMS;

	if (f->streams[s].length)
		unchain(f, s);
	f->streams[s] = (struct stream){ .degree = f->p->prefetch_first };
	return s;
}

/* What the stream's reader, now at page `at`, needs next. */
static struct prefetch_order look_ahead(struct prefetch *f, struct stream *t, uint64_t at,
					uint32_t pages, bool waits, uint64_t end)
{
	struct prefetch_order o = { .first = t->staged_end > at ? t->staged_end : at };
	uint64_t stop;

	if (t->staged_end && waits && t->trigger + pages < t->degree)
		t->trigger += pages;
	if (t->staged_end && at + t->trigger < t->staged_end)
		return o;
	if (t->staged_end && t->degree + pages <= f->p->prefetch_most)
		t->degree += pages;
	stop = o.first + t->degree;
	stop = stop < end ? stop : end;
	o.nr = stop > o.first ? (uint32_t)(stop - o.first) : 0;
	t->staged_end = o.first + o.nr;
	return o;
}

struct prefetch_order prefetch_read(struct prefetch *f, uint64_t first, uint32_t nr, bool waits,
				    uint64_t end)
{
	struct prefetch_order none = { 0 };
	uint32_t s = find(f, first);
	struct stream *t;

	if (s == PREFETCH_NONE)
		s = begin(f);
	else
		unchain(f, s);
	t = &f->streams[s];
	t->next = first + nr;
	t->length++;
	chain(f, s);
	if (t->length < f->p->prefetch_after)
		return none;
	return look_ahead(f, t, (first + nr + PAGE_SECTORS - 1) / PAGE_SECTORS,
			  (nr + PAGE_SECTORS - 1) / PAGE_SECTORS, waits, end);
}
