/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that takes segments, under death at every call, every error at every call, no memory at
 * every allocation, and power cuts: what it acknowledged is there once, and the next start takes
 * what was not. BLKCAST_ENDURANCE=1 visits every point.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/store/intake/ingest.h"
#include "tests/support/crash_states.h"
#include "tests/support/every_point.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_SEGMENTS 12
#define CHILD_S	    20u
#define MAX_START_S 5.0

static const char *const hosts[] = { "db1", "web1" };

/* Written by a child that may be killed, read by its parent. */
struct promises {
	size_t acknowledged[NR_SEGMENTS]; /* calls recorded by then, plus 1; 0: never */
};

struct rig {
	char dir[64];
	struct promises *promises;
	struct buf segments[NR_SEGMENTS];
	struct segment_name names[NR_SEGMENTS];
};

static void rig_make(struct rig *r)
{
	snprintf(r->dir, sizeof(r->dir), "%s", sample_folder());
	r->promises = mmap(NULL, sizeof(*r->promises), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r->promises == MAP_FAILED)
		abort();
	for (uint64_t i = 0; i < NR_SEGMENTS; i++) {
		struct sample s = { .host = hosts[i % 2],
				    .boot_id = i < 8 ? "b1" : "b2",
				    .epoch = 5 + i / 6,
				    .sequence = i,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = i * 1000,
				    .end_ns = i * 1000 + 1000 };
		struct request requests[3];

		buf_init(&r->segments[i]);
		sample_requests(i, s.begin_ns, s.end_ns, requests, 3);
		sample_segment(&s, requests, 3, &r->segments[i]);
		r->names[i] = (struct segment_name){ .epoch = s.epoch, .sequence = i };
		snprintf(r->names[i].host, sizeof(r->names[i].host), "%s", s.host);
		snprintf(r->names[i].boot_id, sizeof(r->names[i].boot_id), "%s", s.boot_id);
	}
}

static void rig_release(struct rig *r)
{
	for (size_t i = 0; i < NR_SEGMENTS; i++)
		buf_release(&r->segments[i]);
	munmap(r->promises, sizeof(*r->promises));
	sample_remove(r->dir);
}

/* Takes some, each third one twice, as serve does it. */
static void take(struct rig *r, struct ingest *ingest, size_t from, size_t to)
{
	const struct call *calls;
	struct ingest_result result;

	for (size_t i = from; i < to; i++)
		for (int again = 0; again < (i % 3 ? 1 : 2); again++)
			if (!ingest_put(ingest, &r->names[i], r->segments[i].data,
					r->segments[i].len, &result, NULL) &&
			    !r->promises->acknowledged[i])
				r->promises->acknowledged[i] = calls_recorded(&calls) + 1;
}

/* The lock of a journal ends with its process: as if this one had died. */
static void let_go_of_journals(const char *dir)
{
	char link[64], path[256];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t len;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, path, sizeof(path) - 1);
		path[len < 0 ? 0 : len] = 0;
		if (len > 0 && strncmp(path, dir, strlen(dir)) == 0 && strstr(path, "/journal-"))
			close(fd);
	}
}

/* Two lives of serve; the first ends without a word, in the middle of its journal. */
static void take_all(struct rig *r)
{
	static struct store *first_store;
	static struct ingest *first;
	struct ingest *ingest;
	struct store *store;

	if (!store_open(&first_store, r->dir, true, NULL) && !ingest_new(&first, first_store)) {
		ingest_limit_journal(first, 3 * r->segments[0].len); /* some are retired */
		take(r, first, 0, NR_SEGMENTS / 2 - 1);
		calls_pause();
		let_go_of_journals(r->dir);
		calls_resume();
	}
	if (store_open(&store, r->dir, true, NULL))
		return;
	if (!ingest_new(&ingest, store)) {
		ingest_limit_journal(ingest, 3 * r->segments[0].len);
		take(r, ingest, 0, NR_SEGMENTS);
		ingest_free(ingest);
	}
	store_close(store);
}

struct totals {
	uint64_t nr, nr_killed, nr_crashed, nr_stuck, nr_lost, nr_altered, nr_refused, nr_unlike;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The next start: all acknowledged is there as it was, and all is taken again, each once. */
static void judge(struct rig *r, const char *dir, size_t at, struct totals *t)
{
	double begin_s = now_s();
	struct ingest_result result;
	struct ingest *ingest;
	struct store *store;
	struct buf data;

	t->nr++;
	if (store_open(&store, dir, true, NULL)) {
		t->nr_stuck++;
		return;
	}
	t->nr_stuck += now_s() - begin_s > MAX_START_S;
	buf_init(&data);
	for (size_t i = 0; i < NR_SEGMENTS; i++) {
		size_t promised = r->promises->acknowledged[i];
		char path[SEGMENT_PATH_MAX];

		segment_name_path(&r->names[i], path);
		if (!promised || promised > at)
			continue;
		if (store_read(store, path, &data, NULL))
			t->nr_lost++;
		else
			t->nr_altered += data.len != r->segments[i].len ||
					 memcmp(data.data, r->segments[i].data, data.len) != 0;
	}
	if (!ingest_new(&ingest, store)) {
		for (size_t i = 0; i < NR_SEGMENTS; i++)
			t->nr_refused += ingest_put(ingest, &r->names[i], r->segments[i].data,
						    r->segments[i].len, &result, NULL) != 0;
		ingest_free(ingest);
	}
	if (store_sync(store, NULL) || store_sync_result(store)->nr_segments != NR_SEGMENTS)
		t->nr_unlike++;
	buf_release(&data);
	store_close(store);
}

static void report(const struct totals *t)
{
	ok_eq(t->nr_crashed, 0);
	ok_eq(t->nr_stuck, 0);
	ok_eq(t->nr_lost, 0);
	ok_eq(t->nr_altered, 0);
	ok_eq(t->nr_refused, 0);
	ok_eq(t->nr_unlike, 0);
	tap_note("%llu runs, %llu killed", (unsigned long long)t->nr,
		 (unsigned long long)t->nr_killed);
}

static uint64_t run_one(void *ctx, const struct calls_plan *plan, uint64_t *nr_wrong)
{
	(void)nr_wrong;
	calls_begin(plan);
	take_all(ctx);
	return calls_end();
}

static bool try_one(void *ctx, const struct calls_plan *plan)
{
	struct totals *t = ctx;
	struct point_end end;
	struct rig r;

	rig_make(&r);
	end = point_in_child(plan, CHILD_S, run_one, &r);
	t->nr_killed += end.is_killed;
	t->nr_crashed += end.is_crashed;
	judge(&r, r.dir, SIZE_MAX, t);
	rig_release(&r);
	return end.is_reached;
}

static void killed_at_every_point(void)
{
	struct totals t = { 0 };

	points_of_death(7, try_one, &t);
	report(&t);
}

static void every_error_at_every_call(void)
{
	struct totals t = { 0 };

	points_of_error(59, try_one, &t);
	report(&t);
}

static void no_memory_at_every_allocation(void)
{
	struct totals t = { 0 };

	points_without_memory(13, try_one, &t);
	report(&t);
}

static void power_cuts(void)
{
	bool is_long = getenv("BLKCAST_ENDURANCE");
	struct totals t = { 0 };
	const struct call *calls;
	struct rig r;
	size_t nr;

	rig_make(&r);
	calls_record(r.dir);
	take_all(&r);
	nr = calls_recorded(&calls);
	calls_record(NULL);
	ok(nr > 80);
	for (size_t i = 1; i <= nr; i += is_long ? 1 : 4)
		for (uint64_t seed = 0; seed < (is_long ? 40 : 4); seed++) {
			const char *dir = sample_folder();

			crash_state_make(calls, i, seed + (seed > 1 ? i : 0), dir);
			judge(&r, dir, i + 1, &t);
			sample_remove(dir);
		}
	report(&t);
	rig_release(&r);
}

/* An error that the system has for a file as well as this program for a segment: EFBIG. */
static void a_segment_is_not_blamed_for_its_disk(void)
{
	struct ingest_result result;
	struct rlimit before, none;
	struct ingest *ingest;
	struct store *store;
	struct rig r;
	int ret;

	rig_make(&r);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_int(ingest_new(&ingest, store), 0);
	getrlimit(RLIMIT_FSIZE, &before);
	none = before;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	ret = ingest_put(ingest, &r.names[0], r.segments[0].data, r.segments[0].len, &result, NULL);
	setrlimit(RLIMIT_FSIZE, &before);
	ok_int(ret, -EIO);
	ret = ingest_put(ingest, &r.names[0], r.segments[0].data, r.segments[0].len, &result, NULL);
	ok_int(ret, 0);
	ingest_free(ingest);
	store_close(store);
	rig_release(&r);
}

static const struct tap_test tests[] = {
	{ "serve killed before and after each change keeps what it acknowledged",
	  killed_at_every_point },
	{ "any error at any call, once or from then on, costs no acknowledged segment",
	  every_error_at_every_call },
	{ "nor does want of memory at any allocation", no_memory_at_every_allocation },
	{ "nor does a power cut after any call", power_cuts },
	{ "an error of the disk is never told as one of the segment",
	  a_segment_is_not_blamed_for_its_disk },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
