// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/num/rng.h"
#include "tests/support/tap.h"

#define ITEMS 1003
#define CHUNK 10

struct sum {
	double parts[ITEMS];
	double total;
	size_t fail_from;
	size_t order; /* the next chunk that reduce() must see */
	bool in_order;
};

static int add_up(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct sum *s = ctx;
	struct rng r;

	if (chunk >= s->fail_from)
		return -(int)(chunk + 1);
	rng_stream(&r, 1, chunk);
	for (size_t i = begin; i < end; i++)
		s->parts[chunk] += rng_exponential(&r) / (double)(i + 1);
	return 0;
}

static int collect(void *ctx, size_t chunk)
{
	struct sum *s = ctx;

	s->in_order = s->in_order && chunk == s->order++;
	s->total += s->parts[chunk];
	return 0;
}

static int run(struct sum *s, size_t fail_from, unsigned threads)
{
	struct parallel p = { .nr_items = ITEMS,
			      .chunk = CHUNK,
			      .nr_threads = threads,
			      .work = add_up,
			      .reduce = collect,
			      .ctx = s };

	*s = (struct sum){ .fail_from = fail_from, .in_order = true };
	return parallel_run(&p);
}

static void same_bits(void)
{
	static struct sum one, many;

	ok_int(run(&one, ITEMS, 1), 0);
	for (unsigned threads = 2; threads <= 8; threads++) {
		ok_int(run(&many, ITEMS, threads), 0);
		ok(!memcmp(&one.total, &many.total, sizeof(one.total)));
		ok(many.in_order && many.order == parallel_nr_chunks(ITEMS, CHUNK));
	}
}

static void lowest_failure(void)
{
	static struct sum s;

	for (unsigned threads = 1; threads <= 8; threads++) {
		ok_int(run(&s, 17, threads), -18);
		ok_eq(s.order, 0);
	}
}

static void nothing_to_do(void)
{
	struct parallel p = { .nr_items = 0, .work = add_up };

	ok_int(parallel_run(&p), 0);
	ok_eq(parallel_nr_chunks(0, 5), 0);
	ok_eq(parallel_nr_chunks(11, 5), 3);
	ok(parallel_cpus() >= 1);
}

static const struct tap_test tests[] = {
	{ "any number of threads gives the same bits", same_bits },
	{ "the lowest chunk that fails is the one reported", lowest_failure },
	{ "no items are no work", nothing_to_do },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
