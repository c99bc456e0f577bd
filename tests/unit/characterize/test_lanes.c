/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows fed by several threads against the same windows fed by one, byte by byte; requests kept
 * for later periods against a sort.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/lanes.h"
#include "analyzer/characterize/later.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"

#define SECOND	   1000000000ull
#define NR	   200000 /* more than all packages under way hold */
#define NR_WINDOWS 3

static struct request *made(size_t nr, uint64_t seed)
{
	struct slow_rng g = { seed };
	struct request *r = calloc(nr, sizeof(*r));
	uint64_t now = SECOND;

	if (!r)
		abort();
	for (size_t i = 0; i < nr; i++) {
		now += (uint64_t)slow_exponential(&g, 20000);
		r[i] = slow_request(now, slow_below(&g, 1000000) * 8);
		r[i].tid = (uint32_t)slow_below(&g, 16);
		r[i].operation = (uint8_t)slow_below(&g, 2);
		r[i].completion_ns = now + (uint64_t)slow_exponential(&g, 300000);
		if (slow_below(&g, 100) == 0)
			r[i].flags |= REQUEST_OWN;
	}
	return r;
}

static void profile_text(const struct window *w, struct buf *out)
{
	struct profile p;

	profile_init(&p);
	if (window_profile(w, 100 * SECOND, &p) || profile_to_json(&p, PROFILE_JSON_LINE, out) < 0)
		abort();
	profile_release(&p);
}

/* Feeds window i every NR_WINDOWS-th run of requests; direct: without lanes. */
static void feed(struct lanes *l, struct window **w, const struct request *r)
{
	size_t step = 777, i = 0, run = 0;

	for (; i < NR; i += step, run++) {
		struct window *to = w[run % NR_WINDOWS];
		size_t nr = NR - i < step ? NR - i : step;
		uint64_t gap_ns = r[i].arrival_ns - 1000;

		if (!l) {
			if (run % 50 == 49)
				window_unwatched(to, gap_ns, gap_ns + 500);
			window_add_many(to, r + i, nr);
			continue;
		}
		if (run % 50 == 49)
			ok_int(lanes_unwatched(l, to, gap_ns, gap_ns + 500), 0);
		if (nr <= LANES_REQUESTS && run % 2) {
			struct request *room = lanes_requests(l);

			memcpy(room, r + i, nr * sizeof(*r));
			ok_int(lanes_add(l, to, room, nr), 0);
			lanes_submit(l);
		} else {
			ok_int(lanes_add(l, to, r + i, nr), 0);
		}
	}
	if (l)
		ok_int(lanes_settle(l), 0);
}

static void profiles_of(int nr_threads, bool leave_out_own, const struct request *r,
			struct buf *out)
{
	struct window_config config = { .leave_out_own = leave_out_own };
	struct window *w[NR_WINDOWS];
	struct lanes *l = NULL;

	if (nr_threads >= 0)
		ok_int(lanes_new(&l, (unsigned int)nr_threads), 0);
	for (size_t i = 0; i < NR_WINDOWS; i++)
		if (window_new(&w[i], &config, SECOND))
			abort();
	feed(l, w, r);
	lanes_free(l);
	for (size_t i = 0; i < NR_WINDOWS; i++) {
		profile_text(w[i], out);
		window_free(w[i]);
	}
}

static void same_bits_for_any_number_of_threads(void)
{
	struct request *r = made(NR, 7);

	for (int own = 0; own < 2; own++) {
		struct buf direct, got;

		buf_init(&direct);
		profiles_of(-1, own, r, &direct);
		ok(direct.len > 1000);
		for (int threads = 0; threads < 5; threads++) {
			buf_init(&got);
			profiles_of(threads, own, r, &got);
			ok(got.len == direct.len && !memcmp(got.data, direct.data, got.len));
			buf_release(&got);
		}
		buf_release(&direct);
	}
	free(r);
}

static void settling_nothing_is_no_error(void)
{
	struct lanes *l;

	ok_int(lanes_new(&l, 2), 0);
	lanes_submit(l);
	ok_int(lanes_settle(l), 0);
	ok_int(lanes_settle(l), 0);
	lanes_free(l);
	lanes_free(NULL);
}

/*
 * Keeps all requests that complete at or after the end, period by period, and checks what comes
 * back.
 */
static void check_later(uint64_t window_ns, uint64_t mean_ns, uint64_t leap)
{
	struct request *r = made(5000, window_ns + mean_ns);
	struct slow_rng g = { 3 };
	uint64_t end_ns = window_ns, seen = 0;
	struct later l;
	size_t fed = 0;
	bool *taken = calloc(5000, sizeof(*taken));

	later_init(&l, window_ns);
	ok(later_first_ns(&l) == UINT64_MAX);
	for (size_t i = 0; i < 5000; i++) {
		r[i].completion_ns =
			r[i].arrival_ns + (uint64_t)slow_exponential(&g, (double)mean_ns);
		r[i].sector = i;
	}
	while (fed < 5000 || l.nr) {
		const struct request *due;
		uint64_t first = UINT64_MAX, last = 0;
		size_t nr, want = 0, right = 0;

		for (; fed < 5000 && r[fed].arrival_ns < end_ns; fed++) {
			if (r[fed].completion_ns < end_ns)
				taken[fed] = true, seen++;
			else if (later_keep(&l, &r[fed], end_ns))
				abort();
		}
		for (size_t i = 0; i < fed; i++)
			if (!taken[i] && r[i].completion_ns < first)
				first = r[i].completion_ns;
		ok(later_first_ns(&l) == first);
		end_ns += window_ns * (1 + slow_below(&g, leap));
		for (size_t i = 0; i < fed; i++)
			want += !taken[i] && r[i].completion_ns < end_ns;
		ok_int(later_take(&l, end_ns, &due, &nr), 0);
		ok_eq(nr, want);
		for (size_t i = 0; i < nr; i++) {
			right += due[i].completion_ns < end_ns && !taken[due[i].sector] &&
				 due[i].sector >= last;
			last = due[i].sector;
			taken[due[i].sector] = true;
		}
		ok_eq(right, nr);
		seen += nr;
	}
	ok_eq(seen, 5000);
	later_release(&l);
	free(taken);
	free(r);
}

static void later_requests_come_back_in_order(void)
{
	check_later(10000000, 300000, 1);     /* nearly all belong to the next period */
	check_later(1000000, 10000000, 1);    /* the next ten periods */
	check_later(1000000, 200000000, 1);   /* most beyond the lists */
	check_later(1000000, 200000000, 100); /* and periods are left out */
}

static const struct tap_test tests[] = {
	{ "windows have the same bits for any number of threads",
	  same_bits_for_any_number_of_threads },
	{ "to settle without orders is no error", settling_nothing_is_no_error },
	{ "later requests come back in order of arrival", later_requests_come_back_in_order },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
