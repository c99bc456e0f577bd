// SPDX-License-Identifier: Apache-2.0
/* The description of a load: concurrency, think time, sizes by direction, windows and sums. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/whatif/predict/load_facts.h"
#include "tests/support/tap.h"

/* Ten seconds of 1000 reads and 1000 writes per second. */
static void fill(struct profile *p, double begin_s, double clients, double in_flight)
{
	profile_init(p);
	p->begin_s = begin_s;
	p->end_s = begin_s + 10;
	p->quality.coverage_ratio = 1;
	p->requests[OPERATION_READ] = p->requests[OPERATION_WRITE] = 10000;
	p->closed.clients_mean = clients;
	p->closed.in_flight_mean = in_flight;
	p->read.size_mean_bytes = 4096;
	p->write.size_mean_bytes = 65536;
}

static struct load_facts facts_of(double clients, double in_flight)
{
	struct load_facts f;
	struct profile p;

	fill(&p, 0, clients, in_flight);
	load_facts_of(&p, &f);
	profile_release(&p);
	return f;
}

static void concurrency_is_what_is_under_way(void)
{
	struct load_facts deep = facts_of(1, 32), thinking = facts_of(8, 2);
	struct load_facts unknown = facts_of(NAN, 3), rare = facts_of(NAN, 0.25);

	ok_ratio(deep.concurrency, 32, 1e-12);
	ok_ratio(load_think_s(&deep) + 1, 1, 1e-12);
	ok_ratio(thinking.concurrency, 8, 1e-12);
	ok_ratio(load_think_s(&thinking), (8 - 2) / 2000.0, 1e-12);
	ok_ratio(unknown.concurrency, 3, 1e-12);
	ok_ratio(rare.concurrency, 1, 1e-12);
	ok_ratio(load_think_s(&rare), 0.75 / 2000, 1e-12);
}

static void loads_add_up(void)
{
	struct load_facts f[2] = { facts_of(1, 32), facts_of(8, 2) }, sum;

	load_facts_join(f, 2, &sum);
	ok_ratio(sum.concurrency, 40, 1e-12); /* not the larger of 9 clients and 34 in flight */
	ok_ratio(sum.rate_per_s, 4000, 1e-12);
	sum = load_facts_scaled(&f[0], 3);
	ok_ratio(sum.concurrency, 96, 1e-12);
}

static void sizes_stay_by_direction(void)
{
	struct load_facts f[2], sum;
	struct load_sizes all;
	struct profile p;

	fill(&p, 0, 1, 1);
	p.read.sizes = calloc(3, sizeof(*p.read.sizes));
	p.read.nr_sizes = 3;
	p.read.sizes[0] = (struct size_count){ 4096, 6000 };
	p.read.sizes[1] = (struct size_count){ 6144, 2000 };
	p.read.sizes[2] = (struct size_count){ 16384, 2000 };
	load_facts_of(&p, &f[0]);
	ok_int(f[0].sizes[0].nr, 2);
	ok_ratio(f[0].sizes[0].at[0].bytes, (6000 * 4096 + 2000 * 6144) / 8000.0, 1e-12);
	ok_ratio(f[0].sizes[0].at[0].share, 0.8, 1e-12);
	ok_int(f[0].sizes[1].nr, 1); /* without a histogram the mean is the only size */
	ok_ratio(f[0].sizes[1].at[0].bytes, 65536, 1e-12);
	load_facts_all_sizes(&f[0], &all);
	ok_int(all.nr, 3);
	ok_ratio(all.at[2].share, 0.5, 1e-12);
	f[1] = f[0];
	load_facts_set_size(&f[1], 0, 16384);
	load_facts_join(f, 2, &sum);
	ok_ratio(sum.sizes[0].at[1].share, 0.6, 1e-12);
	profile_release(&p);
}

/*
 * One window is busy with 16 requests in flight, three are nearly idle; a gap follows the second.
 */
static void windows_are_all_of_the_load(void)
{
	static const double begin_s[4] = { 0, 10, 50, 60 };
	struct profile_group g = { .nr_windows = 4 };
	struct profile windows[4];
	struct load_facts f;

	g.windows = windows;
	for (int i = 0; i < 4; i++) {
		fill(&windows[i], begin_s[i], 1, i == 1 ? 16 : 0.1);
		windows[i].requests[OPERATION_READ] = i == 1 ? 97000 : 1000;
		windows[i].requests[OPERATION_WRITE] = 0;
		windows[i].locality.distribution.first_byte = (uint64_t)i << 20;
		windows[i].locality.distribution.nr_regions = 16;
		windows[i].locality.distribution.region_bytes = 1 << 20;
	}
	fill(&g.whole, 0, 1, 2);
	g.whole.end_s = 70;
	g.whole.quality.coverage_ratio = 40.0 / 70;
	g.whole.requests[OPERATION_READ] = 100000;
	g.whole.requests[OPERATION_WRITE] = 0;
	load_facts_of_group(&g, &f);
	ok_ratio(f.rate_per_s, 2500, 1e-12); /* over the 40 s that were watched */
	ok_ratio(f.in_flight, (16 + 0.3) / 4, 1e-12);
	ok_ratio(f.concurrency, 0.97 * 16 + 0.03 * 0.1, 1e-12);
	ok_ratio(f.range_bytes, 19 << 20, 1e-12);
	for (int i = 0; i < 4; i++)
		profile_release(&windows[i]);
	profile_release(&g.whole);
}

/*
 * Six clients: a cycle of 3 ms is 1 ms of a read or write, a tenth of a flush of 10 ms, and 1 ms of
 * thought.
 */
static void flushes_are_part_of_the_cycle(void)
{
	struct load_facts f, sum, both[2];
	char missing[256];
	struct profile p;

	fill(&p, 0, 6, 4); /* 6 = X (1 ms + 1 ms + 1 ms), X = 2000/s: 4 are under way */
	p.requests[OPERATION_FLUSH] = 2000;
	p.flush.total_mean_s = 0.010;
	p.durability.awaited_flushes = 500;
	p.durability.forced_writes = 2500;
	load_facts_of(&p, &f);
	ok_ratio(f.flush_per_s, 200, 1e-12);
	ok_ratio(load_flush_wait_s(&f), 0.001, 1e-12);
	ok_ratio(load_think_s(&f), 0.001, 1e-12);
	ok_ratio(f.concurrency / (0.001 + load_away_s(&f)), f.rate_per_s, 1e-12);
	ok_ratio(f.awaited_ratio, 0.25, 1e-12);
	ok_ratio(f.forced_ratio, 0.25, 1e-12);
	both[0] = f;
	both[1] = facts_of(6, 4);
	load_facts_join(both, 2, &sum);
	ok_ratio(sum.flush_per_s, 200, 1e-12);
	ok_ratio(load_flush_wait_s(&sum), 0.0005, 1e-12);
	ok_ratio(load_facts_scaled(&f, 2).flush_per_s, 400, 1e-12);
	p.unknown |= UNKNOWN_FLUSH | UNKNOWN_DURABILITY;
	p.closed.clients_mean = NAN;
	load_facts_of(&p, &f);
	ok_ratio(load_away_s(&f) + 1, 1, 1e-12);
	load_facts_say_missing(f.missing & (LOAD_NO_CLIENTS | LOAD_NO_FLUSHES | LOAD_NO_DURABILITY),
			       missing, sizeof(missing));
	ok_str(missing, "clients, flushes, forced writes");
	profile_release(&p);
}

/* Silent for 16 ms, then 5000/s for 4 ms: the load's own process again. */
static void bursts_are_part_of_the_load(void)
{
	const struct mmpp2 known = { { 5000, 0 }, { 250, 62.5 } };
	struct load_facts f, steady = facts_of(1, 1);
	struct profile p;

	fill(&p, 0, 1, 1);
	p.open.rate_per_s = 1000;
	p.open.interarrival_scv = mmpp2_scv(&known);
	p.open.nr_idc = 3;
	p.open.idc = calloc(p.open.nr_idc, sizeof(*p.open.idc));
	for (size_t i = 0; i < p.open.nr_idc; i++) {
		p.open.idc[i].window_s = 0.01 * pow(10, (double)i);
		p.open.idc[i].idc = mmpp2_idc(&known, p.open.idc[i].window_s);
	}
	load_facts_of(&p, &f);
	ok_eq(f.arrivals_met, MMPP2_RATE | MMPP2_IDC | MMPP2_SCV);
	ok_ratio(f.arrivals.rate_per_s[0], 5000, 1e-2);
	ok_ratio(f.arrivals.leave_per_s[0], 250, 1e-2);
	ok_ratio(load_facts_scaled(&f, 2).arrivals.rate_per_s[0], 10000, 1e-2);
	ok_eq(steady.arrivals_met, 0);
	profile_release(&p);
}

static const struct tap_test tests[] = {
	{ "bursts are part of the load", bursts_are_part_of_the_load },
	{ "flushes are part of a client's cycle", flushes_are_part_of_the_cycle },
	{ "concurrency is what is under way, not who", concurrency_is_what_is_under_way },
	{ "loads side by side add up", loads_add_up },
	{ "sizes stay by direction", sizes_stay_by_direction },
	{ "windows are all of the load", windows_are_all_of_the_load },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
