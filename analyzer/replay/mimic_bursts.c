// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/mimic_bursts.h"

#include <errno.h>
#include <math.h>

#include "analyzer/models/num/mmpp2.h"

#define WINDOWS_MAX 16 /* largest number of points of the dispersion; profiles have four */

bool mimic_bursts_fit(struct mimic_bursts *b, const struct idc_point *idc, size_t nr,
		      double rate_per_s, double scv)
{
	double window_s[WINDOWS_MAX], value[WINDOWS_MAX];
	struct mmpp2_aims aims = { .rate_per_s = rate_per_s,
				   .scv = scv,
				   .lag1 = NAN,
				   .window_s = window_s,
				   .idc = value };
	struct mmpp2_fit fit;
	struct err ignored;
	int ret;

	for (; aims.nr < nr && aims.nr < WINDOWS_MAX; aims.nr++) {
		window_s[aims.nr] = idc[aims.nr].window_s;
		value[aims.nr] = idc[aims.nr].idc;
	}
	ret = mmpp2_fit(&fit, &aims, &ignored);
	if (ret == -ERANGE && !(fit.met & MMPP2_SCV)) {
		/*
		 * The process with the nearest variation may be degenerate; the dispersion is more
		 * important.
		 */
		aims.scv = NAN;
		mmpp2_fit(&fit, &aims, &ignored);
	}
	if (ret == -EINVAL)
		return false;
	*b = (struct mimic_bursts){ .on_rate_per_s = fit.process.rate_per_s[0],
				    .off_rate_per_s = fit.process.rate_per_s[1],
				    .on_s = 1 / fit.process.leave_per_s[0],
				    .off_s = 1 / fit.process.leave_per_s[1],
				    .exact = !ret };
	return true;
}

static struct mmpp2 mimic_bursts_process(const struct mimic_bursts *b)
{
	return (struct mmpp2){ { b->on_rate_per_s, b->off_rate_per_s },
			       { 1 / b->on_s, 1 / b->off_s } };
}

double mimic_bursts_rate(const struct mimic_bursts *b)
{
	const struct mmpp2 m = mimic_bursts_process(b);

	return mmpp2_rate_per_s(&m);
}

static double mimic_bursts_exponential(struct rng *rng, double mean)
{
	return -mean * log(rng_open(rng));
}

/* Enters a state at the current time. */
static void mimic_arrivals_enter(struct mimic_arrivals *a, bool on)
{
	a->on = on;
	a->until_s =
		a->at_s + mimic_bursts_exponential(&a->rng, on ? a->bursts.on_s : a->bursts.off_s);
}

void mimic_arrivals_begin(struct mimic_arrivals *a, const struct mimic_bursts *b, struct rng rng)
{
	a->bursts = *b;
	a->rng = rng;
	a->at_s = 0;
	mimic_arrivals_enter(a, rng_uniform(&a->rng) * (b->on_s + b->off_s) < b->on_s);
}

double mimic_arrivals_next(struct mimic_arrivals *a)
{
	const struct mimic_bursts *b = &a->bursts;

	/*
	 * The process is memoryless: after a change of state the time to the next arrival is drawn
	 * again.
	 */
	for (;;) {
		double rate = a->on ? b->on_rate_per_s : b->off_rate_per_s;
		double next = INFINITY;

		if (rate > 0)
			next = a->at_s + mimic_bursts_exponential(&a->rng, 1 / rate);
		if (next <= a->until_s) {
			a->at_s = next;
			return next;
		}
		a->at_s = a->until_s;
		mimic_arrivals_enter(a, !a->on);
	}
}
