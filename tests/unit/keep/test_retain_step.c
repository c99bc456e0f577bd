/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of retention that cannot be made, headers that claim anything, and what a pass beside a
 * server says.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/keep/retain_step.h"
#include "analyzer/serve/http/retain_beside.h"
#include "formats/segment/segment_header.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_SEGMENTS 4
#define NR_EACH	    3u
#define SECOND	    1000000000ull

struct rig {
	char dir[64];
	struct store *store;
	struct segment_name names[NR_SEGMENTS];
};

/* Segments of one stream; like: what their headers say besides. */
static void rig_make(struct rig *r, const struct sample *like)
{
	struct err err = { 0 };

	snprintf(r->dir, sizeof(r->dir), "%s", sample_folder());
	for (uint64_t i = 0; i < NR_SEGMENTS; i++) {
		struct sample s = { .host = "db1",
				    .boot_id = "b1",
				    .epoch = 5,
				    .sequence = i,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = i * SECOND,
				    .end_ns = (i + 1) * SECOND,
				    .ledger = like->ledger,
				    .nr_captured = like->nr_captured };
		struct request requests[NR_EACH];

		sample_requests(i + 1, s.begin_ns, s.end_ns - SECOND / 2, requests, NR_EACH);
		sample_store(r->dir, &s, requests, NR_EACH);
		r->names[i] = (struct segment_name){ .epoch = 5, .sequence = i };
		snprintf(r->names[i].host, sizeof(r->names[i].host), "db1");
		snprintf(r->names[i].boot_id, sizeof(r->names[i].boot_id), "b1");
	}
	if (!ok_int(store_open(&r->store, r->dir, true, &err), 0))
		tap_note("%s", err.line);
}

static void rig_release(struct rig *r)
{
	store_close(r->store);
	sample_remove(r->dir);
}

static int run_step(const struct retain_step *step, struct err *err)
{
	struct retain_counts counts = { 0 };
	struct segment_facts made;
	int status = retain_step_run(step, &made, &counts, err);

	if (status == 0)
		segment_facts_release(&made);
	return status;
}

/* Segments from first to before end, in a summary of that generation. */
static int summarize(struct rig *r, size_t first, size_t end, uint64_t generation, struct err *err)
{
	const struct retain_step step = { .store = r->store,
					  .segments = r->names + first,
					  .nr_segments = end - first,
					  .generation = generation };

	return run_step(&step, err);
}

static int merge(struct rig *r, const struct summary_file *files, size_t nr, struct err *err)
{
	const struct retain_step step = {
		.store = r->store, .summaries = files, .nr_summaries = nr, .generation = 9
	};

	return run_step(&step, err);
}

static void what_cannot_be_one_is_named(void)
{
	struct summary_file twice[2];
	struct err err = { 0 };
	struct summary s;
	struct rig r;

	rig_make(&r, &(struct sample){ 0 });
	ok_int(summarize(&r, 1, 3, 1, &err), 0);
	twice[0] = twice[1] = (struct summary_file){ r.names[1], 1 };
	ok_int(merge(&r, twice, 2, &err), -EEXIST);
	ok_str(err.line, "db1/b1/5: two summaries name the same segment");
	summary_init(&s);
	ok_int(store_summary_read(r.store, &r.names[1], 1, &s, NULL), 0);
	ok_eq(s.nr_requests, 2 * NR_EACH);
	summary_release(&s);
	rig_release(&r);
}

/* Headers may say the most that is accepted of each; their sum is exact. */
static void highest_counts_add_up(void)
{
	const struct loss loss = { .cause = LOSS_SHED,
				   .count_known = true,
				   .count = SEGMENT_MAX_COUNT,
				   .begin_real_ns = SAMPLE_REAL_NS,
				   .end_real_ns = SAMPLE_REAL_NS + SECOND };
	struct summary_file files[2];
	struct err err = { 0 };
	struct ledger ledger;
	struct summary s;
	struct rig r;

	ledger_init(&ledger);
	ok_int(ledger_add(&ledger, &loss), 0);
	rig_make(&r, &(struct sample){ .ledger = &ledger, .nr_captured = SEGMENT_MAX_COUNT });
	ok_int(summarize(&r, 0, 2, 1, &err), 0);
	ok_int(summarize(&r, 2, 4, 2, &err), 0);
	files[0] = (struct summary_file){ r.names[0], 1 };
	files[1] = (struct summary_file){ r.names[2], 2 };
	if (!ok_int(merge(&r, files, 2, &err), 0))
		tap_note("%s", err.line);
	summary_init(&s);
	ok_int(store_summary_read(r.store, &r.names[0], 9, &s, &err), 0);
	ok_eq(s.nr_requests, NR_SEGMENTS * NR_EACH);
	ok_eq(s.nr_captured, NR_SEGMENTS * SEGMENT_MAX_COUNT);
	ok_eq(s.ledger.nr, 1);
	if (s.ledger.nr)
		ok_eq(s.ledger.losses[0].count, NR_SEGMENTS * SEGMENT_MAX_COUNT);
	summary_release(&s);
	ledger_release(&ledger);
	rig_release(&r);
}

struct heard {
	pthread_mutex_t lock;
	size_t nr;
	char lines[8][512];
};

static void hear(void *ctx, const char *line)
{
	struct heard *h = ctx;

	pthread_mutex_lock(&h->lock);
	if (h->nr < TAP_NR(h->lines))
		snprintf(h->lines[h->nr], sizeof(h->lines[0]), "%s", line);
	h->nr++;
	pthread_mutex_unlock(&h->lock);
}

static size_t heard_lines(struct heard *h)
{
	size_t nr;

	pthread_mutex_lock(&h->lock);
	nr = h->nr;
	pthread_mutex_unlock(&h->lock);
	return nr;
}

/* Up to a minute for that many lines. */
static void wait_for(struct heard *h, size_t nr)
{
	for (int i = 0; i < 600 && heard_lines(h) < nr; i++)
		nanosleep(&(struct timespec){ 0, 100000000 }, NULL);
}

/* The catalog does not look at it again. */
static void damage(const struct rig *r, size_t i)
{
	char path[SEGMENT_PATH_MAX], full[512];

	segment_name_path(&r->names[i], path);
	snprintf(full, sizeof(full), "%s/%s", r->dir, path);
	sample_write(full, "damaged", 7);
}

static void left_out_is_said_once(void)
{
	struct heard h = { .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct retain_beside_config config = {
		.limits = { .requests_ns = SECOND, .window_ns = 2 * SECOND },
		.note = hear,
		.ctx = &h,
	};
	struct retain_beside *beside = NULL;
	struct err err = { 0 };
	struct rig r;

	rig_make(&r, &(struct sample){ 0 });
	for (size_t i = 0; i < NR_SEGMENTS; i++)
		damage(&r, i);
	ok_eq(retain_beside_interval_s(&config.limits), 1);
	ok_int(retain_beside_start(&beside, r.dir, &config, &err), 0);
	wait_for(&h, 1);
	nanosleep(&(struct timespec){ 2, 500000000 }, NULL); /* two more passes */
	retain_beside_stop(beside);
	ok_eq(h.nr, 1);
	ok_str(h.lines[0], "retention: 0 requests of 0 segments summarized (0 B), 0 B written; "
			   "4 segments left as they are: blkcast check says why");
	rig_release(&r);
}

static const struct tap_test tests[] = {
	{ "summaries that cannot be one are named by their stream", what_cannot_be_one_is_named },
	{ "the highest counts that a header can have add up", highest_counts_add_up },
	{ "beside a server, what every pass leaves out is said once", left_out_is_said_once },
};

int main(void)
{
	if (!access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 0);
	return tap_run(tests, TAP_NR(tests));
}
