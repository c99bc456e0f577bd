/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention under death at every call, every error at every call, no memory at every allocation,
 * and power cuts: requests ingested = there + summarized + dropped, each segment is answered as
 * before, and the next start needs no hand. BLKCAST_ENDURANCE=1 visits every point.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/keep/retain.h"
#include "analyzer/store/check/store_check.h"
#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/scan/inventory.h"
#include "analyzer/store/store_summary.h"
#include "tests/support/crash_states.h"
#include "tests/support/every_point.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_SEGMENTS 7
#define NR_EACH	    3u
#define LATE	    3 /* comes after the first pass */
#define SECOND	    1000000000ull
#define NOW	    (SAMPLE_REAL_NS + 7200 * SECOND)
#define CHILD_S	    30u

/* All of what is there; of the last second of the sample nothing is old enough. */
static const struct retain_limits by_age = { .requests_ns = 7195 * SECOND,
					     .window_ns = 2 * SECOND };
static const struct retain_limits by_size = { .requests_bytes = 1, .window_ns = 2 * SECOND };
static const struct retain_limits all_drop = { .requests_bytes = 1,
					       .summaries_ns = 3600 * SECOND,
					       .window_ns = 2 * SECOND };

struct rig {
	char dir[64];
	struct buf segments[NR_SEGMENTS];
	struct segment_name names[NR_SEGMENTS];
	size_t acknowledged[NR_SEGMENTS]; /* calls recorded by then, plus 1; 0: never */
};

static void rig_make(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	snprintf(r->dir, sizeof(r->dir), "%s", sample_folder());
	for (uint64_t i = 0; i < NR_SEGMENTS; i++) {
		struct sample s = { .host = i < 6 ? "db1" : "web1",
				    .boot_id = "b1",
				    .epoch = 5,
				    .sequence = i < 6 ? i : 0,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = i % 6 * SECOND,
				    .end_ns = (i % 6 + 1) * SECOND };
		struct request requests[NR_EACH];

		buf_init(&r->segments[i]);
		sample_requests(i + 1, s.begin_ns, s.end_ns - SECOND / 2, requests, NR_EACH);
		sample_segment(&s, requests, NR_EACH, &r->segments[i]);
		r->names[i] = (struct segment_name){ .epoch = 5, .sequence = s.sequence };
		snprintf(r->names[i].host, sizeof(r->names[i].host), "%s", s.host);
		snprintf(r->names[i].boot_id, sizeof(r->names[i].boot_id), "b1");
	}
}

static void rig_release(struct rig *r)
{
	for (size_t i = 0; i < NR_SEGMENTS; i++)
		buf_release(&r->segments[i]);
	sample_remove(r->dir);
}

static int put_one(struct rig *r, struct ingest *ingest, size_t i, struct ingest_result *result)
{
	return ingest_put(ingest, &r->names[i], r->segments[i].data, r->segments[i].len, result,
			  NULL);
}

/* All but the late one, or that alone, as serve takes them. */
static void take(struct rig *r, struct store *store, bool late)
{
	const struct call *calls;
	struct ingest_result result;
	struct ingest *ingest;

	if (ingest_new(&ingest, store))
		return;
	for (size_t i = 0; i < NR_SEGMENTS; i++)
		if ((i == LATE) == late && !put_one(r, ingest, i, &result))
			r->acknowledged[i] = calls_recorded(&calls) + 1;
	ingest_free(ingest);
}

/* What is counted in the store: there, summarized, dropped. */
struct counted {
	uint64_t nr_all, nr_summarized, nr_dropped, nr_missing, nr_devices_sum, high_mark, nr_taken;
};

static struct counted count(struct store *store)
{
	struct segment_name stream = { .host = "db1" };
	struct counted c = { 0 };
	struct inventory v;

	inventory_init(&v);
	if (inventory_collect(&v, store, NULL))
		c.nr_all = UINT64_MAX;
	for (size_t i = 0; i < v.nr_hosts; i++) {
		c.nr_all += v.hosts[i].nr_requests;
		c.nr_summarized += v.hosts[i].retained.nr_summarized;
		c.nr_dropped += v.hosts[i].retained.nr_dropped;
		c.nr_missing += v.hosts[i].nr_missing;
		c.nr_taken += v.hosts[i].nr_segments + v.hosts[i].retained.nr_segments;
		for (size_t k = 0; k < v.hosts[i].nr_devices; k++)
			c.nr_devices_sum += inventory_device_requests(&v.hosts[i].devices[k]);
	}
	inventory_release(&v);
	if (catalog_next_stream(store_catalog(store), &stream, NULL) == 1)
		c.high_mark = stream.sequence;
	return c;
}

static int pass(struct store *store, const struct retain_limits *limits)
{
	struct retain_counts counts = { 0 };
	struct err err = { 0 };
	int status = retain_pass(store, limits, NOW, NULL, &counts, &err);

	if (status && !err.line[0])
		tap_note("%d without a line", status);
	return status && !err.line[0] ? -ENOTSUP : status;
}

struct totals {
	uint64_t nr, nr_killed, nr_crashed, nr_stuck, nr_unlike, nr_again, nr_left, nr_silent;
};

/* Of a store in which nr_taken segments were acknowledged. */
static bool balances(struct store *store, uint64_t nr_taken)
{
	struct counted c = count(store);

	return c.nr_all == nr_taken * NR_EACH && c.nr_devices_sum == c.nr_all &&
	       c.nr_taken == nr_taken && c.nr_summarized + c.nr_dropped <= c.nr_all &&
	       c.high_mark == 5;
}

/* Whether `blkcast check` finds nothing. */
static bool is_sound(const char *dir)
{
	struct check_report r;
	bool sound;

	check_init(&r);
	sound = check_store(&r, dir, false, NULL) == 0 && r.nr_findings == 0;
	for (size_t i = 0; i < r.nr_findings; i++)
		tap_note("%s: %s", r.findings[i].path, r.findings[i].why);
	check_release(&r);
	return sound;
}

/*
 * The next start: counts are as they were, each is answered as it was and stored no second time,
 * and the work is done to its end. at: how many calls there were before the cut.
 */
static void judge(struct rig *r, const char *dir, size_t at, struct totals *t)
{
	uint64_t nr_taken = 0;
	struct ingest *ingest;
	struct store *store;

	t->nr++;
	for (size_t i = 0; i < NR_SEGMENTS; i++)
		nr_taken += r->acknowledged[i] && r->acknowledged[i] <= at;
	if (store_open(&store, dir, true, NULL)) {
		t->nr_stuck++;
		return;
	}
	/* One that was not acknowledged may be there all the same. */
	if (nr_taken >= NR_SEGMENTS - 1 && !balances(store, nr_taken) &&
	    !balances(store, nr_taken + 1))
		t->nr_unlike++;
	if (!ingest_new(&ingest, store)) {
		for (size_t i = 0; i < NR_SEGMENTS; i++) {
			struct segment_hash hash =
				segment_hash_of(r->segments[i].data, r->segments[i].len);
			struct ingest_result result = { .stored = true };
			int status = put_one(r, ingest, i, &result);
			bool promised = r->acknowledged[i] && r->acknowledged[i] <= at;

			t->nr_again += status || memcmp(&result.hash, &hash, sizeof(hash)) ||
				       (promised && result.stored);
		}
		ingest_free(ingest);
	}
	t->nr_unlike += !balances(store, NR_SEGMENTS);
	t->nr_stuck += pass(store, &all_drop) != 0;
	t->nr_unlike += !balances(store, NR_SEGMENTS);
	t->nr_unlike += count(store).nr_dropped != NR_SEGMENTS * NR_EACH;
	store_close(store);
	t->nr_left += !is_sound(dir);
}

static void report(const struct totals *t)
{
	ok_eq(t->nr_crashed, 0);
	ok_eq(t->nr_stuck, 0);
	ok_eq(t->nr_unlike, 0);
	ok_eq(t->nr_again, 0);
	ok_eq(t->nr_left, 0);
	ok_eq(t->nr_silent, 0);
	tap_note("%llu runs, %llu killed", (unsigned long long)t->nr,
		 (unsigned long long)t->nr_killed);
}

/* A store's life: by age, a late one merged into what is summarized, by size, and dropped. */
static void live(struct rig *r, struct store *store, uint64_t *nr_silent)
{
	static const struct retain_limits *const passes[] = { &by_age, &by_age, &by_size,
							      &all_drop };

	for (size_t i = 0; i < TAP_NR(passes); i++) {
		*nr_silent += pass(store, passes[i]) == -ENOTSUP;
		calls_pause();
		*nr_silent += !balances(store, NR_SEGMENTS - (i == 0));
		if (i == 0)
			take(r, store, true);
		calls_resume();
	}
}

static uint64_t run_one(void *ctx, const struct calls_plan *plan, uint64_t *nr_silent)
{
	struct rig *r = ctx;
	struct store *store;
	uint64_t met;

	if (store_open(&store, r->dir, true, NULL))
		_exit(9);
	calls_begin(plan);
	live(r, store, nr_silent);
	met = calls_end();
	store_close(store);
	return met;
}

static void make_store(struct rig *r)
{
	struct store *store;

	ok_int(store_open(&store, r->dir, true, NULL), 0);
	take(r, store, false);
	store_close(store);
}

static bool try_one(void *ctx, const struct calls_plan *plan)
{
	struct totals *t = ctx;
	struct point_end end;
	struct rig r;

	rig_make(&r);
	make_store(&r);
	end = point_in_child(plan, CHILD_S, run_one, &r);
	t->nr_killed += end.is_killed;
	t->nr_crashed += end.is_crashed;
	t->nr_silent += end.nr_wrong;
	if (end.nr_wrong)
		tap_note("mode %d, point %llu, error %d", plan->mode, (unsigned long long)plan->at,
			 plan->error);
	judge(&r, r.dir, SIZE_MAX, t);
	rig_release(&r);
	return end.is_reached;
}

static void killed_at_every_point(void)
{
	struct totals t = { 0 };

	points_of_death(5, try_one, &t);
	report(&t);
}

static void every_error_at_every_call(void)
{
	struct totals t = { 0 };

	points_of_error(113, try_one, &t);
	report(&t);
}

static void no_memory_at_every_allocation(void)
{
	struct totals t = { 0 };

	points_without_memory(83, try_one, &t);
	report(&t);
}

static void power_cuts(void)
{
	bool is_long = getenv("BLKCAST_ENDURANCE");
	struct totals t = { 0 };
	const struct call *calls;
	struct store *store;
	uint64_t nr_silent = 0;
	struct rig r;
	size_t nr;

	rig_make(&r);
	calls_record(r.dir);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	take(&r, store, false);
	live(&r, store, &nr_silent);
	store_close(store);
	nr = calls_recorded(&calls);
	calls_record(NULL);
	ok_eq(nr_silent, 0);
	ok(nr > 60);
	for (size_t i = 1; i <= nr; i += is_long ? 1 : 3)
		for (uint64_t seed = 0; seed < (is_long ? 40 : 3); seed++) {
			const char *dir = sample_folder();

			crash_state_make(calls, i, seed + (seed > 1 ? i : 0), dir);
			judge(&r, dir, i, &t);
			sample_remove(dir);
		}
	report(&t);
	rig_release(&r);
}

static void passes_do_what_they_say(void)
{
	struct store *store;
	struct counted c;
	uint64_t nr_silent = 0;
	struct rig r;

	rig_make(&r);
	make_store(&r);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_int(pass(store, &by_age), 0);
	c = count(store);
	/* The window that reaches beyond the limit waits until it is old as a whole. */
	ok_eq(c.nr_summarized, 4 * NR_EACH);
	ok_eq(c.nr_dropped, 0);
	ok_eq(c.nr_missing, 1);
	ok(is_sound(r.dir));
	take(&r, store, true);
	ok_eq(count(store).nr_summarized, 4 * NR_EACH);
	ok_int(pass(store, &by_age), 0);
	ok_eq(count(store).nr_summarized, 5 * NR_EACH);
	ok_int(pass(store, &by_size), 0);
	ok_eq(count(store).nr_summarized, NR_SEGMENTS * NR_EACH);
	ok(is_sound(r.dir));
	ok_int(pass(store, &all_drop), 0);
	c = count(store);
	ok_eq(c.nr_summarized, 0);
	ok_eq(c.nr_dropped, NR_SEGMENTS * NR_EACH);
	ok_eq(c.nr_missing, 0);
	store_close(store);
	ok(is_sound(r.dir));
	judge(&r, r.dir, SIZE_MAX, &(struct totals){ 0 });
	ok_eq(nr_silent, 0);
	rig_release(&r);
}

/* Two contents under one name cannot both be there, summarized or not. */
static void another_content_is_refused(void)
{
	struct request requests[NR_EACH];
	struct sample s = { .host = "db1",
			    .boot_id = "b1",
			    .epoch = 5,
			    .sequence = 1,
			    .real_offset_ns = SAMPLE_REAL_NS,
			    .begin_ns = SECOND,
			    .end_ns = 2 * SECOND };
	struct ingest_result result;
	struct ingest *ingest;
	struct store *store;
	struct err err = { 0 };
	char hash[SEGMENT_HASH_TEXT];
	struct buf other;
	struct rig r;

	rig_make(&r);
	make_store(&r);
	buf_init(&other);
	sample_requests(77, s.begin_ns, s.end_ns, requests, NR_EACH);
	sample_segment(&s, requests, NR_EACH, &other);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	ok_int(pass(store, &by_size), 0);
	ok_int(ingest_new(&ingest, store), 0);
	ok_int(ingest_put(ingest, NULL, other.data, other.len, &result, &err), -EEXIST);
	ok(strstr(err.line, "is summarized") != NULL);
	segment_hash_text(&(struct segment_hash){ { 0 } }, hash);
	ok_int(ingest_find(ingest, &r.names[1], hash, &result), 0);
	result.hash = segment_hash_of(r.segments[1].data, r.segments[1].len);
	segment_hash_text(&result.hash, hash);
	ok_int(ingest_find(ingest, &r.names[1], hash, &result), 1);
	ok_eq(ingest_counted(ingest).nr_repeated, 1);
	ingest_free(ingest);
	store_close(store);
	buf_release(&other);
	rig_release(&r);
}

static void damaged_stay(void)
{
	char path[SEGMENT_PATH_MAX], full[512];
	struct retain_counts counts = { 0 };
	struct err err = { 0 };
	struct store *store;
	struct rig r;

	rig_make(&r);
	make_store(&r);
	ok_int(store_open(&store, r.dir, true, NULL), 0);
	segment_name_path(&r.names[1], path);
	snprintf(full, sizeof(full), "%s/%s", r.dir, path);
	r.segments[1].data[60] ^= 1;
	sample_write(full, r.segments[1].data, r.segments[1].len);
	ok_int(retain_pass(store, &by_size, NOW, NULL, &counts, &err), 0);
	ok_eq(counts.nr_left_out, 1);
	ok_eq(counts.nr_segments, NR_SEGMENTS - 2);
	ok(!access(full, F_OK));
	store_close(store);
	rig_release(&r);
}

static const struct tap_test tests[] = {
	{ "requests go by age and by size, and profiles after them", passes_do_what_they_say },
	{ "another content of a summarized name is refused", another_content_is_refused },
	{ "a damaged segment stays where it is", damaged_stay },
	{ "a pass killed before and after each change loses and doubles nothing",
	  killed_at_every_point },
	{ "any error at any call leaves the counts as they were, and says so",
	  every_error_at_every_call },
	{ "so does want of memory at any allocation", no_memory_at_every_allocation },
	{ "a power cut after any call loses and doubles nothing", power_cuts },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
