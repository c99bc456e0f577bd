/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is missing between the segments that a scan reads, where others are summarized: by streams
 * made up at random, in which each sequence is there, summarized, late into a summary's range, or
 * nowhere.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/keep/retain_step.h"
#include "analyzer/store/scan/scan.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"
#include "tests/support/traffic.h"

#define NR_STREAMS   2
#define NR_SEQUENCES 24
#define NR_EACH	     2u
#define NR_WORLDS    60
#define SECOND	     1000000000ull

enum fate { NOWHERE, STORED, MEMBER };

struct world {
	char dir[64];
	struct store *store;
	enum fate fate[NR_STREAMS][NR_SEQUENCES];
	uint64_t generation;
};

static struct segment_name name_of(int stream, uint64_t sequence)
{
	struct segment_name n = { .epoch = 5 + (uint64_t)stream, .sequence = sequence };

	snprintf(n.host, sizeof(n.host), "%s", "db1");
	snprintf(n.boot_id, sizeof(n.boot_id), "%s", "b1");
	return n;
}

static void store_one(const struct world *w, int stream, uint64_t sequence)
{
	struct segment_name n = name_of(stream, sequence);
	struct sample s = { .host = n.host,
			    .boot_id = n.boot_id,
			    .epoch = n.epoch,
			    .sequence = sequence,
			    .real_offset_ns = SAMPLE_REAL_NS,
			    .begin_ns = sequence * SECOND,
			    .end_ns = (sequence + 1) * SECOND };
	struct request r[NR_EACH];

	sample_requests(sequence, s.begin_ns, s.end_ns - SECOND / 2, r, NR_EACH);
	sample_store(w->dir, &s, r, NR_EACH);
}

static void world_open(struct world *w)
{
	struct err err = { 0 };

	snprintf(w->dir, sizeof(w->dir), "%s", sample_folder());
	for (int i = 0; i < NR_STREAMS; i++)
		for (uint64_t q = 0; q < NR_SEQUENCES; q++)
			if (w->fate[i][q] != NOWHERE)
				store_one(w, i, q);
	if (!ok_int(store_open(&w->store, w->dir, true, &err), 0))
		tap_note("%s", err.line);
}

static void world_close(struct world *w)
{
	store_close(w->store);
	sample_remove(w->dir);
}

/* One summary of a stream's members from begin to before end. */
static void summarize(struct world *w, int stream, uint64_t begin, uint64_t end)
{
	struct segment_name members[NR_SEQUENCES];
	struct retain_step step = { .store = w->store,
				    .segments = members,
				    .generation = ++w->generation };
	struct retain_counts counts = { 0 };
	struct segment_facts made;
	struct err err = { 0 };

	for (uint64_t q = begin; q < end; q++)
		if (w->fate[stream][q] == MEMBER)
			members[step.nr_segments++] = name_of(stream, q);
	if (!step.nr_segments)
		return;
	if (!ok_int(retain_step_run(&step, &made, &counts, &err), 0))
		tap_note("%s", err.line);
	ok_eq(counts.nr_segments, step.nr_segments);
	segment_facts_release(&made);
}

/*
 * Runs of 1 to 8 sequences; every other run has a summary, between whose members may lie anything.
 */
static void world_make(struct world *w, uint64_t seed)
{
	static const enum fate in_summary[] = { MEMBER, MEMBER, MEMBER, STORED, NOWHERE };
	static const enum fate outside[] = { STORED, NOWHERE };
	uint64_t ends[NR_STREAMS][NR_SEQUENCES + 1];
	struct traffic t = { seed };

	memset(w, 0, sizeof(*w));
	for (int i = 0; i < NR_STREAMS; i++) {
		size_t run = 0;

		ends[i][0] = traffic_random(&t) % 4;
		for (uint64_t q = 0; q < NR_SEQUENCES; q++) {
			uint64_t n = traffic_random(&t) >> 8;

			if (q == ends[i][run]) {
				ends[i][run + 1] = q + 1 + n / 64 % 8;
				run++;
			}
			w->fate[i][q] = run % 2 ? in_summary[n % TAP_NR(in_summary)]
						: outside[n % TAP_NR(outside)];
		}
		ends[i][run] = NR_SEQUENCES;
	}
	world_open(w);
	for (int i = 0; i < NR_STREAMS; i++)
		for (size_t run = 1; ends[i][run - 1] < NR_SEQUENCES; run += 2) {
			summarize(w, i, ends[i][run - 1], ends[i][run]);
			if (ends[i][run] == NR_SEQUENCES)
				break;
		}
}

/* Literally: of each segment that is scanned, what is nowhere since the stored one before it. */
static uint64_t missing(const struct world *w, int stream, uint64_t begin, uint64_t end)
{
	uint64_t nr = 0, since_last = 0;
	bool any = false;

	for (uint64_t q = 0; q < NR_SEQUENCES; q++) {
		since_last += w->fate[stream][q] == NOWHERE;
		if (w->fate[stream][q] != STORED)
			continue;
		if (any && q >= begin && q < end)
			nr += since_last;
		any = true;
		since_last = 0;
	}
	return nr;
}

static void scan_to_end(const struct world *w, uint64_t begin, uint64_t end,
			uint64_t nr_missing[NR_STREAMS])
{
	const struct scan_filter filter = {
		.begin_real_ns = begin ? SAMPLE_REAL_NS + begin * SECOND + SECOND / 4 : 0,
		.end_real_ns = SAMPLE_REAL_NS + end * SECOND - SECOND / 4,
	};
	static struct scan_request batch[SCAN_BATCH];
	struct scan *scan = NULL;
	struct err err = { 0 };
	int64_t nr = 0;

	nr_missing[0] = nr_missing[1] = 0;
	if (!ok_int(scan_open_store(&scan, w->store, &filter, NULL, &err), 0)) {
		tap_note("%s", err.line);
		return;
	}
	while ((nr = scan_next(scan, batch, SCAN_BATCH)) > 0)
		;
	ok_int(nr, 0);
	for (uint32_t i = 0; i < scan_nr_traces(scan); i++)
		nr_missing[scan_trace(scan, i)->epoch - 5] = scan_trace(scan, i)->nr_missing;
	scan_close(scan);
}

static void missing_is_what_is_nowhere(void)
{
	static const uint64_t spans[][2] = {
		{ 0, NR_SEQUENCES }, { 9, NR_SEQUENCES }, { 0, 15 }, { 7, 19 }
	};
	uint64_t got[NR_STREAMS], wrong = 0, sum = 0;

	for (uint64_t seed = 1; seed <= NR_WORLDS; seed++) {
		struct world w;

		world_make(&w, seed);
		for (size_t k = 0; k < TAP_NR(spans); k++) {
			scan_to_end(&w, spans[k][0], spans[k][1], got);
			for (int i = 0; i < NR_STREAMS; i++) {
				uint64_t want = missing(&w, i, spans[k][0], spans[k][1]);

				if (got[i] != want && !wrong++)
					tap_note("seed %d, span %zu, stream %d: %d of %d",
						 (int)seed, k, i, (int)got[i], (int)want);
				sum += want;
			}
		}
		world_close(&w);
	}
	ok_eq(wrong, 0);
	ok(sum > 1000);
}

/*
 * Three gaps, in which one, none and two are nowhere; a filter leaves out the segments before some.
 */
static void each_gap_is_its_own(void)
{
	struct world w = { .fate = { { STORED, MEMBER, NOWHERE, STORED, MEMBER, MEMBER, STORED,
				       NOWHERE, MEMBER, NOWHERE, STORED } } };
	uint64_t got[NR_STREAMS];

	world_open(&w);
	summarize(&w, 0, 1, 2);
	summarize(&w, 0, 4, 6);
	summarize(&w, 0, 8, 9);
	scan_to_end(&w, 0, NR_SEQUENCES, got);
	ok_eq(got[0], 3);
	scan_to_end(&w, 4, NR_SEQUENCES, got);
	ok_eq(got[0], 2);
	scan_to_end(&w, 9, NR_SEQUENCES, got);
	ok_eq(got[0], 2);
	scan_to_end(&w, 4, 8, got);
	ok_eq(got[0], 0);
	world_close(&w);
}

/* Nobody knows then which are its members; the scan goes on. */
static void an_unreadable_summary_fills_nothing_beside_late_ones(void)
{
	struct world w = { .fate = { { STORED, MEMBER, STORED, MEMBER, STORED } } };
	uint64_t got[NR_STREAMS];
	char path[SEGMENT_PATH_MAX], full[512];
	struct segment_name first = name_of(0, 1);

	world_open(&w);
	summarize(&w, 0, 0, 5);
	scan_to_end(&w, 0, NR_SEQUENCES, got);
	ok_eq(got[0], 0);
	summary_path(&first, 1, path);
	snprintf(full, sizeof(full), "%s/%s", w.dir, path);
	sample_write(full, "damaged", 7);
	scan_to_end(&w, 0, NR_SEQUENCES, got);
	ok_eq(got[0], 2);
	world_close(&w);
}

static const struct tap_test tests[] = {
	{ "a gap is filled by the summaries in it and by no other", each_gap_is_its_own },
	{ "what is missing is what is neither there nor summarized", missing_is_what_is_nowhere },
	{ "an unreadable summary fills no gap that it reaches beyond",
	  an_unreadable_summary_fills_nothing_beside_late_ones },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
