// SPDX-License-Identifier: Apache-2.0
/* How far response times of two runs differ by chance, against runs that are really drawn. */
#include <math.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/models/storage/device/device_load.h"
#include "tests/support/tap.h"

#define NR_PAIRS 2000

/* Draws response times with a mean of 2 ms: constant, exponential, or of two kinds. */
static double draw_s(struct rng *r, int kind)
{
	if (kind == 0)
		return 0.002;
	if (kind == 1)
		return -0.002 * log(rng_open(r));
	return rng_uniform(r) < 0.9 ? 0.001 : 0.011;
}

static void draw_run(struct rng *r, int kind, int nr, struct device_times *t)
{
	*t = (struct device_times){ .elapsed_s = 1 };
	for (int i = 0; i < nr; i++)
		if (device_times_add(t, DEVICE_READ, draw_s(r, kind)))
			ok(!"device_times_add");
}

/* Returns the share of pairs of runs that differ by no more than the bound of the first one. */
static double kept_ratio(int kind, int nr, enum device_point point)
{
	struct rng r;
	int kept = 0;

	rng_seed(&r, (uint64_t)(1 + kind * 10 + nr));
	for (int i = 0; i < NR_PAIRS; i++) {
		struct device_times a, b;

		draw_run(&r, kind, nr, &a);
		draw_run(&r, kind, nr, &b);
		kept += fabs(log(device_times_at(&a, DEVICE_READ, point) /
				 device_times_at(&b, DEVICE_READ, point))) <=
			device_times_chance(&a, DEVICE_READ, point);
		device_times_release(&a);
		device_times_release(&b);
	}
	return (double)kept / NR_PAIRS;
}

/* Nine in ten; of 2000 pairs 0.02 is three standard deviations, and the bound itself is drawn. */
static void nine_in_ten(void)
{
	static const struct {
		int kind, nr;
		enum device_point point;
		double least, most;
	} cases[] = {
		{ 1, 100, DEVICE_MEAN, 0.87, 0.93 },  { 1, 1000, DEVICE_MEAN, 0.87, 0.93 },
		{ 2, 1000, DEVICE_MEAN, 0.87, 0.93 }, { 1, 400, DEVICE_P50, 0.85, 0.97 },
		{ 1, 1000, DEVICE_P95, 0.85, 0.97 },  { 1, 4, DEVICE_MEAN, 0.85, 1 },
		{ 0, 4, DEVICE_MEAN, 1, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double kept = kept_ratio(cases[i].kind, cases[i].nr, cases[i].point);

		tap_note("kind %d, %d requests, point %d: %.3f", cases[i].kind, cases[i].nr,
			 cases[i].point, kept);
		ok(kept >= cases[i].least && kept <= cases[i].most);
	}
}

/* Many equal times leave nothing to chance, few of them do; without requests there is no bound. */
static void few_and_many(void)
{
	struct device_times t;
	struct rng r;

	rng_seed(&r, 1);
	draw_run(&r, 0, 0, &t);
	ok_near(device_times_chance(&t, DEVICE_READ, DEVICE_MEAN), 0, 0);
	device_times_release(&t);
	draw_run(&r, 0, 1, &t);
	ok(device_times_chance(&t, DEVICE_READ, DEVICE_MEAN) > 1);
	device_times_release(&t);
	draw_run(&r, 0, 20000, &t);
	ok(device_times_chance(&t, DEVICE_READ, DEVICE_MEAN) < 0.001);
	ok(device_times_chance(&t, DEVICE_READ, DEVICE_P95) < 0.025);
	device_times_release(&t);
}

static const struct tap_test tests[] = {
	{ "nine in ten pairs of runs differ by no more than the bound", nine_in_ten },
	{ "few requests leave much to chance, many equal ones nothing", few_and_many },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
