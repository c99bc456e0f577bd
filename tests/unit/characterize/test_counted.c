/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>

#include "analyzer/characterize/counted.h"
#include "base/memory/buf.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define SECOND 1000000000ull
#define REAL_S (SAMPLE_REAL_NS / SECOND)
#define MOST   16

struct found {
	struct profile all[MOST];
	size_t nr;
};

static int found_keep(void *ctx, struct profile *p)
{
	struct found *f = ctx;

	if (f->nr == MOST)
		return -1;
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

/* 100 reads of 4 KiB on 8:0 between two times of the host's monotonic clock. */
static void profile_of(struct profile *p, double begin_s, double end_s)
{
	profile_init(p);
	p->source = SOURCE_DISKSTATS;
	snprintf(p->host, sizeof(p->host), "h");
	snprintf(p->device, sizeof(p->device), "8:0");
	snprintf(p->device_name, sizeof(p->device_name), "sda");
	p->begin_s = (double)REAL_S + begin_s;
	p->end_s = (double)REAL_S + end_s;
	p->requests[OPERATION_READ] = 100;
	p->bytes[OPERATION_READ] = 409600;
	p->read.size_mean_bytes = 4096;
	p->open.rate_per_s = 100 / (end_s - begin_s);
	p->closed.in_flight_mean = 2;
	p->quality.coverage_ratio = 1;
}

/* Stores a segment of [begin_s, end_s), with a profile of its second second if it is busy. */
static void segment_store(const char *dir, uint64_t sequence, uint64_t begin_s, uint64_t end_s,
			  uint8_t source, bool is_busy)
{
	struct sample one = { .host = "h",
			      .boot_id = "b",
			      .epoch = source,
			      .sequence = sequence,
			      .real_offset_ns = SAMPLE_REAL_NS,
			      .begin_ns = begin_s * SECOND,
			      .end_ns = end_s * SECOND,
			      .source = source };
	struct buf json;
	struct profile p;

	buf_init(&json);
	profile_of(&p, (double)begin_s + 1.4, (double)begin_s + 2.4);
	ok_int(profile_to_json(&p, PROFILE_JSON_LINE, &json), 0);
	buf_put(&json, "", 1);
	one.profile = is_busy ? (const char *)json.data : NULL;
	sample_store(dir, &one, NULL, 0);
	profile_release(&p);
	buf_release(&json);
}

/* summary: a profile in the place of segments, or NULL */
static void found_read(const char *dir, struct selection *sel, uint64_t window_s,
		       const struct profile *summary, struct found *f)
{
	struct scan_hooks hooks = { .profile = counted_take };
	struct scan_request batch[SCAN_BATCH];
	struct counted *c = NULL;
	struct scan *scan = NULL;
	struct err err = { 0 };

	sel->dir = dir;
	ok_int(counted_new(&c, sel, window_s * SECOND), 0);
	hooks.ctx = c;
	if (ok_int(selection_open_store(sel, &scan, &hooks, &err), 0)) {
		while (scan_next(scan, batch, SCAN_BATCH) > 0)
			;
		ok_int(summary ? counted_add(c, summary, true) : 0, 0);
		ok_int(counted_emit(c, scan, found_keep, f), 0);
	}
	scan_close(scan);
	counted_free(c);
	selection_release(sel);
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-5 * fabs(b);
}

static void ok_period(const struct profile *p, double begin_s, double end_s, double watched_s,
		      unsigned int nr_profiles)
{
	ok(is_near(p->begin_s - (double)REAL_S + 1, begin_s + 1));
	ok(is_near(p->end_s - (double)REAL_S + 1, end_s + 1));
	ok(is_near(p->open.rate_per_s, 100 * nr_profiles / watched_s));
	ok(is_near(p->open.interarrival_mean_s, watched_s / (100 * nr_profiles)));
	ok(is_near(p->closed.in_flight_mean, 2 * nr_profiles / watched_s));
	ok(is_near(p->quality.coverage_ratio, watched_s / (end_s - begin_s)));
}

static void idle_time_counts(void)
{
	const char *dir = sample_folder();
	struct selection sel = { .dir = NULL };
	struct found f = { .nr = 0 };

	segment_store(dir, 0, 10, 15, SOURCE_DISKSTATS, false);
	segment_store(dir, 1, 15, 20, SOURCE_DISKSTATS, true);
	segment_store(dir, 2, 20, 25, SOURCE_DISKSTATS, false);
	found_read(dir, &sel, 0, NULL, &f);
	if (ok_eq(f.nr, 1))
		ok_period(&f.all[0], 10, 25, 15, 1);
	found_release(&f);
	sample_remove(dir);
}

static void a_selection_and_periods_cut_it(void)
{
	const char *dir = sample_folder();
	struct selection sel = { .begin_real_ns = SAMPLE_REAL_NS + 12 * SECOND,
				 .end_real_ns = SAMPLE_REAL_NS + 21 * SECOND };
	struct found f = { .nr = 0 };

	segment_store(dir, 0, 10, 15, SOURCE_DISKSTATS, true);
	segment_store(dir, 1, 15, 20, SOURCE_DISKSTATS, true);
	segment_store(dir, 2, 20, 25, SOURCE_DISKSTATS, false);
	found_read(dir, &sel, 0, NULL, &f);
	if (ok_eq(f.nr, 1))
		ok_period(&f.all[0], 11.4, 21, 9.6, 2);
	found_release(&f);
	sel = (struct selection){ .dir = NULL };
	found_read(dir, &sel, 4, NULL, &f);
	if (ok_eq(f.nr, 2)) {
		ok_period(&f.all[0], 10, 12.4, 2.4, 1);
		ok_period(&f.all[1], 16, 20, 4, 1);
	}
	found_release(&f);
	found_read(dir, &sel, 1, NULL, &f);
	/* A window of the agent that begins within a period is as long as that. */
	if (ok_eq(f.nr, 2))
		ok_period(&f.all[1], 16.4, 17.4, 1, 1);
	found_release(&f);
	sample_remove(dir);
}

static void unwatched_time_does_not(void)
{
	const char *dir = sample_folder();
	struct selection sel = { .dir = NULL };
	struct found f = { .nr = 0 };
	struct profile summary;

	segment_store(dir, 0, 10, 15, SOURCE_DISKSTATS, true);
	segment_store(dir, 1, 20, 25, SOURCE_DISKSTATS, false);
	/* Another run of the agent saw requests, of which a profile of its own tells. */
	segment_store(dir, 0, 40, 60, SOURCE_BPF, false);
	found_read(dir, &sel, 0, NULL, &f);
	if (ok_eq(f.nr, 1))
		ok_period(&f.all[0], 10, 25, 10, 1);
	found_release(&f);
	profile_of(&summary, 2, 8);
	found_read(dir, &sel, 0, &summary, &f);
	if (ok_eq(f.nr, 1)) {
		ok_eq(f.all[0].requests[OPERATION_READ], 200);
		ok(is_near(f.all[0].open.rate_per_s, 200 / 16.0));
		ok(is_near(f.all[0].quality.coverage_ratio, 16.0 / 23));
	}
	profile_release(&summary);
	found_release(&f);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "idle time before and after counters moved counts", idle_time_counts },
	{ "the time is that of the selection and of the period", a_selection_and_periods_cut_it },
	{ "time in which counters were not read does not count", unwatched_time_does_not },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
