/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a store is due, by age and by size, held against what can be told of it by hand: twelve
 * segments of two seconds each, of two hosts in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/keep/retain_plan.h"
#include "analyzer/store/folder/store_aside.h"
#include "analyzer/store/scan/inventory.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR	 12
#define NR_EACH	 20 /* requests of a segment, and one more of each later one: no two are as long */
#define SECOND	 1000000000ull
#define AT(s)	 (SAMPLE_REAL_NS + (uint64_t)(s)*SECOND)
#define NOW	 AT(NR)
#define ALL_PAST (3600 * SECOND)

static struct rig {
	char dir[64];
	struct store *store;
	uint64_t bytes[NR], total;
} rig;

/* Files were changed a second apart, whatever the file system's clock can tell. */
static void received_in_order(void)
{
	for (uint64_t i = 0; i < NR; i++) {
		struct timespec at[2] = { { .tv_sec = (time_t)(AT(i) / SECOND) },
					  { .tv_sec = (time_t)(AT(i) / SECOND) } };
		struct segment_name n = { .host = { i % 2 ? 'b' : 'a' },
					  .boot_id = "boot",
					  .epoch = 5,
					  .sequence = i / 2 };
		char path[SEGMENT_PATH_MAX], full[512];

		segment_name_path(&n, path);
		snprintf(full, sizeof(full), "%s/%s", rig.dir, path);
		ok_int(utimensat(AT_FDCWD, full, at, 0), 0);
	}
}

static void rig_make(void)
{
	memset(&rig, 0, sizeof(rig));
	snprintf(rig.dir, sizeof(rig.dir), "%s", sample_folder());
	for (uint64_t i = 0; i < NR; i++) {
		struct sample s = { .host = i % 2 ? "b" : "a",
				    .boot_id = "boot",
				    .epoch = 5,
				    .sequence = i / 2,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = i * SECOND,
				    .end_ns = (i + 2) * SECOND };
		struct request r[NR_EACH + NR];
		struct buf data = { 0 };

		sample_requests(i + 1, s.begin_ns, s.end_ns - SECOND / 2, r, NR_EACH + i);
		sample_segment(&s, r, NR_EACH + i, &data);
		sample_store(rig.dir, &s, r, NR_EACH + i);
		rig.bytes[i] = data.len;
		rig.total += data.len;
		buf_release(&data);
	}
	received_in_order();
	ok_int(store_open(&rig.store, rig.dir, true, NULL), 0);
	ok_int(store_sync(rig.store, NULL), 0);
}

static void rig_release(void)
{
	store_close(rig.store);
	sample_remove(rig.dir);
}

/* How many are due, and the groups they come in. */
struct due {
	uint64_t nr, nr_groups, nr_summaries; /* and summaries whose profiles are */
	uint64_t first_begin_ns, last_end_ns;
};

static struct due look(const struct retain_limits *limits, uint64_t now)
{
	struct due due = { .first_begin_ns = UINT64_MAX };
	struct retain_plan p;

	ok_int(retain_plan_init(&p, rig.store, limits, now, NULL), 0);
	for (size_t i = 0; i < p.nr_summaries; i++)
		due.nr_summaries += retain_plan_drops(&p, &p.summaries[i]);
	while (retain_plan_next(&p, NULL) > 0) {
		due.nr += p.nr_group;
		due.nr_groups++;
		for (size_t i = 1; i < p.nr_group; i++)
			ok(segment_name_same_stream(&p.group[0], &p.group[i]));
		if (p.group_begin_real_ns < due.first_begin_ns)
			due.first_begin_ns = p.group_begin_real_ns;
		if (p.group_end_real_ns > due.last_end_ns)
			due.last_end_ns = p.group_end_real_ns;
	}
	retain_plan_release(&p);
	return due;
}

static void by_age_whole_windows_are_due(void)
{
	struct retain_limits limits = { .requests_ns = 4 * SECOND, .window_ns = 2 * SECOND };
	struct due due;

	rig_make();
	due = look(&limits, NOW);
	ok_eq(due.nr, NR - 4);
	ok_eq(due.nr_groups, NR - 4); /* one of each host in a window of two seconds */
	ok_eq(due.first_begin_ns, AT(0));
	ok_eq(due.last_end_ns, AT(NR - 3));
	due = look(&limits, NOW - 1); /* the last window is not past by a nanosecond */
	ok_eq(due.nr, NR - 6);
	ok_eq(due.last_end_ns, AT(NR - 5));
	due = look(&limits, NOW + SECOND);
	ok_eq(due.nr, NR - 4);
	limits.window_ns = 4 * SECOND;
	due = look(&limits, NOW);
	ok_eq(due.nr, NR - 4);
	ok_eq(due.nr_groups, (NR - 4) / 2);
	limits.requests_ns = ALL_PAST * 24 * 365 * 100; /* before there was a time */
	ok_eq(look(&limits, NOW).nr, 0);
	ok_eq(look(&(struct retain_limits){ 0 }, NOW).nr, 0);
	rig_release();
}

/* Bytes of the summaries that have profiles, from this second on. */
static uint64_t summaries_from(int second, uint64_t *nr)
{
	const struct retain_limits none = { 0 };
	struct retain_plan p;
	uint64_t bytes = 0;

	*nr = 0;
	ok_int(retain_plan_init(&p, rig.store, &none, NOW, NULL), 0);
	for (size_t i = 0; i < p.nr_summaries; i++) {
		if (p.summaries[i].begin_real_ns < AT(second) || !p.summaries[i].has_profiles)
			continue;
		bytes += p.summaries[i].file_bytes;
		++*nr;
	}
	retain_plan_release(&p);
	return bytes;
}

/* Holds the inventory against itself before: how much of the time of host a was watched. */
static void same_is_watched(size_t nr_parts, uint64_t watched_ns)
{
	struct inventory v;

	inventory_init(&v);
	ok_int(store_sync(rig.store, NULL), 0);
	ok_int(inventory_collect(&v, rig.store, NULL), 0);
	ok_eq(v.hosts[0].nr_covered, nr_parts);
	ok_eq(inventory_covered_ns(&v.hosts[0]), watched_ns);
	inventory_release(&v);
}

/*
 * The third segment of host a is missing: one summary of the others would say that its time was
 * watched. Two seconds of twelve are not, until the segment comes.
 */
static void a_gap_divides_a_window(void)
{
	const struct retain_limits limits = { .requests_ns = 1, .window_ns = 3600 * SECOND };
	const struct segment_name missing = {
		.host = "a", .boot_id = "boot", .epoch = 5, .sequence = 2
	};
	struct retain_counts counts = { 0 };
	char path[SEGMENT_PATH_MAX];
	struct due due;
	uint64_t nr;

	rig_make();
	segment_name_path(&missing, path);
	ok_int(renameat(store_dir_fd(rig.store), path, store_dir_fd(rig.store), "late"), 0);
	same_is_watched(2, (NR - 2) * SECOND);
	due = look(&limits, NOW + 7200 * SECOND);
	ok_eq(due.nr, NR - 1);
	ok_eq(due.nr_groups, 3);
	ok_int(retain_pass(rig.store, &limits, NOW + 7200 * SECOND, NULL, &counts, NULL), 0);
	ok_eq(counts.nr_segments, NR - 1);
	same_is_watched(2, (NR - 2) * SECOND);
	ok_int(renameat(store_dir_fd(rig.store), "late", store_dir_fd(rig.store), path), 0);
	same_is_watched(1, NR * SECOND);
	ok_int(retain_pass(rig.store, &limits, NOW + 7200 * SECOND, NULL, &counts, NULL), 0);
	same_is_watched(1, NR * SECOND);
	summaries_from(0, &nr);
	ok_eq(nr, 2); /* one of each host */
	rig_release();
}

/* How many segments of each host stay within its share, the latest of them first. */
static uint64_t beyond_share(uint64_t host, uint64_t share)
{
	uint64_t kept = 0;

	for (uint64_t i = NR - 2 + host;; i -= 2) {
		kept += rig.bytes[i];
		if (kept > share)
			return i / 2 + 1;
		if (i < 2)
			return 0;
	}
}

static void by_size_the_oldest_are_due(void)
{
	struct retain_limits limits = { .window_ns = SECOND };

	rig_make();
	for (limits.requests_bytes = 2; limits.requests_bytes < rig.total;
	     limits.requests_bytes += 97) {
		uint64_t share = limits.requests_bytes / 2, of_a = 0;

		for (uint64_t i = 0; i < NR; i += 2)
			of_a += rig.bytes[i];
		/* Segments of a are shorter: what it does not use is left to b. */
		if (of_a <= share)
			share = limits.requests_bytes - of_a;
		ok_eq(look(&limits, NOW).nr,
		      (of_a <= share ? 0 : beyond_share(0, share)) + beyond_share(1, share));
	}
	limits.requests_bytes = rig.total;
	ok_eq(look(&limits, NOW).nr, 0);
	rig_release();
}

/*
 * A guest whose clock says 2100 and which fills the store loses its own requests, and nobody
 * else's.
 */
static void nobody_is_pushed_out_by_anothers_clock(void)
{
	struct retain_limits limits = { .window_ns = SECOND };
	struct share_item const later[] = { { AT(1), 40 }, { AT(2), 40 } };
	struct retain_share s = { NULL };

	for (uint64_t i = 0; i < 100; i++)
		ok_int(retain_share_add(&s, "evil", 4102444800000000000ull + i, 1000000), 0);
	for (size_t i = 0; i < TAP_NR(later); i++)
		ok_int(retain_share_add(&s, "honest", later[i].at_ns, later[i].bytes), 0);
	retain_share_limit(&s, 5000080);
	ok_eq(retain_share_until(&s, "honest"), 0);
	ok_eq(retain_share_until(&s, "evil"), 4102444800000000000ull + 94);
	ok_eq(retain_share_until(&s, "other"), 0);
	retain_share_limit(&s, 1);
	ok_eq(retain_share_until(&s, "honest"), AT(2));
	retain_share_release(&s);
	/* In a store: what claims to be of 2100 is as old as its receipt. */
	rig_make();
	limits.requests_ns = SECOND;
	ok_eq(look(&limits, 4102444800000000000ull).nr, NR);
	rig_release();
}

static int pass(const struct retain_limits *limits, struct retain_counts *counts)
{
	*counts = (struct retain_counts){ 0 };
	return retain_pass(rig.store, limits, NOW, NULL, counts, NULL);
}

static void summaries_go_by_size_as_well(void)
{
	struct retain_limits limits = { .requests_ns = 1, .window_ns = 2 * SECOND };
	struct retain_counts counts;
	uint64_t nr, nr_requests = 0, bytes;

	rig_make();
	for (uint64_t i = 0; i < NR; i++)
		nr_requests += NR_EACH + i;
	ok_int(pass(&limits, &counts), 0);
	ok_eq(counts.nr_segments, NR - 2);
	ok_eq(counts.nr_dropped, 0);
	bytes = summaries_from(0, &nr);
	ok_eq(nr, NR - 2);
	ok_eq(bytes, counts.summary_bytes);
	limits.requests_ns = 0;
	limits.summaries_bytes = bytes;
	ok_eq(look(&limits, NOW).nr_summaries, 0);
	limits.summaries_bytes = bytes - 1;
	ok_eq(look(&limits, NOW).nr_summaries, 1);
	limits.summaries_bytes = 2;
	ok_eq(look(&limits, NOW).nr_summaries, NR - 2);
	/* By age and by size: either is enough. */
	limits.summaries_bytes = bytes;
	limits.summaries_ns = NOW - AT(9);
	ok_eq(look(&limits, NOW).nr_summaries, 8);
	limits.summaries_ns = NOW - AT(7);
	ok_int(pass(&limits, &counts), 0);
	bytes = summaries_from(0, &nr);
	ok_eq(nr, NR - 2 - 6);
	ok_eq(counts.nr_dropped, 6 * NR_EACH + 0 + 1 + 2 + 3 + 4 + 5);
	/* What has no profiles any more takes no room of those that have. */
	limits.summaries_ns = 0;
	limits.summaries_bytes = bytes;
	ok_eq(look(&limits, NOW).nr_summaries, 0);
	ok_int(pass(&limits, &counts), 0);
	ok_eq(counts.nr_dropped, 0);
	rig_release();
}

/* A process that ends in a step: the mark of the step stays. */
static void die_in_next_step(void)
{
	const struct retain_limits all = { .requests_ns = 1, .window_ns = 3600 * SECOND };
	struct retain_plan p;

	ok_int(retain_plan_init(&p, rig.store, &all, NOW + 7200 * SECOND, NULL), 0);
	ok_int(retain_plan_next(&p, NULL), 1);
	ok_int(retain_mark_set(&p.mark, p.group, p.nr_group, NULL), 0);
	retain_plan_release(&p);
}

static void what_ends_the_process_is_set_aside(void)
{
	const struct retain_limits all = { .requests_ns = 1, .window_ns = 3600 * SECOND };
	struct retain_counts counts = { 0 };
	struct buf aside = { 0 };
	struct due due;

	rig_make();
	die_in_next_step(); /* of all six of host a */
	due = look(&all, NOW + 7200 * SECOND);
	ok_eq(due.nr, NR);
	ok_eq(due.nr_groups, NR / 2 + 1);
	die_in_next_step(); /* alone */
	due = look(&all, NOW + 7200 * SECOND);
	ok_eq(due.nr, NR - 1);
	ok_eq(due.nr_groups, 2);
	ok_int(store_aside_read(rig.store, &aside, NULL), 0);
	ok_str((const char *)aside.data, "segments/a/boot/00000000000000000005/0000000000.seg\n");
	ok_int(retain_pass(rig.store, &all, NOW + 7200 * SECOND, NULL, &counts, NULL), 0);
	ok_eq(counts.nr_segments, NR - 1);
	ok_eq(counts.nr_left_out, 1);
	/* It is there, and is taken again once its line is gone. */
	unlinkat(store_dir_fd(rig.store), STORE_ASIDE, 0);
	ok_int(retain_pass(rig.store, &all, NOW + 7200 * SECOND, NULL, &counts, NULL), 0);
	ok_eq(counts.nr_segments, NR);
	buf_release(&aside);
	rig_release();
}

static struct segment_facts summary_of(const char *host, uint64_t first, uint64_t last)
{
	struct segment_facts f = { .name = { .epoch = 5, .sequence = first },
				   .last_sequence = last };

	snprintf(f.name.host, sizeof(f.name.host), "%s", host);
	snprintf(f.name.boot_id, sizeof(f.name.boot_id), "boot");
	return f;
}

static size_t find(const struct retain_plan *p, const char *host, uint64_t sequence)
{
	struct segment_facts f = summary_of(host, sequence, 0);

	return retain_plan_find(p, &f.name);
}

/* The first summary that ends at the segment or later, in every place between and beside them. */
static void summaries_are_found_by_their_last_segment(void)
{
	static const struct {
		const char *host;
		uint64_t first, last;
	} all[] = { { "a", 0, 3 }, { "a", 4, 7 },   { "a", 10, 10 },
		    { "b", 0, 2 }, { "b", 20, 29 }, { "c", 5, 9 } };
	struct retain_plan p = { .nr_summaries = 0 };

	for (size_t i = 0; i < TAP_NR(all); i++) {
		struct segment_facts f = summary_of(all[i].host, all[i].first, all[i].last);

		ok_int(retain_plan_replace(&p, i, 0, &f), 0);
	}
	ok_eq(p.nr_summaries, TAP_NR(all));
	for (size_t i = 0; i < TAP_NR(all); i++) {
		ok_eq(find(&p, all[i].host, all[i].first), i);
		ok_eq(find(&p, all[i].host, all[i].last), i);
		ok_eq(find(&p, all[i].host, all[i].last + 1), i + 1);
	}
	ok_eq(find(&p, "", 0), 0);
	ok_eq(find(&p, "a", 100), 3);
	ok_eq(find(&p, "bb", 7), 5);
	ok_eq(find(&p, "d", 0), 6);
	retain_plan_release(&p);
	ok_eq(find(&p, "a", 0), 0);
}

/*
 * One in the place of several, or between two; what is behind moves, and none is lost on the way.
 */
static void summaries_are_put_in_each_others_place(void)
{
	const uint64_t nr = 200;
	struct retain_plan p = { .nr_summaries = 0 };
	struct segment_facts f;
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < nr; i++) {
		f = summary_of("a", 2 * (nr - 1 - i), 2 * (nr - 1 - i));
		wrong += retain_plan_replace(&p, 0, 0, &f) != 0;
	}
	f = summary_of("a", 7, 7); /* between 6 and 8 */
	ok_int(retain_plan_replace(&p, 4, 0, &f), 0);
	f = summary_of("a", 10, 16); /* 10, 12, 14, 16 behind it */
	ok_int(retain_plan_replace(&p, 6, 4, &f), 0);
	ok_eq(p.nr_summaries, nr + 1 - 3);
	for (uint64_t i = 0, sequence = 0; i < p.nr_summaries; i++) {
		wrong += p.summaries[i].file.first.sequence != sequence;
		wrong += p.summaries[i].last_sequence != (sequence == 10 ? 16 : sequence);
		sequence += sequence == 10 ? 8 : sequence == 6 || sequence == 7 ? 1 : 2;
	}
	ok_eq(wrong, 0);
	retain_plan_release(&p);
}

/*
 * One that came late beside what was dropped has profiles again, and they are to go in their turn.
 */
static void who_has_profiles_is_known(void)
{
	static const struct {
		uint64_t nr_requests, nr_dropped, dropped_end_ns;
		bool has_profiles;
	} cases[] = { { 5, 0, 0, true },
		      { 0, 0, 0, true },
		      { 5, 5, 9, false },
		      { 6, 5, 9, true },
		      { 0, 0, 9, false } };
	struct retain_plan p = { .nr_summaries = 0 };

	for (uint64_t i = 0; i < TAP_NR(cases); i++) {
		struct segment_facts f = summary_of("a", i, i);

		f.nr_requests = cases[i].nr_requests;
		f.nr_dropped = cases[i].nr_dropped;
		f.dropped_end_real_ns = cases[i].dropped_end_ns;
		ok_int(retain_plan_replace(&p, i, 0, &f), 0);
		ok_int(p.summaries[i].has_profiles, cases[i].has_profiles);
	}
	retain_plan_release(&p);
}

/* Of three segments the second was sent without its requests, and in the third nothing happened. */
static void what_was_kept_back_stays_with_the_profiles(void)
{
	struct retain_limits limits = { .requests_ns = 1, .window_ns = 3600 * SECOND };
	struct ledger kept = { 0 };
	struct request r[NR_EACH];
	struct due due;

	memset(&rig, 0, sizeof(rig));
	snprintf(rig.dir, sizeof(rig.dir), "%s", sample_folder());
	ledger_add(&kept, &(struct loss){ LOSS_KEPT_BACK, true, NR_EACH, AT(1), AT(2),
					  device_make(8, 0) });
	for (uint64_t i = 0; i < 3; i++) {
		struct sample s = { .host = "a",
				    .boot_id = "boot",
				    .epoch = 5,
				    .sequence = i,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = i * SECOND,
				    .end_ns = (i + 1) * SECOND,
				    .ledger = i == 1 ? &kept : NULL };

		sample_requests(i + 1, s.begin_ns, s.end_ns - SECOND / 2, r, NR_EACH);
		sample_store(rig.dir, &s, r, i == 0 ? NR_EACH : 0);
	}
	ok_int(store_open(&rig.store, rig.dir, true, NULL), 0);
	ok_int(store_sync(rig.store, NULL), 0);
	due = look(&limits, NOW + 7200 * SECOND);
	ok_eq(due.nr, 2);
	ok_eq(due.nr_groups, 2);
	limits.summaries_ns = 1; /* its profiles may go */
	due = look(&limits, NOW + 7200 * SECOND);
	ok_eq(due.nr, 3);
	ok_eq(due.nr_groups, 1);
	ledger_release(&kept);
	rig_release();
}

static const struct tap_test tests[] = {
	{ "by age whole windows are due", by_age_whole_windows_are_due },
	{ "a gap divides a window", a_gap_divides_a_window },
	{ "what was sent without its requests stays as long as profiles do",
	  what_was_kept_back_stays_with_the_profiles },
	{ "by size each host's oldest are due, and no more than must go",
	  by_size_the_oldest_are_due },
	{ "nobody is pushed out by another's clock", nobody_is_pushed_out_by_anothers_clock },
	{ "a segment that ends the process twice is set aside",
	  what_ends_the_process_is_set_aside },
	{ "summaries go by size as well, the oldest first", summaries_go_by_size_as_well },
	{ "summaries are found by their last segment", summaries_are_found_by_their_last_segment },
	{ "summaries are put in each other's place", summaries_are_put_in_each_others_place },
	{ "who has profiles is known", who_has_profiles_is_known },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
