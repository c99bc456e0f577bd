/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests per second through every estimator and through the whole window, on random 4 KiB and on
 * sequential 64 KiB, on one core; and through the window on its two worst loads: 4 KiB within the
 * 32 MiB whose every reference the miss-ratio curve follows, and 1 MiB of 256 blocks each. Peers of
 * the same run: reading the same records and summing their fields (the floor that memory bandwidth
 * sets), and the literal two loops of Algorithm 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/literal/slow_sequential.h"
#include "tests/literal/slow_stream.h"
#include "workload/align.h"
#include "workload/block_hash.h"
#include "workload/closed.h"
#include "workload/footprint.h"
#include "workload/hotspot.h"
#include "workload/idc.h"
#include "workload/latency.h"
#include "workload/open.h"
#include "workload/reuse.h"
#include "workload/sequential.h"
#include "workload/size_mix.h"
#include "workload/window.h"

#define NR	(1u << 18) /* 18 MiB of records: more than the L2 cache, as a stream is */
#define REPEATS 7
#define BATCH	128
/* The goal is for random 4 KiB; larger requests touch more blocks, and there are fewer of them. */
#define WINDOW_GOAL "8e6"

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct load {
	const char *name;
	uint64_t blocks; /* of the range, random; 0: 64 sequential streams */
	uint32_t bytes;
};

/* 100 k requests/s by 64 threads, 70 % reads. */
static void make(struct request *r, const struct load *load)
{
	struct slow_rng g = { 1 };
	uint64_t now = 1000000000, stream[64] = { 0 };

	for (size_t i = 0; i < NR; i++) {
		uint32_t tid = (uint32_t)slow_below(&g, 64);

		now += (uint64_t)slow_exponential(&g, 10000);
		r[i] = slow_request(now, slow_below(&g, load->blocks + 1) * 8);
		r[i].dispatch_ns = now + (uint64_t)slow_exponential(&g, 5000);
		r[i].completion_ns = r[i].dispatch_ns + (uint64_t)slow_exponential(&g, 100000);
		r[i].tid = 1000 + tid;
		r[i].operation = slow_below(&g, 10) < 7 ? OPERATION_READ : OPERATION_WRITE;
		r[i].bytes = load->bytes;
		if (!load->blocks) {
			r[i].operation = tid % 10 < 7 ? OPERATION_READ : OPERATION_WRITE;
			r[i].sector = ((uint64_t)tid << 25) + stream[tid];
			stream[tid] += load->bytes / SECTOR_BYTES;
		}
	}
}

static volatile uint64_t sink;

static void run_floor(const struct request *r, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += r[i].arrival_ns + r[i].dispatch_ns + r[i].completion_ns + r[i].sector +
		       r[i].bytes + r[i].tid + r[i].operation;
	sink = sum;
}

static void run_closed(const struct request *r, size_t nr)
{
	struct closed c;

	closed_init(&c, r->arrival_ns, CLOSED_INTERVAL_NS);
	closed_add_many(&c, r, nr);
	closed_release(&c);
}

static void run_open(const struct request *r, size_t nr)
{
	struct open o = { 0 };

	open_add_many(&o, r, nr);
	sink = o.nr;
}

static void run_idc(const struct request *r, size_t nr)
{
	struct idc d;

	idc_init(&d, r->arrival_ns);
	idc_add_many(&d, r, nr);
	sink = d.bin_count;
}

static void run_size_mix(const struct request *r, size_t nr)
{
	struct size_mix m = { 0 };

	size_mix_add_many(&m, r, nr);
	size_mix_release(&m);
}

static void run_latency(const struct request *r, size_t nr)
{
	struct latency l = { 0 };

	latency_add_many(&l, r, nr);
	latency_release(&l);
}

/* Two of the three lists see each request. */
static void run_sequential(const struct request *r, size_t nr)
{
	struct sequential lists[3];

	for (size_t i = 0; i < 3; i++)
		sequential_init(&lists[i], SEQUENTIAL_SUBSET_REQUESTS);
	for (size_t i = 0; i < nr; i++) {
		uint64_t end = r[i].sector + request_sectors(&r[i]);

		sequential_add(&lists[r[i].operation], r[i].sector, end);
		sequential_add(&lists[2], r[i].sector, end);
	}
	for (size_t i = 0; i < 3; i++)
		sequential_release(&lists[i]);
}

static void run_hotspot(const struct request *r, size_t nr)
{
	struct hotspot h = { 0 };

	hotspot_add_many(&h, r, nr);
	hotspot_release(&h);
}

static size_t hash_blocks(const struct request *r, size_t nr, uint64_t *hashes)
{
	size_t at = 0;
	uint64_t first, last;

	for (size_t i = 0; i < nr; i++)
		if (block_range(&r[i], &first, &last))
			for (; first <= last; first++)
				hashes[at++] = block_hash(1, first);
	return at;
}

static void run_footprint(const struct request *r, size_t nr)
{
	struct footprint f = { 0 };
	uint64_t hashes[BATCH * 17];

	for (size_t i = 0; i < nr; i += BATCH)
		footprint_add_many(&f, hashes, hash_blocks(r + i, BATCH, hashes));
	footprint_release(&f);
}

static void run_reuse(const struct request *r, size_t nr)
{
	struct reuse u;
	uint64_t hashes[BATCH * 17];

	reuse_init(&u, REUSE_SAMPLES);
	for (size_t i = 0; i < nr; i += BATCH)
		reuse_add_many(&u, hashes, hash_blocks(r + i, BATCH, hashes));
	reuse_release(&u);
}

/* One stream of many, as the analyzer feeds it. */
static void run_align(const struct request *r, size_t nr)
{
	struct align *a;
	uint32_t stream;

	if (align_new(&a, 0) || align_stream(a, "host", "7:0", &stream))
		abort();
	for (size_t i = 0; i < nr; i++)
		align_add(a, stream, r[i].arrival_ns, 1, r[i].bytes);
	align_free(a);
}

static void run_window(const struct request *r, size_t nr)
{
	const struct window_config config = { 0 };
	struct window *w;

	if (window_new(&w, &config, r->arrival_ns))
		abort();
	window_add_many(w, r, nr);
	sink = window_memory(w);
	window_free(w);
}

/* As the agent runs it: a profile and a new period each second. */
static void run_window_1s(const struct request *r, size_t nr)
{
	const struct window_config config = { 0 };
	uint64_t begin_ns = r->arrival_ns;
	struct window *w;
	struct profile p;
	size_t from = 0;

	if (window_new(&w, &config, begin_ns))
		abort();
	profile_init(&p);
	for (size_t i = 0; i < nr; i++) {
		if (r[i].arrival_ns < begin_ns + 1000000000)
			continue;
		window_add_many(w, r + from, i - from);
		from = i;
		begin_ns += 1000000000;
		if (window_profile(w, begin_ns, &p))
			abort();
		window_clear(w, begin_ns);
	}
	window_add_many(w, r + from, nr - from);
	sink = window_memory(w);
	profile_release(&p);
	window_free(w);
}

/* The literal loops on the first 64 Ki requests, one list only. */
static void run_two_loops(const struct request *r, size_t nr)
{
	static struct slow_range list[SEQUENTIAL_SUBSET_REQUESTS];
	uint64_t counted = 0;

	for (size_t i = 0; i < nr; i += SEQUENTIAL_SUBSET_REQUESTS) {
		for (size_t k = 0; k < SEQUENTIAL_SUBSET_REQUESTS; k++) {
			list[k].start = r[i + k].sector;
			list[k].end = r[i + k].sector + request_sectors(&r[i + k]);
		}
		counted += slow_sequential_count(list, SEQUENTIAL_SUBSET_REQUESTS);
	}
	sink = counted;
}

struct figure {
	const char *name;
	void (*run)(const struct request *r, size_t nr);
	size_t nr;
	const char *goal;
};

/* The best of the repeats: what the code costs where nothing else runs. */
static double best_s(const struct figure *f, const struct request *r)
{
	double best = 1e9;

	for (int i = 0; i < REPEATS; i++) {
		double begin = now_s(), took;

		f->run(r, f->nr);
		took = now_s() - begin;
		best = took < best ? took : best;
	}
	return best;
}

static void print_figure(const struct figure *f, const char *load, double ns, double floor_ns)
{
	bool has_goal = !strcmp(load, "random 4 KiB");

	printf("figure\tworkload %s, %s\t%.4g\trequests/s\t%s\t%.1f ns each, the floor %.1f ns\n",
	       f->name, load, 1e9 / ns, has_goal ? f->goal : "", ns, floor_ns);
}

static double measure_one(const struct figure *f, const struct request *r)
{
	return best_s(f, r) / (double)f->nr * 1e9;
}

static void measure(const struct request *r, const char *load)
{
	static const struct figure figures[] = {
		{ "floor: read and sum", run_floor, NR, "" },
		{ "open", run_open, NR, "" },
		{ "idc", run_idc, NR, "" },
		{ "closed", run_closed, NR, "" },
		{ "size_mix", run_size_mix, NR, "" },
		{ "latency", run_latency, NR, "" },
		{ "sequential, two lists", run_sequential, NR, "" },
		{ "sequential, literal loops, one list", run_two_loops, 1 << 14, "" },
		{ "hotspot", run_hotspot, NR, "" },
		{ "footprint", run_footprint, NR, "" },
		{ "reuse", run_reuse, NR, "" },
		{ "align", run_align, NR, "" },
		{ "window", run_window, NR, WINDOW_GOAL },
		{ "window, with a profile each second", run_window_1s, NR, WINDOW_GOAL },
	};
	double floor_ns = 0;

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
		double ns = measure_one(&figures[i], r);

		if (!i)
			floor_ns = ns;
		print_figure(&figures[i], load, ns, floor_ns);
	}
	run_window(r, NR);
	printf("figure\tworkload window memory, %s\t%" PRIu64 "\tbytes\t3145728\twindow_memory()\n",
	       load, sink);
}

static void measure_worst(struct request *r)
{
	static const struct load worst[] = { { "random 4 KiB in 32 MiB", 8191, 4096 },
					     { "sequential 1 MiB", 0, 1 << 20 } };
	static const struct figure floor = { "floor", run_floor, NR, "" };
	static const struct figure window = { "window", run_window, NR, "" };

	for (size_t i = 0; i < sizeof(worst) / sizeof(worst[0]); i++) {
		make(r, &worst[i]);
		print_figure(&window, worst[i].name, measure_one(&window, r),
			     measure_one(&floor, r));
	}
}

int main(void)
{
	static const struct load random = { "random 4 KiB", 1u << 28, 4096 };
	static const struct load sequential = { "sequential 64 KiB", 0, 65536 };
	struct request *r = malloc(NR * sizeof(*r));

	if (!r)
		return 1;
	make(r, &random);
	measure(r, random.name);
	make(r, &sequential);
	measure(r, sequential.name);
	measure_worst(r);
	free(r);
	return 0;
}
