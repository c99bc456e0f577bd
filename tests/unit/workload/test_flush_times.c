/* SPDX-License-Identifier: Apache-2.0 */
/* Response times of flushes: from requests to the window, the profile and its JSON form. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_merge.h"
#include "tests/support/tap.h"
#include "workload/window.h"

#define SECOND	    1000000000ull
#define MILLISECOND 1000000ull
#define NR	    2000

static const struct window_config defaults;

/* Flush i waits for 1 ms in the queue and takes i + 1 ms in the device; a read of 4 KiB follows. */
static struct request *flushes_and_reads(void)
{
	struct request *r = calloc(2 * NR, sizeof(*r));

	if (!r)
		abort();
	for (size_t i = 0; i < 2 * NR; i++) {
		r[i].operation = i % 2 ? OPERATION_READ : OPERATION_FLUSH;
		r[i].bytes = i % 2 ? 4096 : 0;
		r[i].sector = i % 2 ? i * 8 : 0;
		r[i].arrival_ns = SECOND + i * MILLISECOND;
		r[i].dispatch_ns = r[i].arrival_ns + MILLISECOND;
		r[i].completion_ns = r[i].dispatch_ns + (i / 2 + 1) * MILLISECOND;
	}
	return r;
}

static struct profile profile_of(const struct request *r, size_t nr)
{
	struct window *w = NULL;
	struct profile p;

	profile_init(&p);
	ok_int(window_new(&w, &defaults, SECOND), 0);
	ok_int(window_add_many(w, r, nr), 0);
	ok_int(window_profile(w, 10 * SECOND, &p), 0);
	window_free(w);
	p.begin_s = 1;
	p.end_s = 10;
	p.quality.coverage_ratio = 1;
	return p;
}

static char *text_of(const struct profile *p)
{
	struct buf text = { 0 };

	if (profile_to_json(p, PROFILE_JSON_LINE, &text) || buf_put_u8(&text, 0))
		abort();
	return (char *)text.data;
}

static struct profile read_of(const char *text)
{
	struct err err = { 0 };
	struct profile p;

	profile_init(&p);
	if (!ok_int(profile_from_json(text, strlen(text), &p, &err), 0))
		tap_note("%s", err.line);
	return p;
}

static bool same_stages(const struct profile *a, const struct profile *b)
{
	char *x = text_of(a), *y = text_of(b);
	json_t *left = json_loads(x, 0, NULL), *right = json_loads(y, 0, NULL);
	json_t *times = json_object_get(json_object_get(left, "response_time"), "flush");
	bool same = times &&
		    json_equal(times,
			       json_object_get(json_object_get(right, "response_time"), "flush"));

	json_decref(left);
	json_decref(right);
	free(x);
	free(y);
	return same;
}

/* The check of the answers that are known: mean (NR + 1) / 2 ms, the 99th percentile 0.99 NR ms. */
static void check_known(const struct profile *p)
{
	const struct histogram *total = &p->flush.stage[STAGE_TOTAL];

	ok_eq(total->nr, NR);
	ok_near(profile_mean_s(&p->flush, STAGE_QUEUE), 0.001, 1e-15);
	ok_near(profile_mean_s(&p->flush, STAGE_DEVICE), (NR + 1) / 2.0 / 1e3, 1e-12);
	ok_near(profile_mean_s(&p->flush, STAGE_TOTAL), (NR + 3) / 2.0 / 1e3, 1e-12);
	/* The bucket's width. */
	ok_ratio(histogram_quantile_s(total, 0.99), (0.99 * NR + 1) / 1e3, 0.022);
	ok_eq(total->max_ns, (NR + 1) * MILLISECOND);
	for (int i = 0; i < NR_SIZE_CLASSES; i++)
		ok_eq(p->flush.size_class[i].nr, 0);
	ok_eq(p->read.response.stage[STAGE_TOTAL].nr, NR);
	ok_eq(p->write.response.stage[STAGE_TOTAL].nr, 0);
}

static void window_knows_them(void)
{
	struct request *r = flushes_and_reads();
	struct profile p = profile_of(r, 2 * NR);
	char *text = text_of(&p);
	struct profile again = read_of(text), copy = { 0 };

	check_known(&p);
	check_known(&again);
	ok(same_stages(&p, &again));
	ok_int(profile_copy(&copy, &p), 0);
	ok(same_stages(&p, &copy));
	free(text);
	free(r);
	profile_release(&p);
	profile_release(&again);
	profile_release(&copy);
}

static void merged_is_the_whole(void)
{
	struct request *r = flushes_and_reads();
	struct profile whole = profile_of(r, 2 * NR), a = profile_of(r, 500);
	struct profile b = profile_of(r + 500, 2 * NR - 500);

	ok_int(profile_merge(&a, &b), 0);
	check_known(&a);
	ok(same_stages(&a, &whole));
	profile_undivide(&a);
	ok_eq(a.flush.stage[STAGE_TOTAL].nr, 0);
	free(r);
	profile_release(&whole);
	profile_release(&a);
	profile_release(&b);
}

/* A profile written before there was the key: what it does not tell is null, not empty. */
static void missing_is_unknown(void)
{
	struct request *r = flushes_and_reads();
	struct profile p = profile_of(r, 2 * NR), old;
	char *text = text_of(&p);
	json_t *root = json_loads(text, 0, NULL), *times;

	free(text);
	json_object_del(json_object_get(root, "response_time"), "flush");
	text = json_dumps(root, JSON_REAL_PRECISION(17));
	json_decref(root);
	old = read_of(text);
	free(text);
	ok_eq(old.requests[OPERATION_FLUSH], NR);
	ok_eq(old.flush.stage[STAGE_TOTAL].nr, 0);
	ok(isnan(profile_mean_s(&old.flush, STAGE_TOTAL)));
	text = text_of(&old);
	root = json_loads(text, 0, NULL);
	times = json_object_get(json_object_get(root, "response_time"), "flush");
	ok(json_is_null(json_object_get(json_object_get(times, "total"), "count")));
	ok(json_is_null(json_object_get(json_object_get(times, "total"), "mean_s")));
	/* Merged with one that has them, what is known stays. */
	ok_int(profile_merge(&old, &p), 0);
	ok_eq(old.requests[OPERATION_FLUSH], 2 * NR);
	ok(same_stages(&old, &p));
	json_decref(root);
	free(text);
	free(r);
	profile_release(&p);
	profile_release(&old);
}

/* What counters tell is a mean alone. */
static void counted_mean_comes_back(void)
{
	struct profile p, again;
	char *text;

	profile_init(&p);
	p.begin_s = 1;
	p.end_s = 2;
	p.source = SOURCE_DISKSTATS;
	p.requests[OPERATION_FLUSH] = 4;
	p.flush.total_mean_s = 0.0125;
	text = text_of(&p);
	again = read_of(text);
	ok_near(profile_mean_s(&again.flush, STAGE_TOTAL), 0.0125, 0);
	free(text);
	profile_release(&p);
	profile_release(&again);
}

/*
 * Thread 1 writes, flushes for 4 ms and writes 5 ms after the flush began; thread 2 goes on writing
 * during its flush. Every fourth write is forced, every fifth flushes before.
 */
static size_t commits(struct request *r, size_t nr)
{
	size_t n = 0;

	for (size_t i = 0; n + 4 <= nr; i++) {
		uint64_t at = SECOND + i * 10 * MILLISECOND;

		for (uint32_t tid = 1; tid <= 2; tid++) {
			r[n] = (struct request){ .operation = OPERATION_FLUSH, .tid = tid };
			r[n].arrival_ns = r[n].dispatch_ns = at;
			r[n++].completion_ns = at + 4 * MILLISECOND;
		}
		for (uint32_t tid = 2; tid >= 1; tid--) {
			r[n] = (struct request){ .operation = OPERATION_WRITE, .tid = tid };
			r[n].bytes = 4096;
			r[n].flags = (i % 4 ? 0 : REQUEST_FUA) | (i % 5 ? 0 : REQUEST_PREFLUSH);
			r[n].arrival_ns = at + (tid == 2 ? 1 : 5) * MILLISECOND;
			r[n].dispatch_ns = r[n].arrival_ns;
			r[n].completion_ns = r[n].arrival_ns + MILLISECOND;
			n++;
		}
	}
	return n;
}

static void who_waits_is_counted(void)
{
	struct request r[400];
	size_t nr = commits(r, 400);
	struct profile p = profile_of(r, nr), again;
	char *text = text_of(&p);

	ok_eq(p.requests[OPERATION_FLUSH], 200);
	ok_eq(p.durability.awaited_flushes, 100);
	ok_eq(p.durability.forced_writes, 50);
	ok_eq(p.durability.flushing_writes, 40);
	again = read_of(text);
	ok_eq(again.durability.awaited_flushes, 100);
	ok(!(again.unknown & UNKNOWN_DURABILITY));
	free(text);
	profile_release(&p);
	profile_release(&again);
}

/* Two periods are the whole, wherever the border lies: between a flush and its write, too. */
static void borders_lose_nobody(void)
{
	struct request r[400];
	size_t nr = commits(r, 400);
	bool same = true;

	for (size_t at = 1; at < nr; at++) {
		struct window *w = NULL;
		struct profile first, second;

		profile_init(&first);
		profile_init(&second);
		if (window_new(&w, &defaults, SECOND) || window_add_many(w, r, at) ||
		    window_profile(w, r[at].arrival_ns + 1, &first))
			abort();
		window_clear(w, r[at].arrival_ns + 1);
		if (window_add_many(w, r + at, nr - at) || window_profile(w, 10 * SECOND, &second))
			abort();
		same &= first.durability.awaited_flushes + second.durability.awaited_flushes == 100;
		same &= first.durability.forced_writes + second.durability.forced_writes == 50;
		profile_release(&first);
		profile_release(&second);
		window_free(w);
	}
	ok(same);
}

static void old_profiles_do_not_tell(void)
{
	struct request r[400];
	size_t nr = commits(r, 400);
	struct profile p = profile_of(r, nr), old;
	char *text = text_of(&p);
	json_t *root = json_loads(text, 0, NULL);

	free(text);
	json_object_del(root, "durability");
	text = json_dumps(root, JSON_REAL_PRECISION(17));
	json_decref(root);
	old = read_of(text);
	free(text);
	ok(old.unknown & UNKNOWN_DURABILITY);
	text = text_of(&old);
	root = json_loads(text, 0, NULL);
	ok(json_is_null(json_object_get(json_object_get(root, "durability"), "forced_writes")));
	json_decref(root);
	free(text);
	profile_release(&p);
	profile_release(&old);
}

static const struct tap_test tests[] = {
	{ "flushes that their thread waits for, and forced writes, are counted",
	  who_waits_is_counted },
	{ "no border between windows loses a flush that is awaited", borders_lose_nobody },
	{ "a profile without the counts is read as not telling", old_profiles_do_not_tell },
	{ "a window with flushes knows how long they took, and so does its JSON",
	  window_knows_them },
	{ "two profiles with flushes merged are the whole", merged_is_the_whole },
	{ "a profile without times of flushes is read as unknown", missing_is_unknown },
	{ "a mean that counters tell of flushes comes back", counted_mean_comes_back },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
