// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/system-under-study/disk_array.h"

#define PAGE_SECTORS (SUS_PAGE / 512)

/* Pages that a run of sectors touches. */
struct pages {
	uint64_t first;
	uint32_t nr;
};

static struct pages pages_of(uint64_t first, uint32_t nr)
{
	uint64_t from = first / PAGE_SECTORS, to = (first + nr - 1) / PAGE_SECTORS;

	return (struct pages){ from, (uint32_t)(to - from + 1) };
}

/* A free entry of a growing array; ARRAY_NONE out of memory. free and nr are the list's own. */
static uint32_t grow(void **items, uint32_t *nr, size_t size)
{
	if (!(*nr & (*nr - 1))) {
		void *more = reallocarray(*items, *nr ? 2 * (size_t)*nr : 1, size);

		if (!more)
			return ARRAY_NONE;
		*items = more;
	}
	return (*nr)++;
}

static uint32_t new_access(struct array *a)
{
	uint32_t i = a->free_access;

	if (i == ARRAY_NONE)
		return grow((void **)&a->accesses, &a->nr_accesses, sizeof(*a->accesses));
	a->free_access = a->accesses[i].next;
	return i;
}

static int add_wait(struct array *a, struct access *x, uint32_t request)
{
	uint32_t i = a->free_wait;

	if (i == ARRAY_NONE)
		i = grow((void **)&a->waits, &a->nr_waits, sizeof(*a->waits));
	else
		a->free_wait = a->waits[i].next;
	if (i == ARRAY_NONE)
		return -ENOMEM;
	a->waits[i] = (struct wait){ request, x->waiters };
	x->waiters = i;
	return 0;
}

static void add_to_cache(struct array *a, uint64_t first, uint32_t nr)
{
	while (nr) {
		uint32_t at = (uint32_t)(first % TRACK_PAGES);
		uint32_t here = nr < TRACK_PAGES - at ? nr : TRACK_PAGES - at;

		read_cache_add(&a->cache, (uint32_t)(first / TRACK_PAGES),
			       (uint16_t)(((1u << here) - 1) << at));
		first += here;
		nr -= here;
	}
}

void array_make(struct array *a, uint64_t page, uint32_t nr, bool dirty)
{
	add_to_cache(a, page, nr);
	if (dirty)
		write_cache_add(&a->nvs, page, nr);
}

int array_init(struct array *a, const struct sus_params *p, struct eventq *events, uint64_t bytes)
{
	*a = (struct array){ .p = p,
			     .events = events,
			     .free_access = ARRAY_NONE,
			     .free_wait = ARRAY_NONE,
			     .free_destage = ARRAY_NONE,
			     .pending_cap = 1024 };
	backend_init(&a->backend, p);
	for (unsigned i = 0; i < 4096; i++)
		a->buckets[i] = ARRAY_NONE;
	a->pending = calloc(a->pending_cap, sizeof(*a->pending));
	if (!a->pending || prefetch_init(&a->prefetch, p) ||
	    read_cache_init(&a->cache, (uint32_t)(bytes / SUS_TRACK + 1),
			    (uint64_t)(p->volatile_bytes / SUS_PAGE)) ||
	    write_cache_init(&a->nvs, (uint32_t)(bytes / SUS_STRIPE + 1),
			     (uint64_t)(p->nonvolatile_bytes / SUS_PAGE))) {
		array_release(a);
		return -ENOMEM;
	}
	return 0;
}

void array_release(struct array *a)
{
	read_cache_release(&a->cache);
	write_cache_release(&a->nvs);
	prefetch_release(&a->prefetch);
	backend_release(&a->backend);
	free(a->accesses);
	free(a->waits);
	free(a->destages);
	free(a->pending);
	*a = (struct array){ 0 };
}

static int begin(struct array *a, unsigned disk, double now)
{
	double done;

	if (!backend_begin(&a->backend, disk, now, &done))
		return 0;
	return eventq_push(a->events, done, ARRAY_DISK + disk);
}

static int submit(struct array *a, uint32_t stripe, const struct raid_access *r, bool write,
		  uint32_t access, double now)
{
	if (write)
		a->counts.disk_writes++;
	else
		a->counts.disk_reads++;
	if (backend_add(&a->backend, r->disk, raid_offset(stripe, r->page),
			(uint64_t)r->nr * SUS_PAGE, write, access))
		return -ENOMEM;
	return begin(a, r->disk, now);
}

static uint32_t *bucket_of(struct array *a, uint64_t strip)
{
	return &a->buckets[(strip * 0x9e3779b97f4a7c15ull) >> 52];
}

/* Reads from disk what lies between the first and the last page of a strip. */
static int stage(struct array *a, uint64_t strip, uint64_t pages, uint32_t request, double now)
{
	uint32_t stripe = (uint32_t)(strip / SUS_DATA), i = new_access(a);
	unsigned first = (unsigned)__builtin_ctzll(pages);
	struct raid_access r = { .disk = raid_data_disk(stripe, strip % SUS_DATA),
				 .page = first,
				 .nr = 64 - (unsigned)__builtin_clzll(pages) - first };
	struct access *x;

	if (i == ARRAY_NONE)
		return -ENOMEM;
	x = &a->accesses[i];
	*x = (struct access){ .strip = strip,
			      .pages = pages,
			      .waiters = ARRAY_NONE,
			      .destage = ARRAY_NONE,
			      .next = *bucket_of(a, strip) };
	*bucket_of(a, strip) = i;
	a->counts.staged += (unsigned)__builtin_popcountll(pages);
	if (request != ARRAY_NONE && add_wait(a, x, request))
		return -ENOMEM;
	return submit(a, stripe, &r, false, i, now);
}

/* Which pages of a strip are in the cache; their tracks were used if a request asks. */
static uint64_t cached(struct array *a, uint64_t strip, uint64_t wanted, bool use)
{
	uint64_t here = 0;

	for (unsigned t = 0; t < STRIP_PAGES / TRACK_PAGES; t++) {
		uint32_t track = (uint32_t)(strip * (STRIP_PAGES / TRACK_PAGES) + t);
		uint16_t mask = (uint16_t)(wanted >> (t * TRACK_PAGES));

		if (!mask)
			continue;
		here |= (uint64_t)read_cache_peek(&a->cache, track, mask) << (t * TRACK_PAGES);
		if (use)
			read_cache_touch(&a->cache, track);
	}
	return here;
}

/* Sees to the wanted pages of one strip, for a request or ahead of all. */
static int fetch(struct array *a, uint64_t strip, uint64_t wanted, uint32_t request, double now,
		 uint32_t *waits)
{
	bool asked = request != ARRAY_NONE;
	uint64_t missing = wanted & ~cached(a, strip, wanted, asked);

	if (asked) {
		a->counts.read_pages += (unsigned)__builtin_popcountll(wanted);
		a->counts.hit_pages += (unsigned)__builtin_popcountll(wanted & ~missing);
	}
	for (uint32_t i = *bucket_of(a, strip); missing && i != ARRAY_NONE;
	     i = a->accesses[i].next) {
		struct access *x = &a->accesses[i];

		if (x->strip != strip || !(x->pages & missing))
			continue;
		missing &= ~x->pages;
		if (asked && add_wait(a, x, request))
			return -ENOMEM;
		*waits += asked;
	}
	if (!missing)
		return 0;
	*waits += asked;
	return stage(a, strip, missing, request, now);
}

static int fetch_all(struct array *a, struct pages p, uint32_t request, double now, uint32_t *waits)
{
	int error = 0;

	while (p.nr && !error) {
		unsigned at = (unsigned)(p.first % STRIP_PAGES);
		uint32_t here = p.nr < STRIP_PAGES - at ? p.nr : STRIP_PAGES - at;

		error = fetch(a, p.first / STRIP_PAGES, (~0ull >> (64 - here)) << at, request, now,
			      waits);
		p.first += here;
		p.nr -= here;
	}
	return error;
}

int array_read(struct array *a, uint32_t request, uint64_t first, uint32_t nr, double now,
	       uint32_t *waits)
{
	struct prefetch_order o;
	uint32_t none = 0;
	int error;

	*waits = 0;
	error = fetch_all(a, pages_of(first, nr), request, now, waits);
	if (error)
		return error;
	o = prefetch_read(&a->prefetch, first, nr, *waits > 0,
			  (uint64_t)(a->cache.nr_tracks - 1) * TRACK_PAGES);
	return fetch_all(a, (struct pages){ o.first, o.nr }, ARRAY_NONE, now, &none);
}

static int issue(struct array *a, uint32_t destage, double now)
{
	/* The plan is copied: adding accesses may move what destage points into. */
	struct destage d = a->destages[destage];
	const struct raid_access *list = d.writing ? d.plan.writes : d.plan.reads;
	unsigned nr = d.writing ? d.plan.nr_writes : d.plan.nr_reads;
	int error = 0;

	a->destages[destage].left = nr;
	for (unsigned i = 0; i < nr && !error; i++) {
		uint32_t x = new_access(a);

		if (x == ARRAY_NONE)
			return -ENOMEM;
		a->accesses[x] = (struct access){ .destage = destage, .waiters = ARRAY_NONE };
		error = submit(a, d.stripe, &list[i], d.writing, x, now);
	}
	return error;
}

/* How many stripes may be under way at this filling. */
static unsigned destages_allowed(const struct array *a)
{
	double full = (double)a->nvs.used / (double)a->nvs.capacity;
	double share = (full - a->p->destage_low) / (a->p->destage_high - a->p->destage_low);

	if (share <= 0)
		return 0;
	return share >= 1 ? a->p->destage_most : (unsigned)ceil(share * a->p->destage_most);
}

static int destage_more(struct array *a, double now)
{
	int error = 0;

	while (!error && a->active < destages_allowed(a)) {
		uint32_t i = a->free_destage;
		struct destage *d;

		if (i == ARRAY_NONE)
			i = grow((void **)&a->destages, &a->nr_destages, sizeof(*a->destages));
		else
			a->free_destage = a->destages[i].next;
		if (i == ARRAY_NONE)
			return -ENOMEM;
		d = &a->destages[i];
		*d = (struct destage){ .next = a->free_destage };
		if (!write_cache_take(&a->nvs, &d->stripe, d->pages)) {
			a->free_destage = i;
			break;
		}
		raid_plan(&d->plan, d->stripe, d->pages);
		d->writing = !d->plan.nr_reads;
		a->active++;
		error = issue(a, i, now);
	}
	return error;
}

static bool has_room(const struct array *a, uint64_t first, uint32_t nr)
{
	return a->nvs.used + write_cache_need(&a->nvs, first, nr) <= a->nvs.capacity;
}

static int put_pending(struct array *a, struct pending_write w)
{
	if (a->nr_pending == a->pending_cap)
		return -ENOMEM; /* more writes than any number of clients can have waiting */
	a->pending[(a->pending_first + a->nr_pending++) % a->pending_cap] = w;
	a->counts.delayed_writes++;
	return 0;
}

int array_write(struct array *a, uint32_t request, uint64_t first, uint32_t nr, double now,
		uint32_t *waits)
{
	struct pages p = pages_of(first, nr);

	*waits = a->nr_pending || !has_room(a, p.first, p.nr);
	if (*waits)
		return put_pending(a, (struct pending_write){ p.first, p.nr, request });
	write_cache_add(&a->nvs, p.first, p.nr);
	add_to_cache(a, p.first, p.nr);
	return destage_more(a, now);
}

static void admit_pending(struct array *a, double now, array_ready *ready, void *ctx)
{
	while (a->nr_pending) {
		struct pending_write w = a->pending[a->pending_first];

		if (!has_room(a, w.first, w.nr))
			return;
		a->pending_first = (a->pending_first + 1) % a->pending_cap;
		a->nr_pending--;
		write_cache_add(&a->nvs, w.first, w.nr);
		add_to_cache(a, w.first, w.nr);
		ready(ctx, w.request, now);
	}
}

static int end_destage(struct array *a, uint32_t destage, double now, array_ready *ready, void *ctx)
{
	struct destage *d = &a->destages[destage];

	if (--d->left)
		return 0;
	if (!d->writing) {
		d->writing = true;
		return issue(a, destage, now);
	}
	write_cache_done(&a->nvs, d->stripe, d->pages);
	a->counts.destaged++;
	a->active--;
	d->next = a->free_destage;
	a->free_destage = destage;
	admit_pending(a, now, ready, ctx);
	return destage_more(a, now);
}

static void end_stage(struct array *a, uint32_t access, double now, array_ready *ready, void *ctx)
{
	struct access *x = &a->accesses[access];
	uint32_t *at = bucket_of(a, x->strip), w = x->waiters;

	while (*at != access)
		at = &a->accesses[*at].next;
	*at = x->next;
	for (unsigned t = 0; t < STRIP_PAGES / TRACK_PAGES; t++) {
		uint16_t mask = (uint16_t)(x->pages >> (t * TRACK_PAGES));

		if (mask)
			read_cache_add(&a->cache,
				       (uint32_t)(x->strip * (STRIP_PAGES / TRACK_PAGES) + t),
				       mask);
	}
	while (w != ARRAY_NONE) {
		uint32_t next = a->waits[w].next, request = a->waits[w].request;

		a->waits[w].next = a->free_wait;
		a->free_wait = w;
		ready(ctx, request, now);
		w = next;
	}
}

static int end_access(struct array *a, uint32_t access, double now, array_ready *ready, void *ctx)
{
	uint32_t destage = a->accesses[access].destage;

	if (destage == ARRAY_NONE)
		end_stage(a, access, now, ready, ctx);
	a->accesses[access].next = a->free_access;
	a->free_access = access;
	return destage == ARRAY_NONE ? 0 : end_destage(a, destage, now, ready, ctx);
}

int array_end(struct array *a, uint32_t event, double now, array_ready *ready, void *ctx)
{
	uint32_t number = event & ~ARRAY_KIND, access;
	double through;

	if ((event & ARRAY_KIND) == ARRAY_ACCESS)
		return end_access(a, number, now, ready, ctx);
	through = backend_end(&a->backend, number, now, &access);
	if (eventq_push(a->events, through, ARRAY_ACCESS + access))
		return -ENOMEM;
	return begin(a, number, now);
}

void array_warm_write(struct array *a, uint64_t first, uint32_t nr)
{
	struct pages p = pages_of(first, nr);
	double level = (a->p->destage_low + a->p->destage_high) / 2;
	uint64_t pages[SUS_DATA];
	uint32_t stripe;

	write_cache_add(&a->nvs, p.first, p.nr);
	add_to_cache(a, p.first, p.nr);
	while ((double)a->nvs.used > level * (double)a->nvs.capacity &&
	       write_cache_take(&a->nvs, &stripe, pages))
		write_cache_done(&a->nvs, stripe, pages);
}
