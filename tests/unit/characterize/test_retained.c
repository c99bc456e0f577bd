/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/replay.h"
#include "analyzer/characterize/retained.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define SECOND 1000000000ull
#define NR     300 /* requests of a second */
#define NR_S   8
#define FIRST  (8u << 20)      /* idle in seconds 3 and 4 */
#define OTHER  (8u << 20 | 16) /* busy in second 1 alone, whose requests are kept back */
#define MOST   64

static const bool is_kept_back[NR_S] = { false, true, true, true, true, false, true, false };

struct found {
	struct profile all[MOST];
	size_t nr;
};

static int found_keep(void *ctx, struct profile *p)
{
	struct found *f = ctx;
	uint64_t nr = 0;

	for (int op = 0; op < NR_OPERATIONS; op++)
		nr += p->requests[op];
	if (!nr || f->nr == MOST)
		return 0;
	f->all[f->nr++] = *p;
	profile_init(p);
	return 0;
}

static void found_release(struct found *f)
{
	for (size_t i = 0; i < f->nr; i++)
		profile_release(&f->all[i]);
	f->nr = 0;
}

static struct sample sample_of(uint64_t s)
{
	return (struct sample){ .host = "h",
				.boot_id = "b",
				.epoch = 1,
				.sequence = s,
				.real_offset_ns = SAMPLE_REAL_NS,
				.begin_ns = s * SECOND,
				.end_ns = (s + 1) * SECOND };
}

/* Requests that begin and end in their second. Returns how many. */
static size_t requests_of(uint64_t s, struct request *r)
{
	size_t nr = 0;

	if (s == 3 || s == 4)
		return 0;
	sample_requests(s, s * SECOND, (s + 1) * SECOND, r, NR);
	for (size_t i = 0; i < NR; i++) {
		r[nr] = r[i];
		r[nr].device = s == 1 && i % 3 == 0 ? OTHER : FIRST;
		if (r[nr].completion_ns < (s + 1) * SECOND)
			nr++;
	}
	return nr;
}

/* Reads the folder with the profiles of what was kept back. Returns how many of these requests. */
static uint64_t found_read(const char *dir, uint64_t window_ns, struct found *f)
{
	struct selection sel = { .dir = dir };
	struct replay_config config = { .window_ns = window_ns, .profile = retained_join };
	struct scan_hooks hooks = { .profile = retained_take_window };
	struct retained *r = NULL;
	struct scan *scan = NULL;
	struct err err = { 0 };
	uint64_t nr = 0;

	if (ok_int(retained_new(&r, &sel, window_ns, NULL, found_keep, f), 0)) {
		config.ctx = hooks.ctx = r;
		ok_int(selection_open_store(&sel, &scan, &hooks, &err), 0);
		retained_set_scan(r, scan);
		ok_int(replay(scan, &config, &err), 0);
		ok_int(retained_emit(r), 0);
		nr = retained_nr_kept_back(r);
	}
	scan_close(scan);
	retained_free(r);
	selection_release(&sel);
	return nr;
}

static void whole_store(const char *dir)
{
	struct request r[NR];

	for (uint64_t s = 0; s < NR_S; s++) {
		struct sample one = sample_of(s);

		sample_store(dir, &one, r, requests_of(s, r));
	}
}

/* The same, with profiles of a second in the place of the requests that were kept back. */
static void thin_store(const char *dir, const struct found *seconds)
{
	for (uint64_t s = 0; s < NR_S; s++) {
		const char *profiles[4];
		struct sample one = sample_of(s);
		struct ledger ledger = { 0 };
		struct buf json[4];
		struct request r[NR];
		size_t nr = requests_of(s, r);

		for (size_t i = 0; i < seconds->nr && is_kept_back[s]; i++) {
			struct buf *b = &json[one.nr_profiles];

			if (fabs(seconds->all[i].begin_s - (SAMPLE_REAL_NS / 1e9 + (double)s)) >
			    0.1)
				continue;
			buf_init(b);
			profile_to_json(&seconds->all[i], PROFILE_JSON_LINE, b);
			buf_put_u8(b, 0);
			profiles[one.nr_profiles++] = (const char *)b->data;
		}
		for (size_t i = 0; i < nr && is_kept_back[s]; i++)
			ledger_add(&ledger,
				   &(struct loss){ LOSS_KEPT_BACK, true, 1,
						   one.begin_ns + SAMPLE_REAL_NS,
						   one.end_ns + SAMPLE_REAL_NS, r[i].device });
		one.profiles = profiles;
		one.ledger = &ledger;
		sample_store(dir, &one, r, is_kept_back[s] ? 0 : nr);
		for (size_t i = 0; i < one.nr_profiles; i++)
			buf_release(&json[i]);
		ledger_release(&ledger);
	}
}

static void same(const struct profile *a, const struct profile *b)
{
	const struct histogram *x = &a->read.response.stage[STAGE_TOTAL];
	const struct histogram *y = &b->read.response.stage[STAGE_TOTAL];

	ok_str(a->device, b->device);
	for (int op = 0; op < NR_OPERATIONS; op++)
		ok(a->requests[op] == b->requests[op] && a->bytes[op] == b->bytes[op]);
	ok_ratio(a->open.rate_per_s, b->open.rate_per_s, 1e-6);
	ok_ratio(profile_rate_s(a), profile_rate_s(b), 1e-6);
	ok_near(a->begin_s, b->begin_s, 1e-3);
	ok_near(a->end_s, b->end_s, 1e-3);
	ok_near(a->quality.coverage_ratio, b->quality.coverage_ratio, 1e-6);
	ok(x->nr == y->nr && x->sum_ns == y->sum_ns && x->max_ns == y->max_ns);
}

static void what_was_kept_back_is_in_counts_and_rates(void)
{
	static struct found seconds, whole, thin;
	const char *dir = sample_folder();
	uint64_t nr = 0;
	struct request r[NR];

	whole_store(dir);
	ok_eq(found_read(dir, SECOND, &seconds), 0);
	ok_eq(found_read(dir, 0, &whole), 0);
	sample_remove(dir);
	dir = sample_folder();
	thin_store(dir, &seconds);
	for (uint64_t s = 0; s < NR_S; s++)
		nr += is_kept_back[s] ? requests_of(s, r) : 0;
	ok_eq(found_read(dir, 0, &thin), nr);
	if (ok_eq(thin.nr, 2) && ok_eq(whole.nr, 2))
		for (size_t i = 0; i < 2; i++) {
			same(&thin.all[i], &whole.all[i]);
			ok(strstr(thin.all[i].source_detail, "kept_back") != NULL);
			ok(strstr(thin.all[i].quality.why, "there are profiles alone") != NULL);
			ok(!whole.all[i].source_detail ||
			   !strstr(whole.all[i].source_detail, "kept_back"));
		}
	found_release(&thin);
	found_release(&whole);

	/* The same in periods of two seconds. */
	found_read(dir, 2 * SECOND, &thin);
	sample_remove(dir);
	dir = sample_folder();
	whole_store(dir);
	found_read(dir, 2 * SECOND, &whole);
	if (ok_eq(thin.nr, whole.nr))
		for (size_t i = 0; i < thin.nr; i++) {
			ok_near(thin.all[i].begin_s, whole.all[i].begin_s, 1e-3);
			ok_eq(thin.all[i].requests[OPERATION_READ],
			      whole.all[i].requests[OPERATION_READ]);
			ok_ratio(thin.all[i].open.rate_per_s, whole.all[i].open.rate_per_s, 1e-6);
		}
	found_release(&thin);
	found_release(&whole);
	found_release(&seconds);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "what was kept back is in counts and rates, as if it had been sent",
	  what_was_kept_back_is_in_counts_and_rates },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
