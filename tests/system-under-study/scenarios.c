// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "tests/system-under-study/scenarios.h"

typedef int put_load(void *ctx, const struct load *l);

static const uint32_t sizes[] = { 4096, 8192, 16384, 32768, 65536 };
static const double doubling[] = { 1.25, 2.5, 5, 10, 20, 40, 80, 160 };

#define NR(a) (sizeof(a) / sizeof((a)[0]))

uint32_t scenario_files(double gigabytes)
{
	double files = round(gigabytes * 1024 / 16);

	return files < 1 ? 1 : (uint32_t)files;
}

/* One class in each of nr_vms virtual machines; the file set is theirs together. */
static void homogeneous(put_load *put, void *ctx, bool write, bool sequential, unsigned nr_vms,
			uint32_t clients, uint32_t size, double gigabytes)
{
	struct load l = { .nr_vms = nr_vms, .nr_classes = nr_vms };

	for (unsigned v = 0; v < nr_vms; v++) {
		l.files[v] = scenario_files(gigabytes * SUS_SCALE / nr_vms);
		l.classes[v] = (struct load_class){ .vm = v,
						    .write = write,
						    .sequential = sequential,
						    .clients = clients,
						    .size_bytes = size };
	}
	put(ctx, &l);
}

/* Random reads and writes in every virtual machine; 0 clients: no such class. */
static void mixed(put_load *put, void *ctx, unsigned nr_vms, const uint32_t *readers,
		  const uint32_t *writers, uint32_t read_size, uint32_t write_size)
{
	struct load l = { .nr_vms = nr_vms };

	for (unsigned v = 0; v < nr_vms; v++) {
		l.files[v] = scenario_files(1.25 * SUS_SCALE / nr_vms);
		for (int write = 0; write < 2; write++) {
			uint32_t clients = write ? writers[v] : readers[v];

			if (clients)
				l.classes[l.nr_classes++] =
					(struct load_class){ .vm = v,
							     .write = write,
							     .clients = clients,
							     .size_bytes = write ? write_size
										 : read_size };
		}
	}
	put(ctx, &l);
}

static void calibrate_cache(struct rng *r, put_load *put, void *ctx)
{
	(void)r;
	for (int type = 0; type < 4; type++)
		for (size_t s = 0; s < NR(sizes); s++)
			for (uint32_t t = 0; t <= 100; t += 10)
				homogeneous(put, ctx, type / 2, type % 2, 1, t ? t : 1, sizes[s],
					    1.25);
}

/* The clients, sizes and file sets beyond the cache of 7.4.3.1 and 7.4.3.2. */
static void beyond_cache(put_load *put, void *ctx, bool sequential)
{
	static const uint32_t clients[] = { 10, 30, 50, 80, 100 };

	for (size_t t = 0; t < NR(clients); t++)
		for (size_t s = 0; s < NR(sizes); s++)
			for (double f = 80; f <= 160; f += 20)
				homogeneous(put, ctx, false, sequential, 1, clients[t], sizes[s],
					    f);
}

static void calibrate_random_reads(struct rng *r, put_load *put, void *ctx)
{
	(void)r;
	beyond_cache(put, ctx, false);
	for (uint32_t t = 50; t <= 100; t += 50)
		for (uint32_t s = 4096; s <= 8192; s *= 2)
			for (double f = 60; f <= 180; f += 20)
				if (f < 80 || f > 160)
					homogeneous(put, ctx, false, false, 1, t, s, f);
	/* For the share that misses, by the humps of the response times. */
	for (uint32_t t = 20; t <= 90; t += 10)
		for (double f = 80; f <= 180; f += 20)
			if (t != 30 && t != 50 && t != 80)
				homogeneous(put, ctx, false, false, 1, t, 4096, f);
}

static void calibrate_sequential_reads(struct rng *r, put_load *put, void *ctx)
{
	(void)r;
	beyond_cache(put, ctx, true);
	for (uint32_t t = 50; t <= 100; t += 50)
		for (uint32_t s = 4096; s <= 8192; s *= 2)
			for (size_t f = 0; f < NR(doubling); f++)
				if (doubling[f] != 80 && doubling[f] != 160)
					homogeneous(put, ctx, false, true, 1, t, s, doubling[f]);
}

static void calibrate_random_writes(struct rng *r, put_load *put, void *ctx)
{
	(void)r;
	for (uint32_t t = 10; t <= 100; t += 10)
		for (size_t s = 0; s < NR(sizes); s++)
			for (size_t f = 0; f < NR(doubling); f++)
				homogeneous(put, ctx, true, false, 1, t, sizes[s], doubling[f]);
}

static void calibrate_sequential_writes(struct rng *r, put_load *put, void *ctx)
{
	static const uint32_t clients[] = { 10, 30, 50, 80, 100 };

	(void)r;
	for (size_t t = 0; t < NR(clients); t++)
		for (size_t s = 0; s < NR(sizes); s++)
			for (size_t f = 0; f < NR(doubling); f++)
				homogeneous(put, ctx, true, true, 1, clients[t], sizes[s],
					    doubling[f]);
}

static void calibrate_mix(struct rng *r, put_load *put, void *ctx)
{
	(void)r;
	for (uint32_t tr = 10; tr <= 50; tr += 10)
		for (uint32_t tw = 10; tw <= 50; tw += 10)
			mixed(put, ctx, 1, &tr, &tw, 4096, 4096);
}

static void calibrate_vms(struct rng *r, put_load *put, void *ctx)
{
	(void)r;
	for (uint32_t i = 0; i < 81; i++) {
		uint32_t readers[] = { 10 + i / 27 * 10, 10 + i / 9 % 3 * 10 };
		uint32_t writers[] = { 10 + i / 3 % 3 * 10, 10 + i % 3 * 10 };

		mixed(put, ctx, 2, readers, writers, 4096, 4096);
	}
}

static uint32_t between(struct rng *r, uint32_t low, uint32_t high)
{
	return low + (uint32_t)rng_below(r, high - low + 1);
}

/* 7.5.4: 20 of equal sizes in one virtual machine, 20 of any, 20 in two virtual machines. */
static void calibrate_sizes(struct rng *r, put_load *put, void *ctx)
{
	for (unsigned i = 0; i < 60; i++) {
		uint32_t readers[2], writers[2];
		uint32_t read_size = sizes[i % 5], write_size = sizes[i < 20 ? i % 5 : i / 5 % 5];

		for (int v = 0; v < 2; v++) {
			readers[v] = 10 * between(r, 1, 5);
			writers[v] = 10 * between(r, 1, 5);
		}
		mixed(put, ctx, i < 40 ? 1 : 2, readers, writers, read_size, write_size);
	}
}

/* File sets in multiples of 16 MB, sizes in multiples of 512 bytes. */
static void interpolate(struct rng *r, put_load *put, void *ctx, bool write, bool sequential,
			double low, double high)
{
	for (int i = 0; i < 200; i++)
		homogeneous(put, ctx, write, sequential, 1, between(r, 10, 100),
			    512 * between(r, 8, 128),
			    between(r, scenario_files(low), scenario_files(high)) / 64.0);
}

static void interpolation(struct rng *r, put_load *put, void *ctx)
{
	interpolate(r, put, ctx, false, false, 1.25, 60);
	interpolate(r, put, ctx, false, false, 60.015625, 180);
	interpolate(r, put, ctx, false, true, 1.25, 180);
	interpolate(r, put, ctx, true, false, 1.25, 5);
	interpolate(r, put, ctx, true, false, 5.015625, 180);
	interpolate(r, put, ctx, true, true, 1.25, 180);
}

static void extrapolate(put_load *put, void *ctx, unsigned nr_vms, const uint32_t *clients,
			size_t nr)
{
	static const double sets[] = { 2.5, 40, 80, 160 };

	for (int type = 0; type < 4; type++)
		for (size_t s = 0; s < NR(sizes); s++)
			for (size_t t = 0; t < nr; t++)
				for (size_t f = 0; f < NR(sets); f++)
					homogeneous(put, ctx, type / 2, type % 2, nr_vms,
						    clients[t], sizes[s], sets[f]);
}

static void more_clients(struct rng *r, put_load *put, void *ctx)
{
	static const uint32_t clients[] = { 125, 150 };

	(void)r;
	extrapolate(put, ctx, 1, clients, NR(clients));
}

static void two_vms(struct rng *r, put_load *put, void *ctx)
{
	static const uint32_t clients[] = { 50, 75, 100 };

	(void)r;
	extrapolate(put, ctx, 2, clients, NR(clients));
}

static void three_vms(struct rng *r, put_load *put, void *ctx)
{
	static const uint32_t clients[] = { 33, 50, 100 };

	(void)r;
	extrapolate(put, ctx, 3, clients, NR(clients));
}

/* Sizes in sectors. separate: the first virtual machine reads, the second writes. */
static void random_mixes(struct rng *r, put_load *put, void *ctx, unsigned nr_vms, bool separate,
			 const uint32_t clients[2], const uint32_t sectors[2])
{
	for (int i = 0; i < 100; i++) {
		uint32_t readers[3], writers[3], read_size, write_size;

		for (int v = 0; v < 3; v++) {
			readers[v] = between(r, clients[0], clients[1]);
			writers[v] = between(r, clients[0], clients[1]);
		}
		if (separate)
			readers[1] = writers[0] = 0;
		read_size = 512 * between(r, sectors[0], sectors[1]);
		write_size = 512 * between(r, sectors[0], sectors[1]);
		mixed(put, ctx, nr_vms, readers, writers, read_size, write_size);
	}
}

static const uint32_t few[] = { 10, 50 }, many[] = { 51, 90 };
static const uint32_t small[] = { 8, 128 }, large[] = { 129, 256 };

static void scheduling_1(struct rng *r, put_load *put, void *ctx)
{
	random_mixes(r, put, ctx, 2, true, few, small);
}

static void scheduling_2(struct rng *r, put_load *put, void *ctx)
{
	random_mixes(r, put, ctx, 2, false, few, small);
}

static void scheduling_3(struct rng *r, put_load *put, void *ctx)
{
	random_mixes(r, put, ctx, 2, false, many, small);
}

static void scheduling_4(struct rng *r, put_load *put, void *ctx)
{
	random_mixes(r, put, ctx, 3, false, few, small);
}

static void scheduling_5(struct rng *r, put_load *put, void *ctx)
{
	random_mixes(r, put, ctx, 2, false, few, large);
}

const struct scenario scenarios[] = {
	{ "calibrate-cache", calibrate_cache, "7.4.2: file set of 1.25 GB" },
	{ "calibrate-rr", calibrate_random_reads, "7.4.3.1: random reads" },
	{ "calibrate-rs", calibrate_sequential_reads, "7.4.3.2: sequential reads" },
	{ "calibrate-wr", calibrate_random_writes, "7.4.3.3: random writes" },
	{ "calibrate-ws", calibrate_sequential_writes, "7.4.3.4: sequential writes" },
	{ "calibrate-mix", calibrate_mix, "7.5.2: reads and writes" },
	{ "calibrate-vms", calibrate_vms, "7.5.3: two virtual machines" },
	{ "calibrate-sizes", calibrate_sizes, "7.5.4: request sizes" },
	{ "interpolation", interpolation, "table 7.1" },
	{ "clients", more_clients, "table 7.2" },
	{ "vms-2", two_vms, "table 7.3" },
	{ "vms-3", three_vms, "table 7.4" },
	{ "scheduling-1", scheduling_1, "table 7.6" },
	{ "scheduling-2", scheduling_2, "table 7.7" },
	{ "scheduling-3", scheduling_3, "table 7.8" },
	{ "scheduling-4", scheduling_4, "table 7.9" },
	{ "scheduling-5", scheduling_5, "table 7.10" },
};

const unsigned nr_scenarios = NR(scenarios);
