// SPDX-License-Identifier: Apache-2.0
/* The system under study as a whole: bounds, laws and hit ratios that must hold of any system. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/system-under-study/scenarios.h"
#include "tests/system-under-study/sus.h"
#include "tests/support/tap.h"

static const struct sus_params params = SUS_PARAMS;

static struct load one(bool write, bool sequential, uint32_t clients, uint32_t size, double gb)
{
	return (struct load){ .nr_vms = 1,
			      .nr_classes = 1,
			      .files = { scenario_files(gb) },
			      .classes = { { .write = write,
					     .sequential = sequential,
					     .clients = clients,
					     .size_bytes = size } } };
}

static bool run(struct sus_result *r, const struct load *l, uint64_t seed)
{
	struct sus_options o = SUS_OPTIONS;

	o.seed = seed;
	o.max_requests = 200000;
	return ok(!sus_run(r, &params, l, &o));
}

/* Nobody else is there: the sum of what is on the way. */
static void one_client(void)
{
	struct load l = one(false, false, 1, 8192, 1.25);
	struct sus_result r;

	if (!run(&r, &l, 1))
		return;
	ok_ratio(r.classes[0].mean_s,
		 params.path_s + params.channel_s + params.read_s + 2 * params.read_page_s +
			 8192 / params.link_bytes_per_s,
		 0.002);
	sus_result_release(&r);
	l.classes[0].write = true;
	if (!run(&r, &l, 1))
		return;
	ok_ratio(r.classes[0].mean_s,
		 params.path_s + params.channel_s + params.write_s + 2 * params.write_page_s +
			 8192 / params.link_bytes_per_s,
		 0.002);
	sus_result_release(&r);
}

/* Many clients: the busiest resource sets the rate, and N = X R. */
static void saturation(void)
{
	const struct {
		bool write;
		uint32_t size;
		double rate;
	} k[] = { { false, 4096, 1 / params.channel_s },
		  { false, 65536, params.link_bytes_per_s / 65536 },
		  { true, 4096, params.processors / (params.write_s + params.write_page_s) },
		  { true, 65536, params.link_bytes_per_s / 65536 } };

	for (int i = 0; i < 4; i++) {
		struct load l = one(k[i].write, false, 100, k[i].size, 1.25);
		struct sus_result r;

		if (!run(&r, &l, 2))
			return;
		ok_ratio(r.classes[0].throughput, k[i].rate, 0.005);
		ok_ratio(r.classes[0].throughput * r.classes[0].mean_s, 100, 0.005);
		sus_result_release(&r);
	}
}

/*
 * Files drawn uniformly from 160 GB, 50 GB cached; 256 places of 4096 drawn in each file, so that a
 * request finds a place of the same visit with the mean over i < 256 of 1 - (1 - 1/4096)^i.
 */
static void hit_ratio(void)
{
	struct load l = one(false, false, 60, 4096, 160);
	double cached = 50.0 / 160, again = 0;
	struct sus_result r;

	for (int i = 0; i < 256; i++)
		again += (1 - pow(1 - 1 / 4096.0, i)) / 256;
	if (!run(&r, &l, 3))
		return;
	ok_near(r.hit_ratio, cached + (1 - cached) * again, 0.03);
	ok(r.disk_utilization <= 1);
	ok_eq(r.counts.disk_writes, 0);
	ok_ratio(r.counts.staged, r.counts.read_pages - r.counts.hit_pages, 0.05);
	sus_result_release(&r);
	l = one(false, false, 60, 65536, 40);
	if (!run(&r, &l, 3))
		return;
	ok_near(r.hit_ratio, 1, 0);
	ok_eq(r.counts.disk_reads, 0);
	sus_result_release(&r);
}

static void prefetching(void)
{
	struct load l = one(false, true, 20, 16384, 160);
	struct sus_result r;

	if (!run(&r, &l, 4))
		return;
	/* Two requests of 256 begin a stream; the rest should be there, or at least under way. */
	ok(r.hit_ratio > 0.85);
	/* Staged for nothing: at most one lot beyond the end of each stream. */
	ok((double)r.counts.staged <
	   (double)r.counts.read_pages * (1 + params.prefetch_most / (256.0 * 4)));
	sus_result_release(&r);
}

/* Small random writes beyond the caches: RAID-5's work bounds them, and the disks are busy. */
static void destaging(void)
{
	struct load l = one(true, false, 50, 4096, 160);
	struct sus_result r;

	if (!run(&r, &l, 5))
		return;
	ok(r.disk_utilization > 0.8 && r.disk_utilization <= 1);
	ok(r.counts.delayed_writes > 0);
	/* Stripes of few dirty pages: as many reads as writes, two at least. */
	ok(r.counts.disk_writes >= 2 * r.counts.destaged);
	ok(r.counts.disk_reads >= 2 * r.counts.destaged);
	ok(r.classes[0].throughput < 0.2 / (params.write_s / params.processors));
	sus_result_release(&r);
	l = one(true, false, 50, 4096, 1.25);
	if (!run(&r, &l, 5))
		return;
	ok_eq(r.counts.disk_writes, 0);
	sus_result_release(&r);
}

static void preference(void)
{
	struct load l = one(false, false, 40, 4096, 1.25);
	struct sus_result r;

	l.nr_classes = 2;
	l.classes[1] = (struct load_class){ .write = true, .clients = 40, .size_bytes = 4096 };
	if (!run(&r, &l, 6))
		return;
	ok(r.classes[1].mean_s > 1.5 * r.classes[0].mean_s);
	for (int i = 0; i < 2; i++)
		ok_ratio(r.classes[i].throughput * r.classes[i].mean_s, 40, 0.01);
	sus_result_release(&r);
}

static void seeds(void)
{
	struct load l = one(false, false, 20, 4096, 80);
	struct sus_result a, b, c;

	if (!run(&a, &l, 7) || !run(&b, &l, 7) || !run(&c, &l, 8))
		return;
	ok(a.classes[0].mean_s == b.classes[0].mean_s);
	for (int i = HISTOGRAM_BUCKET_MIN; i <= HISTOGRAM_BUCKET_MAX; i++)
		if (histogram_count(&a.classes[0].histogram, i) !=
		    histogram_count(&b.classes[0].histogram, i))
			ok(!"the same bucket");
	ok(a.classes[0].mean_s != c.classes[0].mean_s);
	ok(fabs(a.classes[0].mean_s - c.classes[0].mean_s) <
	   2 * (a.classes[0].half_s + c.classes[0].half_s));
	sus_result_release(&a);
	sus_result_release(&b);
	sus_result_release(&c);
}

static void refusals(void)
{
	struct load l = one(false, false, 20, 4096, 80);
	struct sus_options o = SUS_OPTIONS;
	struct sus_result r;

	l.classes[0].size_bytes = 4000;
	ok_int(sus_run(&r, &params, &l, &o), -EINVAL);
	l.classes[0].size_bytes = 4096;
	l.classes[0].clients = 0;
	ok_int(sus_run(&r, &params, &l, &o), -EINVAL);
	l.classes[0].clients = 1;
	l.classes[0].vm = 1;
	ok_int(sus_run(&r, &params, &l, &o), -EINVAL);
}

static int count(void *ctx, const struct load *l)
{
	(void)l;
	++*(unsigned *)ctx;
	return 0;
}

static void scenario_sizes(void)
{
	const unsigned want[] = { 220, 163, 149, 400, 200, 25,	81,  60, 1200,
				  160, 240, 240, 100, 100, 100, 100, 100 };

	for (unsigned i = 0; i < nr_scenarios; i++) {
		unsigned nr = 0;
		struct rng r;

		rng_seed(&r, i);
		scenarios[i].make(&r, count, &nr);
		ok_eq(nr, want[i]);
	}
}

static const struct tap_test tests[] = {
	{ "one client meets the sum of what is on its way", one_client },
	{ "many clients meet the bound of the busiest resource", saturation },
	{ "the hit ratio is the share that is cached", hit_ratio },
	{ "sequential streams are staged ahead", prefetching },
	{ "writes beyond the caches are bound by the disks", destaging },
	{ "reads are preferred to writes", preference },
	{ "a seed gives the same result, bit for bit", seeds },
	{ "loads that cannot be are refused", refusals },
	{ "scenarios have as many configurations as those of Noorshams 2015", scenario_sizes },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
