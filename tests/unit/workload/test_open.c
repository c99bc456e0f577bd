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

static const struct tap_test tests[] = {
	{ "mean, SCV and autocorrelation are those of their definitions", against_definitions },
	{ "a poisson stream has SCV one and no autocorrelation", poisson },
	{ "a clock has SCV zero, however late in time", clockwork },
	{ "an arrival out of order counts as simultaneous with the latest", disorder },
	{ "too few arrivals give unknown", too_few },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
