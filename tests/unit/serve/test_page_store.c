// SPDX-License-Identifier: Apache-2.0
/* Questions to the store of the live page: what they cost does not depend on what a guest sends. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyzer/serve/period/page_store.h"
#include "base/system/clock.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR_STREAMS 60

/* A host that begins a new stream with each segment, all of them within the same second. */
static struct page_store *test_store(const char *dir)
{
	struct page_store *store = NULL;
	struct err err = { 0 };

	for (uint64_t i = 0; i < NR_STREAMS; i++) {
		struct request r;
		struct sample s = { .host = "h",
				    .boot_id = "b",
				    .epoch = i,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .end_ns = CLOCK_NS_PER_S };

		sample_requests(i, 0, CLOCK_NS_PER_S / 2, &r, 1);
		sample_store(dir, &s, &r, 1);
	}
	if (page_store_open(&store, dir, &err) < 0)
		tap_note("%s", err.line);
	return store;
}

/* Asks for the period from begin_ns on. Returns the number of segments that were found. */
static size_t test_find(struct page_store *store, uint64_t begin_ns, uint64_t deadline_ns,
			bool *whole)
{
	const struct page_question q = { .host = "h",
					 .begin_real_ns = begin_ns,
					 .end_real_ns = UINT64_MAX,
					 .deadline_ns = deadline_ns };
	struct page_segment *segments = NULL;
	struct err err = { 0 };
	size_t nr = 0;

	ok_int(page_store_find(store, &q, &segments, &nr, whole, &err), 0);
	free(segments);
	return nr;
}

/* No stream has a segment in the period, so that only the streams themselves take time. */
static void streams_do_not_outlast_the_deadline(void)
{
	const char *dir = sample_folder();
	struct page_store *store = test_store(dir);
	const uint64_t after_ns = SAMPLE_REAL_NS + 60 * CLOCK_NS_PER_S;
	bool whole = false;

	ok_eq(test_find(store, 0, 0, &whole), NR_STREAMS);
	ok(whole);
	ok_eq(test_find(store, after_ns, 0, &whole), 0);
	ok(whole);
	ok_eq(test_find(store, after_ns, 1, &whole), 0);
	ok(!whole);
	page_store_close(store);
	sample_remove(dir);
}

static int test_no_summary(void *ctx, const struct summary *summary)
{
	(void)ctx, (void)summary;
	return -EEXIST;
}

static void summaries_are_not_looked_for_after_the_deadline(void)
{
	const char *dir = sample_folder();
	struct page_store *store = test_store(dir);
	struct page_question q = { .host = "h", .end_real_ns = UINT64_MAX };
	struct err err = { 0 };
	uint64_t nr_bad = 0;
	bool whole = false;

	ok_int(page_store_summaries(store, &q, test_no_summary, NULL, &nr_bad, &whole, &err), 0);
	ok(whole);
	q.deadline_ns = 1;
	ok_int(page_store_summaries(store, &q, test_no_summary, NULL, &nr_bad, &whole, &err), 0);
	ok(!whole);
	page_store_close(store);
	sample_remove(dir);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "a host with many streams does not hold a question beyond its deadline",
		  streams_do_not_outlast_the_deadline },
		{ "nor do its summaries", summaries_are_not_looked_for_after_the_deadline },
	};

	return tap_run(tests, TAP_NR(tests));
}
