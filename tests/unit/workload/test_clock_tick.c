/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "tests/support/tap.h"
#include "workload/clock_tick.h"
#include "workload/window.h"

#define NR 1000
#define MS 1000000ull

static void fill(struct request r[NR], uint64_t begin_ns, uint64_t step_ns, uint32_t flags)
{
	uint64_t at = begin_ns;

	for (size_t i = 0; i < NR; i++) {
		at += step_ns * (i * 2654435761u >> 7 & 7); /* 0 to 7 steps */
		r[i] = (struct request){ .arrival_ns = at,
					 .dispatch_ns = at,
					 .completion_ns = at,
					 .bytes = 4096,
					 .sector = i * 8,
					 .flags = flags };
	}
}

static void finds_the_step(void)
{
	static const uint64_t steps[] = { 1, 7, 100, 1000, MS, 1000 * MS };
	struct request r[NR];

	for (size_t i = 0; i < TAP_NR(steps); i++) {
		struct clock_tick t = { 0 };

		fill(r, 123456789, steps[i], 0);
		clock_tick_add_many(&t, r, NR);
		ok_eq(t.step_ns, steps[i]);
		ok_near(clock_tick_resolution_s(&t), (double)steps[i] / 1e9, 0);
	}
}

static void too_few_tell_nothing(void)
{
	struct clock_tick t = { 0 };
	struct request r[NR];

	fill(r, 0, 1000 * MS, 0);
	clock_tick_add_many(&t, r, 8);
	ok(isnan(clock_tick_resolution_s(&t)));
	ok(clock_tick_hides(&t, 0.5));
	for (size_t i = 0; i < NR; i++)
		r[i].arrival_ns = 77;
	memset(&t, 0, sizeof(t));
	clock_tick_add_many(&t, r, NR);
	ok(isnan(clock_tick_resolution_s(&t)));
	ok(clock_tick_hides(&t, 1e6)); /* all at one instant */
}

static struct profile profile_of(const struct request *r, uint64_t end_ns)
{
	struct window_config config = { 0 };
	struct window *w = NULL;
	struct profile p;

	profile_init(&p);
	ok_int(window_new(&w, &config, 0), 0);
	ok_int(window_add_many(w, r, NR), 0);
	ok_int(window_profile(w, end_ns, &p), 0);
	p.begin_s = 0;
	p.end_s = (double)end_ns / 1e9;
	window_free(w);
	return p;
}

static void coarse_clock_refuses(void)
{
	char why[PROFILE_WHY_BYTES];
	struct request r[NR];
	struct profile p;

	/* 3.5 ms apart on average on a clock of 100 ms */
	fill(r, 0, 100 * MS, 0);
	for (size_t i = 0; i < NR; i++)
		r[i].arrival_ns = r[i].dispatch_ns = r[i].completion_ns =
			r[i].arrival_ns / 100 / (100 * MS) * (100 * MS);
	p = profile_of(r, 4000 * MS);
	ok_near(p.open.clock_resolution_s, 0.1, 0);
	ok(isnan(p.open.idc[0].idc));
	ok(!isnan(p.open.idc[1].idc)); /* 100 ms: 40 windows */
	ok(isnan(p.open.interarrival_scv) && isnan(p.open.lag1_autocorrelation));
	ok(!isnan(p.open.rate_per_s) && !isnan(p.open.interarrival_mean_s));
	ok_str(profile_refused(&p, why),
	       "The clock of the arrivals counts in steps of 0.1 s: the variation of interarrival "
	       "times and burstiness in shorter windows cannot be told.");
	profile_release(&p);
	/* the same on a fine clock */
	fill(r, 0, 1000003, 0);
	p = profile_of(r, 4000 * MS);
	ok(!isnan(p.open.idc[0].idc) && !isnan(p.open.interarrival_scv));
	ok(profile_refused(&p, why) == NULL);
	profile_release(&p);
}

static void order_alone_has_no_intensity(void)
{
	struct request r[NR];
	struct profile p;

	fill(r, 0, 1000, REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION);
	p = profile_of(r, 4 * MS);
	ok(isnan(p.open.rate_per_s) && isnan(p.open.interarrival_mean_s));
	ok(isnan(p.open.interarrival_scv) && isnan(p.open.clock_resolution_s));
	for (size_t i = 0; i < p.open.nr_idc; i++)
		ok(isnan(p.open.idc[i].idc));
	profile_release(&p);
}

static const struct tap_test tests[] = {
	{ "the step of a clock is found", finds_the_step },
	{ "from too few arrivals nothing is told", too_few_tell_nothing },
	{ "a coarse clock makes burstiness below it unknown, and says why", coarse_clock_refuses },
	{ "requests in order without times have no intensity", order_alone_has_no_intensity },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
