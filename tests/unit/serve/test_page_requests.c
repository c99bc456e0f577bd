// SPDX-License-Identifier: Apache-2.0
/* The requests of a period: each is given once, however the period is cut into parts. */
#include <math.h>
#include <string.h>

#include "analyzer/serve/period/page_requests.h"
#include "analyzer/serve/period/page_store.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

#define NR	     120
#define STEP_NS	     700000000000ull  /* from the begin of a segment to that of the next one */
#define LENGTH_NS    1000000000000ull /* a segment reaches into the one after it */
#define EACH	     4		      /* requests of a segment */
#define BEGIN_S	     (SAMPLE_REAL_NS / 1e9)
#define SEGMENT_S(i) (BEGIN_S + (double)(i) * (STEP_NS / 1e9))

/* The boots do not follow one another in the order of their names. */
static const char *const boots[] = { "z", "b", "m" };

static struct page_store *test_store(const char *dir)
{
	struct page_store *store = NULL;
	struct err err = { 0 };

	for (int i = 0; i < NR; i++) {
		struct request r[EACH];
		struct sample s = { .host = "h",
				    .boot_id = boots[i * 3 / NR],
				    .epoch = 1,
				    .sequence = (uint64_t)i,
				    .real_offset_ns = SAMPLE_REAL_NS,
				    .begin_ns = (uint64_t)i * STEP_NS,
				    .end_ns = (uint64_t)i * STEP_NS + LENGTH_NS };

		sample_requests((uint64_t)i, s.begin_ns, s.begin_ns + STEP_NS / 2, r, EACH);
		for (int j = 0; j < EACH; j++)
			r[j].device = device_make(8, 0);
		sample_store(dir, &s, r, EACH);
	}
	if (page_store_open(&store, dir, &err) < 0)
		tap_note("%s", err.line);
	return store;
}

struct test_seen {
	double last_s;
	bool newest_first;
	uint64_t begin_ns;
	int nr, nr_wrong; /* nr_wrong: segments that came in another order of time */
};

static int test_segment(void *ctx, const struct segment_header *h)
{
	struct test_seen *seen = ctx;
	uint64_t begin_ns = h->begin.realtime_ns;

	if (seen->nr && (begin_ns < seen->begin_ns) != seen->newest_first)
		seen->nr_wrong++;
	seen->begin_ns = begin_ns;
	return 0;
}

static int test_take(void *ctx, const struct request *r, uint64_t real_ns)
{
	struct test_seen *seen = ctx;

	(void)r, (void)real_ns;
	seen->nr++;
	return 0;
}

/* Reads a period; nr_together and most as in struct page_requests. Returns its border. */
static double test_read(struct page_store *store, struct test_seen *seen, double begin_s,
			double end_s, size_t nr_together, uint64_t most)
{
	const struct page_device_question q = {
		.host = "h", .device = "8:0", .begin_s = begin_s, .end_s = end_s
	};
	struct page_requests p;
	struct err err = { 0 };

	ok_int(page_requests_init(&p, &q, &err), 0);
	p.newest_first = seen->newest_first;
	p.nr_together = nr_together;
	p.most = most;
	p.deadline_ns = UINT64_MAX;
	p.segment = test_segment;
	p.take = test_take;
	p.ctx = seen;
	ok_int(page_requests_read(&p, store, &err), 0);
	return p.border_s;
}

static void every_segment_is_read_once(void)
{
	static const size_t together[] = { 5, 7, 30, 1000 };
	const char *dir = sample_folder();
	struct page_store *store = test_store(dir);

	for (size_t i = 0; i < 8; i++) {
		struct test_seen seen = { .newest_first = i % 2 };

		ok(isnan(test_read(store, &seen, 0, 9e9, together[i / 2], UINT64_MAX)));
		ok_int(seen.nr, NR * EACH);
		ok_int(seen.nr_wrong, 0);
		/* Requests complete in the first half of a step after their segment begins. */
		seen = (struct test_seen){ .newest_first = i % 2 };
		ok(isnan(test_read(store, &seen, SEGMENT_S(10), SEGMENT_S(90), together[i / 2],
				   UINT64_MAX)));
		ok_int(seen.nr, 80 * EACH);
	}
	page_store_close(store);
	sample_remove(dir);
}

static void a_limit_leaves_out_the_far_end(void)
{
	const char *dir = sample_folder();
	struct page_store *store = test_store(dir);
	struct test_seen newest = { .newest_first = true }, oldest = { .newest_first = false };
	double border_s;

	/* The limit is looked at before each segment, so that six of them are read. */
	border_s = test_read(store, &newest, 0, 9e9, 7, 5 * EACH);
	ok_int(newest.nr, 6 * EACH);
	ok_int((int)(border_s - SEGMENT_S(NR - 7)), LENGTH_NS / 1000000000);
	border_s = test_read(store, &oldest, 0, 9e9, 7, 5 * EACH);
	ok_int(oldest.nr, 6 * EACH);
	ok_int((int)(border_s - SEGMENT_S(6)), 0);
	page_store_close(store);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "every segment of a period is read once, in order of time", every_segment_is_read_once },
	{ "a limit leaves out the oldest, or the newest", a_limit_leaves_out_the_far_end },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
