// SPDX-License-Identifier: Apache-2.0
/* Parts of the system under study against closed forms and literal versions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "tests/literal/slow_lru.h"
#include "tests/system-under-study/backend.h"
#include "tests/system-under-study/host.h"
#include "tests/system-under-study/prefetch.h"
#include "tests/system-under-study/raid.h"
#include "tests/system-under-study/read_cache.h"
#include "tests/support/tap.h"

static const struct sus_params params = SUS_PARAMS;

static uint64_t random_offset(struct rng *r, const struct disk *d)
{
	return (uint64_t)(rng_uniform(r) * d->p->capacity_bytes * 0.9999);
}

static void data_sheet(void)
{
	struct disk d;
	struct disk_command outer, inner;
	double sum = 0, nr = 200000;
	struct rng r;

	disk_init(&d, &params.disk);
	rng_seed(&r, 1);
	ok_near(disk_seek(&d, 1, false), 0.2e-3, 1e-12);
	ok_near(disk_seek(&d, 1, true), 0.4e-3, 1e-12);
	ok_near(disk_seek(&d, 0, true), 0, 0);
	for (int i = 0; i < (int)nr; i++)
		sum += disk_seek(&d,
				 fabs(floor(rng_uniform(&r) * d.cylinders) -
				      floor(rng_uniform(&r) * d.cylinders)),
				 false);
	ok_ratio(sum / nr, 3.5e-3, 0.005);
	outer = disk_locate(&d, 0, 125000, false);
	inner = disk_locate(&d, (uint64_t)(d.p->capacity_bytes * 0.9999), 73000, false);
	ok_ratio(disk_transfer(&d, &outer), 1e-3, 1e-9);
	ok_ratio(disk_transfer(&d, &inner), 1e-3, 1e-3);
}

/* Reading goes on without a lost revolution, and half of one is lost on average elsewhere. */
static void rotation(void)
{
	struct disk d;
	struct disk_command a, b;
	double sum = 0, nr = 100000;
	struct rng r;

	disk_init(&d, &params.disk);
	rng_seed(&r, 2);
	a = disk_locate(&d, 1 << 30, 65536, false);
	b = disk_locate(&d, (1 << 30) + 65536, 65536, false);
	disk_move(&d, &a);
	ok_near(disk_positioning(&d, &b, (b.angle + 1e-9) * d.p->revolution_s) / d.p->revolution_s,
		1, 1e-6);
	ok_near(disk_positioning(&d, &b, b.angle * d.p->revolution_s), 0, 1e-9);
	a = disk_locate(&d, 1 << 30, 1, false);
	ok_near(remainder(b.angle - a.angle - disk_transfer(&d, &b) / d.p->revolution_s, 1), 0,
		1e-4);
	for (int i = 0; i < (int)nr; i++)
		sum += disk_positioning(&d, &b, rng_uniform(&r));
	ok_ratio(sum / nr, d.p->revolution_s / 2, 0.01);
}

struct moments {
	double sum, squares, nr;
};

/* One disk, Poisson arrivals, first come first served: waiting by Pollaczek and Khinchine. */
static double mean_wait(double rate, struct moments *service)
{
	struct sus_params p = SUS_PARAMS;
	struct backend b;
	struct rng r;
	double arrival = 0, free_at = 0, wait = 0, nr = 400000;

	p.disk.window = 1;
	backend_init(&b, &p);
	rng_seed(&r, 3);
	for (int i = 0; i < (int)nr; i++) {
		double begin, done;
		uint32_t owner;

		arrival += rng_exponential(&r) / rate;
		begin = arrival > free_at ? arrival : free_at;
		backend_add(&b, 0, random_offset(&r, &b.disks[0].disk), 4096, false, 7);
		if (!backend_begin(&b, 0, begin, &done))
			return NAN;
		backend_end(&b, 0, done, &owner);
		free_at = done;
		wait += begin - arrival;
		service->sum += done - begin;
		service->squares += (done - begin) * (done - begin);
		service->nr++;
	}
	backend_release(&b);
	return wait / nr;
}

static void one_disk(void)
{
	struct moments s = { 0 };
	double rate = 100, wait = mean_wait(rate, &s), mean = s.sum / s.nr;
	/* Of 4 KB, at the mean of 1 / rate over bytes: cylinders hold bytes as their rate. */
	double transfer = 4096 / ((params.disk.rate_outer + params.disk.rate_inner) / 2);

	/* Places are uniform over bytes, so a little denser on the outer cylinders: 1 %. */
	ok_ratio(mean, params.disk.command_s + 3.5e-3 + 2e-3 + transfer, 0.01);
	ok_ratio(wait, rate * s.squares / s.nr / 2 / (1 - rate * mean), 0.03);
}

/* The more commands a disk can choose from, the more it does; nobody is forgotten. */
static void ordering(void)
{
	double last = 0;

	for (unsigned window = 1; window <= 16; window *= 4) {
		struct sus_params p = SUS_PARAMS;
		struct backend b;
		struct rng r;
		double now = 0;
		uint32_t seen[2000] = { 0 }, owner, most = 0;

		p.disk.window = window;
		backend_init(&b, &p);
		rng_seed(&r, 4);
		for (uint32_t i = 0; i < 2016; i++) {
			if (i < 2000)
				backend_add(&b, 3, random_offset(&r, &b.disks[3].disk), 4096, false,
					    i);
			if (i < 16)
				continue;
			ok(backend_begin(&b, 3, now, &now));
			backend_end(&b, 3, now, &owner);
			seen[owner]++;
			most = i - owner > most ? i - owner : most;
		}
		for (uint32_t i = 0; i < 2000; i++)
			if (!ok_eq(seen[i], 1))
				break;
		ok(most <= 16 * (params.disk.patience + 17));
		ok(2000 / now > last);
		last = 2000 / now;
		backend_release(&b);
	}
}

static void lru(void)
{
	enum { NR = 20000 };
	static uint64_t blocks[NR], hits[NR + 1];
	const uint32_t sizes[] = { 1, 10, 100, 400 };
	struct rng r;

	rng_seed(&r, 5);
	for (int i = 0; i < NR; i++)
		blocks[i] = rng_below(&r, 1 + rng_below(&r, 600));
	slow_lru_tree(blocks, NR, hits);
	for (int s = 0; s < 4; s++) {
		struct read_cache c;
		uint64_t found = 0;

		read_cache_init(&c, 600, sizes[s] * TRACK_PAGES);
		for (int i = 0; i < NR; i++) {
			found += read_cache_peek(&c, (uint32_t)blocks[i], TRACK_FULL) == TRACK_FULL;
			read_cache_touch(&c, (uint32_t)blocks[i]);
			read_cache_add(&c, (uint32_t)blocks[i], TRACK_FULL);
		}
		ok_near(1 - (double)found / NR, slow_lru_miss_ratio(hits, NR, sizes[s]), 1e-12);
		ok(c.used <= c.capacity);
		read_cache_release(&c);
	}
}

/* A literal set of dirty pages beside the write cache. */
static void write_cache_balance(void)
{
	enum { STRIPES = 5, PAGES = STRIPES * STRIPE_PAGES };
	static bool dirty[PAGES], taken[PAGES];
	uint64_t pages[STRIPES][SUS_DATA], nr_dirty = 0, nr_taken = 0;
	bool busy[STRIPES] = { 0 };
	struct write_cache w;
	struct rng r;

	rng_seed(&r, 6);
	write_cache_init(&w, STRIPES, PAGES);
	for (int step = 0; step < 20000; step++) {
		uint64_t first = rng_below(&r, PAGES - 16), got[SUS_DATA];
		uint32_t nr = 1 + (uint32_t)rng_below(&r, 16), stripe, need = 0;

		for (uint64_t p = first; p < first + nr; p++)
			need += !dirty[p];
		if (!ok_eq(write_cache_need(&w, first, nr), need))
			return;
		write_cache_add(&w, first, nr);
		for (uint64_t p = first; p < first + nr; p++)
			dirty[p] = true;
		nr_dirty += need;
		if (rng_below(&r, 3) == 0 && write_cache_take(&w, &stripe, got)) {
			if (!ok(!busy[stripe]))
				return;
			busy[stripe] = true;
			memcpy(pages[stripe], got, sizeof(got));
			for (uint64_t p = 0; p < STRIPE_PAGES; p++) {
				uint64_t at = stripe * STRIPE_PAGES + p;

				if (!ok_eq(got[p / 64] >> (p % 64) & 1, dirty[at]))
					return;
				nr_dirty -= dirty[at];
				nr_taken += taken[at] = dirty[at];
				dirty[at] = false;
			}
		}
		stripe = (uint32_t)rng_below(&r, STRIPES);
		if (busy[stripe] && rng_below(&r, 3) == 0) {
			write_cache_done(&w, stripe, pages[stripe]);
			busy[stripe] = false;
			for (uint64_t p = 0; p < STRIPE_PAGES; p++)
				nr_taken -= taken[stripe * STRIPE_PAGES + p];
		}
		if (!ok_eq(w.dirty, nr_dirty) || !ok_eq(w.used, nr_dirty + nr_taken))
			return;
	}
	write_cache_release(&w);
}

static void layout(void)
{
	unsigned parity[SUS_DISKS] = { 0 };

	for (uint32_t s = 0; s < 70; s++) {
		unsigned used = 1u << raid_parity_disk(s);

		for (unsigned k = 0; k < SUS_DATA; k++)
			used |= 1u << raid_data_disk(s, k);
		ok_eq(used, 0x7f);
		parity[raid_parity_disk(s)]++;
	}
	for (unsigned i = 0; i < SUS_DISKS; i++)
		ok_eq(parity[i], 10);
	ok_eq(raid_offset(2, 3), 2 * 262144 + 3 * 4096);
}

static uint64_t bits(const struct raid_access *a)
{
	return (~0ull >> (64 - a->nr)) << a->page;
}

/* What is read and written of each disk. */
static void collect(const struct raid_access *list, unsigned nr, uint64_t out[SUS_DISKS])
{
	memset(out, 0, SUS_DISKS * sizeof(*out));
	for (unsigned i = 0; i < nr; i++) {
		ok(!out[list[i].disk]);
		out[list[i].disk] = bits(&list[i]);
	}
}

/* New parity can be made of what was read, in one way or the other, for every page. */
static bool can_make_parity(uint32_t stripe, const uint64_t pages[SUS_DATA],
			    const uint64_t read[SUS_DISKS], uint64_t all)
{
	bool modify = !(all & ~read[raid_parity_disk(stripe)]), reconstruct = true;

	for (unsigned k = 0; k < SUS_DATA; k++) {
		uint64_t has = read[raid_data_disk(stripe, k)];

		modify &= !(pages[k] & ~has);
		reconstruct &= !(all & ~pages[k] & ~has);
	}
	return modify || reconstruct;
}

static void plans(void)
{
	struct rng r;

	rng_seed(&r, 7);
	for (uint32_t i = 0; i < 3000; i++) {
		uint64_t pages[SUS_DATA] = { 0 }, read[SUS_DISKS], written[SUS_DISKS], all = 0;
		struct raid_plan p;

		pages[rng_below(&r, SUS_DATA)] = 1ull << rng_below(&r, 64);
		for (unsigned k = 0; k < SUS_DATA; k++) {
			if (rng_below(&r, 2))
				pages[k] |= rng_u64(&r) & rng_u64(&r);
			if (rng_below(&r, 3) == 0)
				pages[k] = ~0ull;
			all |= pages[k];
		}
		raid_plan(&p, i, pages);
		collect(p.reads, p.nr_reads, read);
		collect(p.writes, p.nr_writes, written);
		if (!ok(can_make_parity(i, pages, read, all)) ||
		    !ok(!(all & ~written[raid_parity_disk(i)])))
			return;
		for (unsigned k = 0; k < SUS_DATA; k++)
			ok(!(pages[k] & ~written[raid_data_disk(i, k)]));
	}
}

static void write_penalty(void)
{
	uint64_t one[SUS_DATA] = { [2] = 1ull << 40 }, full[SUS_DATA];
	struct raid_plan p;

	raid_plan(&p, 1, one);
	ok_eq(p.nr_reads, 2);
	ok_eq(p.nr_writes, 2);
	ok_eq(p.reads[0].nr + p.reads[1].nr + p.writes[0].nr + p.writes[1].nr, 4);
	memset(full, 0xff, sizeof(full));
	raid_plan(&p, 1, full);
	ok_eq(p.nr_reads, 0);
	ok_eq(p.nr_writes, 7);
	full[0] = 0;
	raid_plan(&p, 1, full);
	ok_eq(p.nr_reads, 1);
	ok_eq(p.nr_writes, 6);
}

/* Both directions always waiting: two batches of 16 reads, then one of 16 writes. */
static void read_preference(void)
{
	struct host h;
	struct rng r;
	uint32_t request, sent[2] = { 0 };
	char order[97] = "";

	rng_seed(&r, 8);
	host_init(&h, &params, 400);
	for (uint32_t i = 0; i < 400; i++)
		host_add(&h, i, i % 2, rng_below(&r, 1 << 30), 0);
	for (unsigned i = 0; i < 96; i++) {
		if (i >= params.queue_depth)
			host_done(&h);
		if (!ok(host_dispatch(&h, 0.001, &request)))
			return;
		sent[request % 2]++;
		order[i] = request % 2 ? 'w' : 'r';
		if (i == params.queue_depth - 1)
			ok(!host_dispatch(&h, 0.001, &request));
	}
	ok_eq(sent[0], 64);
	ok_eq(sent[1], 32);
	ok_str(order, "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrwwwwwwwwwwwwwwww"
		      "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrwwwwwwwwwwwwwwww");
	host_release(&h);
}

static void address_order(void)
{
	struct host h;
	uint32_t request;
	const uint64_t at[] = { 50, 10, 40, 20, 30 };
	const uint32_t want[] = { 0, 1, 3, 4, 2 };

	host_init(&h, &params, 5);
	for (uint32_t i = 0; i < 5; i++)
		host_add(&h, i, false, at[i], i * 1e-3);
	/*
	 * The oldest begins; none lies above it, so the oldest that is left goes next, and so on
	 * up.
	 */
	for (int i = 0; i < 5; i++) {
		ok(host_dispatch(&h, 0.01, &request));
		ok_eq(request, want[i]);
	}
	ok(!host_dispatch(&h, 0.01, &request));
	host_release(&h);
}

/* A stream is staged ahead without gap or overlap; single requests are not. */
static void streams(void)
{
	struct prefetch f;
	struct prefetch_order o;
	uint64_t end = 0;

	prefetch_init(&f, &params);
	for (uint64_t i = 0; i < 300; i++) {
		o = prefetch_read(&f, 4096 * i, 8, true, 1 << 20);
		ok_eq(o.nr, 0);
	}
	for (uint64_t i = 0; i < 256; i++) {
		uint64_t page = 100000 + i;

		o = prefetch_read(&f, page * 8, 8, false, 1 << 20);
		if (i + 1 < params.prefetch_after)
			ok_eq(o.nr, 0);
		if (!o.nr)
			continue;
		ok(o.first == (end ? end : page + 1));
		ok(o.nr <= params.prefetch_most);
		end = o.first + o.nr;
	}
	ok(end > 100256);
	o = prefetch_read(&f, 100256 * 8, 8, true, 100257);
	ok_eq(o.nr, 0);
	prefetch_release(&f);
}

static const struct tap_test tests[] = {
	{ "seeks and rates are those of the data sheet", data_sheet },
	{ "reading goes on without a lost revolution", rotation },
	{ "one disk with poisson arrivals waits by pollaczek and khinchine", one_disk },
	{ "a disk orders what waits and forgets nobody", ordering },
	{ "the read cache hits as an exact lru does", lru },
	{ "dirty pages balance against a literal set", write_cache_balance },
	{ "a stripe lies on seven disks and parity goes round", layout },
	{ "destaging reads what new parity takes and writes all that is dirty", plans },
	{ "a small write costs four accesses, a full stripe seven", write_penalty },
	{ "waiting reads are preferred two batches to one", read_preference },
	{ "a batch goes up the addresses", address_order },
	{ "streams are staged ahead without gaps", streams },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
