/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_report: a day of 100 million requests on three devices, drawn as one page: time per
 * request, memory, size of the page. Offsets and response times are spread over all rows of the
 * pictures.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/report/page/page.h"
#include "workload/window.h"

#define REQUESTS 100000000ull
#define DEVICES	 3
#define BATCH	 4096
#define DAY_NS	 86400000000000ull
#define BEGIN_NS 1700000000000000000ull

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	return z ^ z >> 31;
}

static void make_batch(struct request *r, uint64_t first, uint32_t device, uint64_t *state)
{
	memset(r, 0, BATCH * sizeof(*r));
	for (uint64_t i = 0; i < BATCH; i++) {
		uint64_t random = next(state);

		r[i].arrival_ns = BEGIN_NS + (first + i) * (DAY_NS / REQUESTS);
		r[i].dispatch_ns = r[i].arrival_ns + (random >> 8 & 0xffff);
		/* 16 us to 8 s, every octave alike; the longest rarer, or all would overlap. */
		r[i].completion_ns =
			r[i].dispatch_ns +
			(16384ull << (random & 7 ? random >> 24 & 7 : random >> 24 & 15));
		r[i].sector = (random >> 32) * 8;
		r[i].bytes = 4096u << (random >> 4 & 7);
		r[i].operation = random >> 3 & 1 ? OPERATION_WRITE : OPERATION_READ;
		r[i].device = device;
		r[i].tid = (uint32_t)(random >> 60);
	}
}

static double peak_mb(void)
{
	char line[256];
	double kb = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %lf", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb / 1024;
}

static void figure(const char *name, double value, const char *unit, const char *goal,
		   const char *note)
{
	printf("figure\t%s\t%.4g\t%s\t%s\t%s\n", name, value, unit, goal, note);
}

struct bench {
	struct collect *collect;
	struct window *windows[DEVICES];
	struct profile profiles[DEVICES];
	double collect_s, window_s;
};

static int feed(struct bench *b)
{
	struct request *batch = calloc(BATCH, sizeof(*batch));
	uint64_t state = 1;
	int err = batch ? 0 : -1;

	for (uint64_t first = 0; first < REQUESTS && !err; first += BATCH) {
		size_t device = (size_t)(first / BATCH % DEVICES);
		double at;

		make_batch(batch, first, (uint32_t)device, &state);
		at = now_s();
		err = collect_add(b->collect, device, batch, BATCH);
		b->collect_s += now_s() - at;
		at = now_s();
		err = err ? err : window_add_many(b->windows[device], batch, BATCH);
		b->window_s += now_s() - at;
	}
	free(batch);
	return err;
}

static int begin(struct bench *b)
{
	struct window_config config = { 0 };
	static const char *const names[DEVICES] = { "sda", "sdb", "sdc" };
	int err = collect_new(&b->collect);

	for (size_t i = 0; i < DEVICES && !err; i++) {
		struct collect_name name = { .host = "bench", .device = "", .name = names[i] };
		size_t index;

		err = collect_device(b->collect, &name, &index, NULL);
		if (!err)
			err = window_new(&b->windows[i], &config, BEGIN_NS);
	}
	return err;
}

static int close_profiles(struct bench *b)
{
	int err = 0;

	for (size_t i = 0; i < DEVICES && !err; i++) {
		struct profile *p = &b->profiles[i];

		profile_init(p);
		err = window_profile(b->windows[i], b->collect->end_ns, p);
		snprintf(p->host, sizeof(p->host), "bench");
		snprintf(p->device_name, sizeof(p->device_name), "%s",
			 b->collect->devices[i]->name);
		p->begin_s = (double)BEGIN_NS * 1e-9;
		p->end_s = (double)b->collect->end_ns * 1e-9;
		window_free(b->windows[i]);
	}
	return err;
}

int main(void)
{
	struct bench b = { 0 };
	struct report_facts facts = { .profiles = b.profiles, .nr_profiles = DEVICES };
	struct report *r;
	struct buf page;
	double at;

	if (begin(&b) || feed(&b) || close_profiles(&b))
		return 1;
	at = now_s();
	if (report_new(&r, b.collect, &facts, true, NULL))
		return 1;
	r->source = r->selection = "--store traces";
	buf_init(&page);
	if (page_write(r, &page))
		return 1;
	figure("report_collect", b.collect_s / (double)REQUESTS * 1e9, "ns/request", "-",
	       "all grids, 100 M requests in 24 h, 3 devices");
	figure("report_window", b.window_s / (double)REQUESTS * 1e9, "ns/request", "-",
	       "the profile of the same requests, as a peer");
	figure("report_draw", now_s() - at, "s", "-", "all pictures and the page");
	figure("report_page", (double)page.len, "bytes", "< 3000000", "the same 100 M requests");
	figure("report_memory", peak_mb(), "MiB", "< 150", "peak of the process, windows included");
	if (getenv("BLKCAST_BENCH_PAGE")) {
		FILE *f = fopen(getenv("BLKCAST_BENCH_PAGE"), "w");

		if (f) {
			fwrite(page.data, 1, page.len, f);
			fclose(f);
		}
	}
	buf_release(&page);
	report_free(r);
	return 0;
}
