/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture/reorder.h"
#include "tests/support/tap.h"

#define NR 5000

struct collected {
	struct request r[NR];
	size_t nr;
};

static void collect(void *ctx, struct request *r, size_t nr)
{
	struct collected *c = ctx;

	if (c->nr + nr > NR)
		nr = NR - c->nr;
	memcpy(c->r + c->nr, r, nr * sizeof(*r));
	c->nr += nr;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static int by_completion(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	return x->completion_ns < y->completion_ns ? -1 : x->completion_ns > y->completion_ns;
}

static int by_arrival(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->arrival_ns != y->arrival_ns)
		return x->arrival_ns < y->arrival_ns ? -1 : 1;
	return x->sector < y->sector ? -1 : x->sector > y->sector;
}

/* Requests in completion order; sector is the place in that order, so that each is known again. */
static void make_requests(struct request *r, size_t nr, uint64_t gap_ns, uint64_t latency_ns,
			  uint32_t nr_devices)
{
	uint64_t random = 7, now = 1000000;

	for (size_t i = 0; i < nr; i++) {
		now += gap_ns ? next_random(&random) % gap_ns : 0;
		r[i] = (struct request){ .arrival_ns = now, .dispatch_ns = now };
		r[i].completion_ns = now + (latency_ns ? next_random(&random) % latency_ns : 0);
		r[i].device = device_make(7, (uint32_t)(next_random(&random) % nr_devices));
	}
	qsort(r, nr, sizeof(*r), by_completion);
	for (size_t i = 0; i < nr; i++)
		r[i].sector = i;
}

/* The literal definition, O(n^2). */
static uint32_t literal_depth(const struct request *r, size_t at)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < at; i++)
		depth += r[i].device == r[at].device && r[i].completion_ns > r[at].arrival_ns;
	return depth;
}

static void check_whole_order(uint64_t gap_ns, uint64_t latency_ns, uint32_t nr_devices)
{
	static struct request in[NR];
	static struct collected out;
	struct reorder_sink sink = { collect, &out };
	struct reorder *o = NULL;
	size_t wrong_order = 0, wrong_depth = 0;

	out.nr = 0;
	make_requests(in, NR, gap_ns, latency_ns, nr_devices);
	if (!ok(!reorder_new(&o, NR, &sink)))
		return;
	for (size_t i = 0; i < NR; i++)
		reorder_add(o, &in[i]);
	reorder_flush(o, UINT64_MAX);
	qsort(in, NR, sizeof(*in), by_arrival);
	ok_eq(out.nr, NR);
	for (size_t i = 0; i < NR; i++) {
		wrong_order += out.r[i].sector != in[i].sector;
		wrong_depth += out.r[i].queue_depth != literal_depth(in, i);
	}
	ok_eq(wrong_order, 0);
	ok_eq(wrong_depth, 0);
	reorder_free(o);
}

static void order_is_a_literal_sort(void)
{
	check_whole_order(1000, 40000, 1);
	check_whole_order(1000, 40000, 3);
	check_whole_order(4, 9, 2); /* many ties, many without duration */
	check_whole_order(100000000, 3000000000, 2);
	check_whole_order(0, 1000, 1);	   /* all at once */
	check_whole_order(1700, 90000, 2); /* a few within 64 ns, over more than 2^22 ns */
}

/* Requests in groups whose arrivals differ by a few ns, over a span that takes three digits. */
static void groups_of_near_times_are_ordered(void)
{
	static struct request in[NR];
	static struct collected out;
	struct reorder_sink sink = { collect, &out };
	struct reorder *o = NULL;
	uint64_t random = 11;
	size_t wrong = 0;

	out.nr = 0;
	if (!ok(!reorder_new(&o, NR, &sink)))
		return;
	for (size_t i = 0; i < NR; i++) {
		in[i] = (struct request){ .sector = i };
		in[i].arrival_ns = (i / 10 * 131 % 500) * 250000 + next_random(&random) % 64;
		in[i].dispatch_ns = in[i].arrival_ns;
		in[i].completion_ns = in[i].arrival_ns + 1000 + next_random(&random) % 64;
		reorder_add(o, &in[i]);
	}
	reorder_flush(o, UINT64_MAX);
	qsort(in, NR, sizeof(*in), by_arrival);
	ok_eq(out.nr, NR);
	for (size_t i = 0; i < NR; i++)
		wrong += out.r[i].sector != in[i].sector ||
			 out.r[i].queue_depth != literal_depth(in, i);
	ok_eq(wrong, 0);
	reorder_free(o);
}

static void nothing_is_lost_when_full(void)
{
	static struct request in[NR];
	static struct collected out;
	static bool seen[NR];
	struct reorder_sink sink = { collect, &out };
	struct reorder *o = NULL;
	size_t missing = 0, descents = 0, wrong_depth = 0;

	out.nr = 0;
	memset(seen, 0, sizeof(seen));
	/* A latency of at most 20 gaps: 64 held are enough to restore the order. */
	make_requests(in, NR, 1000, 20000, 2);
	if (!ok(!reorder_new(&o, 128, &sink)))
		return;
	for (size_t i = 0; i < NR; i++) {
		reorder_add(o, &in[i]);
		if (i + 1 > 128 + out.nr)
			ok(!"more held than allowed");
	}
	reorder_flush(o, UINT64_MAX);
	for (size_t i = 0; i < out.nr; i++) {
		seen[out.r[i].sector] = true;
		descents += i && out.r[i].arrival_ns < out.r[i - 1].arrival_ns;
		wrong_depth += out.r[i].queue_depth != literal_depth(out.r, i);
	}
	for (size_t i = 0; i < NR; i++)
		missing += !seen[i];
	ok_eq(out.nr, NR);
	ok_eq(missing, 0);
	ok_eq(descents, 0);
	ok_eq(wrong_depth, 0);
	reorder_free(o);
}

#define MOST_AHEAD 8192 /* of all devices; more than one queue holds */

/*
 * Two devices in turn, all in flight at once and ended one by one: the latest ends are forgotten.
 */
static void depth_is_bounded_and_comes_back(void)
{
	static struct collected out;
	struct reorder_sink sink = { collect, &out };
	const uint64_t nr = MOST_AHEAD + 1000;
	struct request r = { .arrival_ns = 0 };
	struct reorder *o = NULL;
	uint64_t wrong = 0;

	if (!ok(!reorder_new(&o, 2, &sink)))
		return;
	for (uint64_t i = 0; i < nr; i++) {
		out.nr = 0;
		r.device = device_make(7, i % 2);
		r.arrival_ns = r.dispatch_ns = i;
		r.completion_ns = 1000000 + i;
		reorder_add(o, &r);
		reorder_flush(o, UINT64_MAX);
		wrong += out.r[0].queue_depth != (i < MOST_AHEAD ? i : MOST_AHEAD) / 2;
	}
	ok_eq(wrong, 0);
	/* Half a device's ends are past, then all that were kept. */
	for (uint64_t left = MOST_AHEAD / 2; left <= MOST_AHEAD / 2; left -= MOST_AHEAD / 4)
		for (uint32_t device = 0; device < 2; device++) {
			out.nr = 0;
			r.device = device_make(7, device);
			r.arrival_ns = r.dispatch_ns = r.completion_ns =
				999999 + MOST_AHEAD - 2 * left;
			reorder_add(o, &r);
			reorder_flush(o, UINT64_MAX);
			ok_eq(out.r[0].queue_depth, left);
		}
	reorder_free(o);
}

/*
 * The same requests through two of them; only the second gives its memory back, again and again,
 * with some requests held and after a fill to the brim.
 */
static void giving_memory_back_changes_nothing(void)
{
	static struct request in[NR];
	static struct collected plain_out, thrifty_out;
	struct reorder_sink plain_sink = { collect, &plain_out };
	struct reorder_sink thrifty_sink = { collect, &thrifty_out };
	struct reorder *plain = NULL, *thrifty = NULL;

	plain_out.nr = thrifty_out.nr = 0;
	make_requests(in, NR, 1000, 400000, 3);
	if (!ok(!reorder_new(&plain, 1000, &plain_sink) &&
		!reorder_new(&thrifty, 1000, &thrifty_sink)))
		goto out;
	reorder_give_back(thrifty);
	for (size_t i = 0; i < NR; i++) {
		reorder_add(plain, &in[i]);
		reorder_add(thrifty, &in[i]);
		if (i % 700 == 699) {
			reorder_flush(plain, in[i - 99].completion_ns);
			reorder_flush(thrifty, in[i - 99].completion_ns);
		}
		if (i % 131 == 130 || i % 700 == 699)
			reorder_give_back(thrifty);
	}
	reorder_flush(plain, UINT64_MAX);
	reorder_flush(thrifty, UINT64_MAX);
	ok_eq(plain_out.nr, NR);
	ok_eq(thrifty_out.nr, NR);
	ok(!memcmp(plain_out.r, thrifty_out.r, sizeof(plain_out.r)));
out:
	reorder_free(plain);
	reorder_free(thrifty);
}

static void flush_takes_only_what_completed(void)
{
	static struct collected out;
	struct reorder_sink sink = { collect, &out };
	struct request early = { .arrival_ns = 10, .dispatch_ns = 10, .completion_ns = 90 };
	struct request late = { .arrival_ns = 5, .dispatch_ns = 5, .completion_ns = 100 };
	struct reorder *o = NULL;

	out.nr = 0;
	if (!ok(!reorder_new(&o, 16, &sink)))
		return;
	reorder_add(o, &early);
	reorder_add(o, &late);
	reorder_flush(o, 100);
	ok_eq(out.nr, 1);
	ok_eq(out.r[0].completion_ns, 90);
	reorder_flush(o, 101);
	ok_eq(out.nr, 2);
	ok_eq(out.r[1].completion_ns, 100);
	reorder_free(o);
}

static void period_that_ended_goes_first(void)
{
	static struct collected out;
	struct reorder_sink sink = { collect, &out };
	struct reorder *o = NULL;
	size_t wrong = 0;

	out.nr = 0;
	if (!ok(!reorder_new(&o, 16, &sink)))
		return;
	reorder_set_period_end(o, 1000);
	/* Half completed in the period, half after it though they arrived earlier. */
	for (uint64_t i = 0; i < 17; i++) {
		struct request r = { .arrival_ns = i % 2 ? 500 + i : i };

		r.dispatch_ns = r.arrival_ns;
		r.completion_ns = i % 2 ? 900 + i : 2000 + i;
		reorder_add(o, &r);
	}
	for (size_t i = 0; i < out.nr; i++)
		wrong += out.r[i].completion_ns >= 1000;
	ok_eq(out.nr, 8);
	ok_eq(wrong, 0);
	reorder_free(o);
}

static void bad_bounds_are_refused(void)
{
	struct reorder_sink sink = { collect, NULL };
	struct reorder *o = NULL;

	ok_int(reorder_new(&o, 1, &sink), -EINVAL);
	ok(!o);
	reorder_free(NULL);
}

static const struct tap_test tests[] = {
	{ "order and queue depth are those of a literal sort", order_is_a_literal_sort },
	{ "groups of requests a few ns apart are ordered over a long span",
	  groups_of_near_times_are_ordered },
	{ "a full buffer loses nothing and keeps the order", nothing_is_lost_when_full },
	{ "a queue beyond bound is as deep as the bound, and comes back to nothing",
	  depth_is_bounded_and_comes_back },
	{ "requests come out the same where memory is given back between them",
	  giving_memory_back_changes_nothing },
	{ "a flush takes only what completed before its time", flush_takes_only_what_completed },
	{ "the period that ended goes before the next", period_that_ended_goes_first },
	{ "a bound below two is refused", bad_bounds_are_refused },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
