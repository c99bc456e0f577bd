/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "tests/literal/slow_arrivals.h"
#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/idc.h"

#define SECOND	 1000000000ull
#define BEGIN_NS (12 * SECOND + 3456789) /* on no multiple of any window */

struct stream {
	struct request *r;
	uint64_t *arrival_ns;
	size_t nr;
	uint64_t end_ns;
};

static void release(struct stream *s)
{
	free(s->r);
	free(s->arrival_ns);
}

static void append(struct stream *s, uint64_t arrival_ns)
{
	s->r[s->nr] = slow_request(arrival_ns, 0);
	s->arrival_ns[s->nr++] = arrival_ns;
}

static struct stream stream_with_room(size_t nr)
{
	struct stream s = { .r = malloc(nr * sizeof(*s.r)),
			    .arrival_ns = malloc(nr * sizeof(*s.arrival_ns)) };

	if (!s.r || !s.arrival_ns)
		abort();
	return s;
}

static struct stream poisson(uint64_t seconds, double rate_per_s, uint64_t seed)
{
	struct stream s = stream_with_room((size_t)((double)seconds * rate_per_s * 1.2) + 100);
	struct slow_rng g = { seed };
	uint64_t now = BEGIN_NS;

	s.end_ns = BEGIN_NS + seconds * SECOND;
	while ((now += (uint64_t)slow_exponential(&g, 1e9 / rate_per_s)) < s.end_ns)
		append(&s, now);
	return s;
}

/* Quiet and busy phases of 200 ms on average, rates 100 and 2000 per second. */
static struct stream bursty(uint64_t seconds, uint64_t seed)
{
	struct stream s = stream_with_room(seconds * 3000);
	struct slow_rng g = { seed };
	uint64_t now = BEGIN_NS, phase_end = now;
	double rate = 100;

	s.end_ns = BEGIN_NS + seconds * SECOND;
	while (now < s.end_ns && s.nr < seconds * 3000) {
		now += (uint64_t)slow_exponential(&g, 1e9 / rate);
		if (now >= phase_end) {
			now = phase_end;
			phase_end += (uint64_t)slow_exponential(&g, 2e8);
			rate = rate < 1000 ? 2000 : 100;
		} else if (now < s.end_ns) {
			append(&s, now);
		}
	}
	return s;
}

static void same_as_slow(const struct idc *d, const struct stream *s)
{
	for (unsigned int i = 0; i < IDC_NR_SCALES; i++) {
		double want = slow_idc(s->arrival_ns, s->nr, idc_window_ns[i], BEGIN_NS, s->end_ns,
				       IDC_MIN_BINS);

		if (isnan(want))
			ok(isnan(idc_at(d, i, s->end_ns)));
		else
			ok_ratio(idc_at(d, i, s->end_ns), want, 1e-9);
	}
}

static void poisson_is_one(void)
{
	struct stream s = poisson(4000, 400, 1);
	static struct idc d;

	idc_init(&d, BEGIN_NS);
	idc_add_many(&d, s.r, s.nr);
	for (unsigned int i = 0; i < IDC_NR_SCALES; i++) {
		double bins = 4000e9 / (double)idc_window_ns[i];

		/* Four standard errors of a variance, sqrt(2 / bins) each. */
		ok_near(idc_at(&d, i, s.end_ns), 1, 4 * sqrt(2 / bins));
	}
	same_as_slow(&d, &s);
	release(&s);
}

static void bursty_grows(void)
{
	struct stream s = bursty(1000, 2);
	static struct idc d;
	double last = 1.5;

	idc_init(&d, BEGIN_NS);
	idc_add_many(&d, s.r, s.nr);
	for (unsigned int i = 0; i < 3; i++) {
		ok(idc_at(&d, i, s.end_ns) > last);
		last = 2 * idc_at(&d, i, s.end_ns);
	}
	same_as_slow(&d, &s);
	release(&s);
}

static void clock_is_zero(void)
{
	struct stream s = stream_with_room(40000);
	static struct idc d;

	s.end_ns = BEGIN_NS + 40 * SECOND;
	for (uint64_t i = 0; i < 40000; i++)
		append(&s, BEGIN_NS + i * 1000000);
	idc_init(&d, BEGIN_NS);
	idc_add_many(&d, s.r, s.nr);
	ok_near(idc_at(&d, 0, s.end_ns), 0, 1e-12);
	ok(isnan(idc_at(&d, 3, s.end_ns)));
	release(&s);
}

static void long_silence(void)
{
	static struct idc d;
	struct request r = slow_request(BEGIN_NS, 0);

	idc_init(&d, BEGIN_NS);
	idc_add_many(&d, &r, 1);
	r.arrival_ns += 1ull << 62;
	idc_add_many(&d, &r, 1);
	r.arrival_ns = 0;
	idc_add_many(&d, &r, 1);
	ok(idc_at(&d, 0, BEGIN_NS + (1ull << 62) + SECOND) >= 0);
	idc_init(&d, BEGIN_NS);
	ok(isnan(idc_at(&d, 0, BEGIN_NS + 100 * SECOND)));
}

/* One arrival in each bin: those long past are known as a sum alone. */
static void period_ends_in_closed_bins(void)
{
	struct idc d;

	idc_init(&d, 0);
	for (uint64_t i = 0; i < 1000; i++) {
		struct request r = slow_request(i * idc_window_ns[0] + 1, 0);

		idc_add_many(&d, &r, 1);
	}
	ok(isnan(idc_at(&d, 0, 500 * idc_window_ns[0])));
	ok_near(idc_at(&d, 0, 1000 * idc_window_ns[0]), 0, 0);
	ok_near(idc_at(&d, 0, 900 * idc_window_ns[0]), 0, 0);
}

static const struct tap_test tests[] = {
	{ "idc of a poisson stream is one at every window", poisson_is_one },
	{ "idc of a bursty stream grows with the window", bursty_grows },
	{ "idc of a clock is zero, and unknown with too few windows", clock_is_zero },
	{ "a silence of a century and a time before the period are borne", long_silence },
	{ "a period that ends where bins are closed is unknown", period_ends_in_closed_bins },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
