/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "workload/clock_tick.h"

#define NO_TIME (REQUEST_NO_ARRIVAL | REQUEST_NO_DISPATCH | REQUEST_NO_COMPLETION)

static uint64_t clock_tick_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void clock_tick_join(struct clock_tick *t, uint64_t apart_ns)
{
	if (t->step_ns == 0 || apart_ns % t->step_ns)
		t->step_ns = clock_tick_gcd(t->step_ns, apart_ns);
}

static uint64_t clock_tick_distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void clock_tick_add_many(struct clock_tick *t, const struct request *r, size_t nr)
{
	/* A step of 1 ns cannot become finer, so further arrivals need not be looked at. */
	if (t->step_ns == 1 && t->nr_apart >= CLOCK_TICK_MIN_GAPS)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (t->nr++ == 0)
			t->first_ns = t->latest_ns = r[i].arrival_ns;
		t->nr_timeless += (r[i].flags & NO_TIME) == NO_TIME;
		t->nr_apart += r[i].arrival_ns != t->latest_ns;
		t->latest_ns = r[i].arrival_ns;
		clock_tick_join(t, clock_tick_distance(r[i].arrival_ns, t->first_ns));
	}
}

bool clock_tick_timeless(const struct clock_tick *t)
{
	return t->nr_timeless > t->nr / 2;
}

double clock_tick_resolution_s(const struct clock_tick *t)
{
	if (t->nr_apart < CLOCK_TICK_MIN_GAPS || clock_tick_timeless(t))
		return NAN;
	return (double)t->step_ns / 1e9;
}

bool clock_tick_hides(const struct clock_tick *t, double span_s)
{
	if (t->nr < 2)
		return false;
	return clock_tick_timeless(t) || t->step_ns == 0 || span_s * 1e9 < (double)t->step_ns;
}
