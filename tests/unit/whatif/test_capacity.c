// SPDX-License-Identifier: Apache-2.0
/* Capacity: the closed forms of eq. 2 to 7, interpolation, intervals, profiles made by hand. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/whatif/capacity/capacity.h"
#include "tests/support/tap.h"

/* 4 KiB: C 20000, f_rw 4; 64 KiB: C 4000, f_rw 2. */
static void fill(struct capacity *c)
{
	capacity_add(c, 65536, 0, 2000, NAN, NULL);
	capacity_add(c, 4096, 1, 20000, NAN, NULL);
	capacity_add(c, 65536, 1, 4000, NAN, NULL);
	capacity_add(c, 4096, 0, 5000, NAN, NULL);
}

static void any_mix(void)
{
	struct capacity c = { 0 };
	struct capacity_value total;

	fill(&c);
	ok_int(capacity_finish(&c, NULL), 0);
	ok_eq(c.nr_sizes, 2);
	for (int percent = 0; percent <= 100; percent += 10) {
		struct capacity_part p = { .bytes = 4096,
					   .share = 1,
					   .read_ratio = percent / 100.0 };
		double k = 20000 / (percent + (100 - percent) * 4.0);

		ok_int(capacity_mix(&c, &p, 1, false, &total), 0);
		ok_ratio(total.value, 100 * k, 1e-14);
		ok_near(p.read_iops, k * percent, 1e-9);
		ok_near(p.write_iops, k * (100 - percent), 1e-9);
		ok_ratio(p.read_iops + p.at.f_rw * p.write_iops, 20000, 1e-14);
		ok(isnan(total.low));
	}
	capacity_release(&c);
}

static void sizes_together(void)
{
	struct capacity c = { 0 };
	struct capacity_value total;
	struct capacity_part p[2] = { { .bytes = 4096, .share = 0.6, .read_ratio = 0.7 },
				      { .bytes = 65536, .share = 0.4, .read_ratio = 0.5 } };
	double a = 20000 / (0.7 + 0.3 * 4), b = 4000 / (0.5 + 0.5 * 2);

	fill(&c);
	capacity_finish(&c, NULL);
	ok_int(capacity_mix(&c, p, 2, false, &total), 0);
	ok_ratio(total.value, 0.6 * a + 0.4 * b, 1e-14);
	ok_ratio(p[1].write_iops, 0.4 * b * 0.5, 1e-14);
	ok_int(capacity_mix(&c, p, 2, true, &total), 0);
	ok_ratio(total.value, 1 / (0.6 / a + 0.4 / b), 1e-14);
	ok_ratio(p[0].read_iops + p[0].write_iops, 0.6 * total.value, 1e-14);
	capacity_release(&c);
}

static void between_sizes(void)
{
	struct capacity c = { 0 };
	struct capacity_at at;

	fill(&c);
	capacity_finish(&c, NULL);
	capacity_at(&c, 16384, &at); /* half way on log size: geometric means */
	ok(at.interpolated && !at.extrapolated);
	ok_ratio(at.capacity, sqrt(20000.0 * 4000), 1e-12);
	ok_ratio(at.f_rw, sqrt(8.0), 1e-12);
	capacity_at(&c, 65536, &at);
	ok(!at.interpolated && at.capacity == 4000 && at.f_rw == 2);
	capacity_at(&c, 512, &at);
	ok(at.extrapolated);
	ok_ratio(at.capacity, 20000, 1e-12);
	capacity_at(&c, 262144, &at); /* the same bytes per second */
	ok(at.extrapolated);
	ok_ratio(at.capacity, 1000, 1e-12);
	ok_ratio(at.f_rw, 2, 1e-12);
	capacity_release(&c);
}

static void profile_make(struct profile *p, uint64_t reads, uint64_t writes)
{
	profile_init(p);
	p->begin_s = 100;
	p->end_s = 110;
	p->requests[OPERATION_READ] = reads;
	p->requests[OPERATION_WRITE] = writes;
	p->read.sizes = malloc(sizeof(*p->read.sizes));
	p->write.sizes = malloc(sizeof(*p->write.sizes));
	p->read.sizes[0] = (struct size_count){ 4096, reads };
	p->write.sizes[0] = (struct size_count){ 65536, writes };
	p->read.nr_sizes = p->write.nr_sizes = 1;
}

static void profiles_fit(void)
{
	struct capacity c = { 0 };
	struct profile p;
	struct load_facts two[2];
	struct capacity_use u;
	struct err err = { 0 };

	fill(&c);
	capacity_finish(&c, NULL);
	profile_make(&p, 50000, 5000); /* 5000/s of 20000/s, 500/s of 2000/s: half */
	load_facts_of(&p, &two[0]);
	two[1] = two[0];
	ok_int(capacity_use(&c, two, 1, &u, NULL), 0);
	ok_near(u.share.value, 0.5, 1e-14);
	ok_near(u.rate_per_s, 5500, 1e-9);
	ok_eq(u.requests, 55000);
	ok_int(capacity_use(&c, two, 2, &u, NULL), 0);
	ok_near(u.share.value, 1.0, 1e-14);
	p.requests[OPERATION_READ] = 60000; /* 10000 of sizes nobody counted are as the others */
	load_facts_of(&p, &two[0]);
	ok_int(capacity_use(&c, two, 1, &u, NULL), 0);
	ok_near(u.share.value, 0.55, 1e-12);
	p.read.nr_sizes = 0;
	load_facts_of(&p, &two[0]);
	ok_int(capacity_use(&c, two, 1, &u, &err), -EINVAL);
	ok_str(err.line, "the sizes of the reads of load 1 are unknown");
	p.read.size_mean_bytes = 4096;
	load_facts_of(&p, &two[0]);
	ok_int(capacity_use(&c, two, 1, &u, NULL), 0);
	ok_near(u.share.value, 0.55, 1e-12);
	profile_release(&p);
	capacity_release(&c);
}

/* The share a profile uses, and its own mix at capacity, are the same thing turned round. */
static void a_profile_at_capacity_uses_all(void)
{
	struct capacity c = { 0 };
	struct capacity_part p[2] = { { .bytes = 4096, .share = 0.75, .read_ratio = 1 },
				      { .bytes = 65536, .share = 0.25, .read_ratio = 0 } };
	struct capacity_value total;
	struct profile f;
	struct load_facts one;
	struct capacity_use u;

	fill(&c);
	capacity_finish(&c, NULL);
	capacity_mix(&c, p, 2, false, &total);
	profile_make(&f, (uint64_t)llround(10 * p[0].read_iops),
		     (uint64_t)llround(10 * p[1].write_iops));
	load_facts_of(&f, &one);
	ok_int(capacity_use(&c, &one, 1, &u, NULL), 0);
	ok_near(u.share.value, 1, 1e-12);
	profile_release(&f);
	capacity_release(&c);
}

/* Normal measurements around a known truth: nine in ten intervals hold it. */
static void intervals_cover(void)
{
	struct capacity_part part = { .bytes = 16384, .share = 1, .read_ratio = 0.7 };
	double truth = 1 / (0.7 / sqrt(20000.0 * 4000) + 0.3 / sqrt(5000.0 * 2000));
	unsigned int held = 0, runs = 4000;
	struct rng rng;

	rng_seed(&rng, 11);
	for (unsigned int i = 0; i < runs; i++) {
		struct capacity c = { 0 };
		struct capacity_value v;

		for (int k = 0; k < 5; k++) {
			capacity_add(&c, 4096, 1, 20000 * (1 + 0.05 * rng_normal(&rng)), NAN, NULL);
			capacity_add(&c, 4096, 0, 5000 * (1 + 0.05 * rng_normal(&rng)), NAN, NULL);
			capacity_add(&c, 65536, 1, 4000 * (1 + 0.02 * rng_normal(&rng)), NAN, NULL);
			capacity_add(&c, 65536, 0, 2000 * (1 + 0.08 * rng_normal(&rng)), NAN, NULL);
		}
		capacity_finish(&c, NULL);
		capacity_mix(&c, &part, 1, false, &v);
		held += v.low <= truth && truth <= v.high;
		capacity_release(&c);
	}
	tap_note("held by %u of %u intervals", held, runs);
	ok_near((double)held / runs, 0.9, 0.02);
}

static void further_mixes(void)
{
	struct capacity c = { 0 };
	struct capacity_check check[8];

	fill(&c);
	capacity_add(&c, 4096, 0.5, 8000, NAN, NULL);  /* as eq. 6 says */
	capacity_add(&c, 65536, 0.5, 2400, NAN, NULL); /* 4000 / 1.5 says eq. 6: a tenth less */
	capacity_finish(&c, NULL);
	ok_eq(capacity_check(&c, check), 2);
	ok_near(check[0].deviation_ratio, 0, 1e-14);
	ok_near(check[0].error_ratio, 0, 1e-14);
	ok_near(check[1].capacity, 3600, 1e-9);
	ok_near(check[1].deviation_ratio, -0.1, 1e-12);
	ok_near(check[1].predicted, 4000 / 1.5, 1e-9);
	ok_near(check[1].error_ratio, 1.0 / 9, 1e-12);
	capacity_release(&c);
}

static void refusals(void)
{
	struct capacity c = { 0 };
	struct err err = { 0 };

	ok_int(capacity_add(&c, 4096, 1, 0, NAN, &err), -EINVAL);
	ok_int(capacity_add(&c, 0, 1, 1, NAN, &err), -EINVAL);
	ok_int(capacity_add(&c, 4096, 1.5, 1, NAN, &err), -EINVAL);
	ok_int(capacity_add(&c, 4096, NAN, 1, NAN, &err), -EINVAL);
	ok_int(capacity_finish(&c, &err), -EINVAL);
	capacity_add(&c, 4096, 1, 100, NAN, NULL);
	ok_int(capacity_finish(&c, &err), -EINVAL);
	ok_str(err.line, "4096 bytes: not measured with writes alone");
	capacity_release(&c);
}

static const struct tap_test tests[] = {
	{ "any mix of one size is eq. 6", any_mix },
	{ "sizes together are eq. 7, or its harmonic twin", sizes_together },
	{ "between measured sizes T is a line on log size", between_sizes },
	{ "a profile uses the sum of its rates' shares", profiles_fit },
	{ "a load at capacity uses all of it", a_profile_at_capacity_uses_all },
	{ "intervals hold the truth as often as they say", intervals_cover },
	{ "C at further mixes is compared with that of reads", further_mixes },
	{ "what was not measured is named", refusals },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
