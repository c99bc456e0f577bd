/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "tests/literal/slow_arrivals.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/open.h"

#define NR 100000

/* Gaps whose mean follows the one before: correlated. */
static void correlated(struct request *r, uint64_t *arrival_ns, size_t nr, uint64_t seed)
{
	struct slow_rng g = { seed };
	uint64_t now = 1000000000;
	double mean = 10000;

	for (size_t i = 0; i < nr; i++) {
		double x = slow_exponential(&g, mean);

		mean = 0.5 * mean + 0.4 * x + 1000;
		now += (uint64_t)x;
		r[i] = slow_request(now, i * 8);
		arrival_ns[i] = now;
	}
}

static void against_definitions(void)
{
	static struct request r[NR];
	static uint64_t arrival_ns[NR];
	struct open o = { 0 };

	correlated(r, arrival_ns, NR, 1);
	open_add_many(&o, r, NR);
	/* The slow version's doubles lose more digits than the integers: 1e-9 is theirs. */
	ok_ratio(open_interarrival_mean_s(&o), slow_interarrival_mean_s(arrival_ns, NR), 1e-9);
	ok_ratio(open_interarrival_scv(&o), slow_interarrival_scv(arrival_ns, NR), 1e-9);
	ok_ratio(open_lag1_autocorrelation(&o), slow_lag1_autocorrelation(arrival_ns, NR), 1e-9);
	ok(open_lag1_autocorrelation(&o) > 0.05);
	ok_near(open_rate_per_s(&o, 2), NR / 2.0, 1e-9);
	ok(isnan(open_rate_per_s(&o, 0)));
}

static void same(const struct open *a, const struct open *b)
{
	ok_eq(a->nr, b->nr);
	ok_eq(a->sum_ns, b->sum_ns);
	ok(a->sum_squares == b->sum_squares);
	ok(a->sum_products == b->sum_products);
	ok_near(open_lag1_autocorrelation(a), open_lag1_autocorrelation(b), 0);
}

static void merge_is_whole(void)
{
	static struct request r[NR];
	static uint64_t arrival_ns[NR];
	static const size_t cuts[] = { 0, 1, 2, 3, 50000, NR - 2, NR - 1, NR };
	struct open whole = { 0 };

	correlated(r, arrival_ns, NR, 2);
	open_add_many(&whole, r, NR);
	for (size_t i = 0; i < TAP_NR(cuts); i++) {
		struct open a = { 0 }, b = { 0 }, c;

		open_add_many(&a, r, cuts[i]);
		open_add_many(&b, r + cuts[i], NR - cuts[i]);
		c = b;
		open_merge(&c, &a); /* the other way round */
		open_merge(&a, &b);
		same(&a, &whole);
		same(&c, &whole);
	}
}

static void poisson(void)
{
	struct slow_rng g = { 3 };
	struct open o = { 0 };
	uint64_t now = 0;

	for (size_t i = 0; i < 200000; i++) {
		struct request r = slow_request(now += (uint64_t)slow_exponential(&g, 1e5), 0);

		open_add_many(&o, &r, 1);
	}
	/* Standard errors: sqrt(8 / n) = 0.006 of the SCV, 1 / sqrt(n) = 0.002; four of them. */
	ok_near(open_interarrival_scv(&o), 1, 0.025);
	ok_near(open_lag1_autocorrelation(&o), 0, 0.009);
}

static void clockwork(void)
{
	struct open o = { 0 };

	for (uint64_t i = 0; i < 1000; i++) {
		struct request r = slow_request(1ull << 60 | i * 12345, 0);

		open_add_many(&o, &r, 1);
	}
	ok_near(open_interarrival_scv(&o), 0, 0);
	ok(isnan(open_lag1_autocorrelation(&o)));
	ok_near(open_interarrival_mean_s(&o), 12345e-9, 1e-18);
}

static void disorder(void)
{
	static const uint64_t arrival_ns[] = { 100, 200, 150, 300, 50 };
	struct open o = { 0 };

	for (size_t i = 0; i < TAP_NR(arrival_ns); i++) {
		struct request r = slow_request(arrival_ns[i], 0);

		open_add_many(&o, &r, 1);
	}
	ok_eq(o.nr_gaps, 4);
	ok_eq(o.sum_ns, 200); /* 100, 0, 100, 0 */
	ok_eq(o.first_ns, 50);
	ok_eq(o.last_ns, 300);
}

static void side_by_side(void)
{
	static struct request r[NR];
	static uint64_t arrival_ns[NR];
	struct open a = { 0 }, b = { 0 };

	correlated(r, arrival_ns, NR, 4);
	for (size_t i = 0; i < NR; i++)
		open_add_many(i % 2 ? &a : &b, &r[i], 1);
	open_merge(&a, &b);
	ok_eq(a.nr, NR);
	ok_ratio(open_interarrival_mean_s(&a), slow_interarrival_mean_s(arrival_ns, NR), 1e-9);
	ok(isnan(open_interarrival_scv(&a)) && isnan(open_lag1_autocorrelation(&a)));
}

static void too_few(void)
{
	struct open o = { 0 };
	struct request r = slow_request(5, 0);

	ok(isnan(open_interarrival_mean_s(&o)) && isnan(open_interarrival_scv(&o)));
	open_add_many(&o, &r, 1);
	ok(isnan(open_interarrival_mean_s(&o)));
	open_add_many(&o, &r, 1);
	ok_near(open_interarrival_mean_s(&o), 0, 0);
	open_add_many(&o, &r, 1);
	ok(isnan(open_interarrival_scv(&o)) && isnan(open_lag1_autocorrelation(&o)));
}

static void superposed_stays(void)
{
	static struct request r[300];
	struct open a = { 0 }, b = { 0 }, early = { 0 };

	for (size_t i = 0; i < TAP_NR(r); i++)
		r[i] = slow_request(1000000 + i % 100 * (1000 + i % 7), 0);
	open_add_many(&a, r, 100);
	open_add_many(&b, r + 100, 100);
	open_merge(&a, &b); /* side by side */
	ok(isnan(open_interarrival_scv(&a)));
	for (size_t i = 200; i < TAP_NR(r); i++)
		r[i].arrival_ns -= 900000;
	open_add_many(&early, r + 200, 100);
	ok(!isnan(open_interarrival_scv(&early)));
	open_merge(&early, &a);
	ok(isnan(open_interarrival_scv(&early)));
	ok(isnan(open_lag1_autocorrelation(&early)));
	ok_eq(early.nr, 300);
}

static const struct tap_test tests[] = {
	{ "mean, SCV and autocorrelation are those of their definitions", against_definitions },
	{ "two parts merged are the whole to the last bit, wherever the cut", merge_is_whole },
	{ "a poisson stream has SCV one and no autocorrelation", poisson },
	{ "a clock has SCV zero, however late in time", clockwork },
	{ "an arrival out of order counts as simultaneous with the latest", disorder },
	{ "streams side by side keep the mean and lose what cannot be known", side_by_side },
	{ "too few arrivals give unknown", too_few },
	{ "what was merged side by side stays unknown in later merges", superposed_stays },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
