// SPDX-License-Identifier: Apache-2.0
/*
 * What the analyzer does per request of a stored trace: decoding alone, scanning in order of time,
 * and all estimators over it, on one device and on four hosts merged; and how much sooner all
 * processors are done than one of them, in turn.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/characterize/replay.h"
#include "analyzer/store/scan/scan.h"
#include "tests/support/sample.h"
#include "tests/support/traffic.h"

#define NR_SEGMENTS 48
#define ROUNDS	    3 /* the best counts: the machine is shared */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void figure(const char *name, double value, const char *unit, const char *goal,
		   const char *note)
{
	printf("figure\t%s\t%.4g\t%s\t%s\t%s\n", name, value, unit, goal, note);
}

/* A store of nr_hosts with NR_SEGMENTS full segments in all; returns the requests. */
static uint64_t make_store(const char *dir, unsigned int nr_hosts, struct request *r)
{
	char hosts[8][8];
	struct traffic t = { 1 };
	uint64_t last_ns[8] = { 0 };

	for (unsigned int i = 0; i < NR_SEGMENTS; i++) {
		unsigned int h = i % nr_hosts;
		struct sample s = { .host = hosts[h], .boot_id = "boot", .epoch = 1 };
		uint64_t latest = 0;

		snprintf(hosts[h], sizeof(hosts[h]), "h%u", h);
		traffic_random_4k(&t, r, SEGMENT_MAX_REQUESTS, 1ull << 30);
		for (size_t k = 0; k < SEGMENT_MAX_REQUESTS; k++) {
			r[k].arrival_ns += last_ns[h];
			r[k].dispatch_ns += last_ns[h];
			r[k].completion_ns += last_ns[h];
			if (r[k].completion_ns > latest)
				latest = r[k].completion_ns;
		}
		s.sequence = i / nr_hosts;
		s.real_offset_ns = SAMPLE_REAL_NS;
		s.begin_ns = last_ns[h];
		s.end_ns = latest;
		last_ns[h] = latest;
		sample_store(dir, &s, r, SEGMENT_MAX_REQUESTS);
	}
	return (uint64_t)NR_SEGMENTS * SEGMENT_MAX_REQUESTS;
}

static int drop_profile(void *ctx, struct profile *p)
{
	*(uint64_t *)ctx += p->requests[OPERATION_READ];
	return 0;
}

static double scan_s(struct store *store, struct scan_request *batch)
{
	struct scan *scan = NULL;
	double begin = now_s();

	if (scan_open_store(&scan, store, NULL, NULL, NULL) < 0)
		abort();
	while (scan_next(scan, batch, SCAN_BATCH) > 0)
		;
	scan_close(scan);
	return now_s() - begin;
}

static double replay_s(struct store *store, bool cheap)
{
	uint64_t reads = 0;
	struct replay_config config = { .profile = drop_profile, .ctx = &reads };
	struct scan *scan = NULL;
	double begin = now_s();

	config.window.cheap = cheap;
	if (scan_open_store(&scan, store, NULL, NULL, NULL) < 0 ||
	    replay(scan, &config, NULL) < 0 || reads == 0)
		abort();
	scan_close(scan);
	return now_s() - begin;
}

static double wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The seconds that a clock on the wall shows, on one processor or on all. */
static double replay_wall_s(struct store *store, bool on_one)
{
	cpu_set_t all, one;
	double begin;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		abort();
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	if (on_one && sched_setaffinity(0, sizeof(one), &one))
		abort();
	begin = wall_s();
	replay_s(store, false);
	begin = wall_s() - begin;
	if (sched_setaffinity(0, sizeof(all), &all))
		abort();
	return begin;
}

static double best(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

static void measure(unsigned int nr_hosts, const char *label)
{
	const char *dir = sample_folder();
	struct request *r = calloc(SEGMENT_MAX_REQUESTS, sizeof(*r));
	struct scan_request *batch = calloc(SCAN_BATCH, sizeof(*batch));
	double scan = 0, all = 0, cheap = 0, begin;
	struct store *store = NULL;
	uint64_t nr;
	char name[96];

	if (!r || !batch)
		abort();
	nr = make_store(dir, nr_hosts, r);
	begin = now_s();
	if (store_open(&store, dir, true, NULL) < 0)
		abort();
	snprintf(name, sizeof(name), "store sync, %s", label);
	figure(name, (double)nr / (now_s() - begin) / 1e6, "M requests/CPU s", "-",
	       "check, decode and index new segments");
	for (int i = 0; i < ROUNDS; i++) {
		scan = best(scan, scan_s(store, batch));
		all = best(all, replay_s(store, false));
		cheap = best(cheap, replay_s(store, true));
	}
	snprintf(name, sizeof(name), "scan in time order, %s", label);
	figure(name, (double)nr / scan / 1e6, "M requests/CPU s", "-",
	       "read, check, decode, merge");
	snprintf(name, sizeof(name), "characterize, all estimators, %s", label);
	figure(name, (double)nr / all / 1e6, "M requests/CPU s", ">= 8", "random 4 KiB over 1 GiB");
	snprintf(name, sizeof(name), "characterize, counts and response times, %s", label);
	figure(name, (double)nr / cheap / 1e6, "M requests/CPU s", "-", "no locality, no pattern");
	cheap = all = 0;
	for (int i = 0; i < ROUNDS; i++) {
		cheap = best(cheap, replay_wall_s(store, true));
		all = best(all, replay_wall_s(store, false));
	}
	snprintf(name, sizeof(name), "characterize, all processors beside one, %s", label);
	figure(name, cheap / all, "times as fast", ">= 1.9", "of two processors; the same bits");
	store_close(store);
	free(r);
	free(batch);
	sample_remove(dir);
}

int main(void)
{
	measure(1, "one host");
	measure(4, "four hosts");
	return 0;
}
