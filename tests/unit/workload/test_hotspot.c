/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/block_hash.h"
#include "workload/hotspot.h"
#include "workload/hotspot_fit.h"

#define ITEM_SECTORS 8

static void add(struct hotspot *h, uint64_t sector)
{
	struct request r = slow_request(0, sector);

	if (hotspot_add_many(h, &r, 1))
		abort();
}

static struct access_distribution fit(const struct hotspot *h)
{
	struct access_distribution d;

	ok_int(hotspot_fit(h, &d), 0);
	tap_note(
		"kind %d theta %.3f mean %.3f deviation %.3f KS %.3f top %.3f %.3f AIC %.0f %.0f %.0f, "
		"%u regions of %llu",
		(int)d.kind, d.exponent, d.mean_ratio, d.deviation_ratio, d.ks_distance,
		d.top_10_ratio, d.top_20_ratio, d.aic_uniform, d.aic_gaussian, d.aic_zipf,
		d.nr_regions, (unsigned long long)d.region_bytes);
	return d;
}

static void uniform_data(void)
{
	static const size_t nr[] = { 200, 1000, 5000, 30000, 300000 };
	static const uint64_t items[] = { 64, 1000, 262144, 1ull << 32 };
	unsigned int wrong = 0;

	for (size_t i = 0; i < TAP_NR(nr); i++) {
		for (size_t k = 0; k < TAP_NR(items); k++) {
			for (uint64_t seed = 1; seed <= (nr[i] < 10000 ? 20 : 3); seed++) {
				struct slow_rng g = { seed * 100 + i * 10 + k };
				struct hotspot h = { 0 };
				struct access_distribution d;

				for (size_t n = 0; n < nr[i]; n++)
					add(&h, slow_below(&g, items[k]) * ITEM_SECTORS);
				ok_int(hotspot_fit(&h, &d), 0);
				wrong += d.kind != DISTRIBUTION_UNIFORM;
				ok(d.exponent < 0.15);
				/* Five standard errors of a share of 0.1. */
				ok_near(d.top_10_ratio, 0.1, 5 * sqrt(0.09 / (double)nr[i]) + 0.01);
				hotspot_release(&h);
			}
		}
	}
	ok_eq(wrong, 0);
}

/* A random permutation: a mere multiplication spreads the hot items more evenly than chance. */
static uint32_t *permutation(size_t nr, bool scattered, struct slow_rng *g)
{
	uint32_t *item = malloc(nr * sizeof(*item));

	if (!item)
		abort();
	for (size_t i = 0; i < nr; i++) {
		size_t k = scattered ? slow_below(g, i + 1) : i;

		item[i] = item[k];
		item[k] = (uint32_t)i;
	}
	return item;
}

/* Ranks scattered over the range, as fio hashes them, or in order. */
static void zipf_data(double theta, size_t items, size_t nr, double tolerance, bool scattered)
{
	struct slow_rng g = { 7 };
	struct hotspot h = { 0 };
	struct access_distribution d;
	uint32_t *item = permutation(items, scattered, &g);
	struct slow_zipf z;

	if (slow_zipf_init(&z, items, theta))
		abort();
	for (size_t i = 0; i < nr; i++)
		add(&h, (1 << 20) + (uint64_t)item[slow_zipf(&z, &g)] * ITEM_SECTORS);
	free(item);
	d = fit(&h);
	ok(d.kind == DISTRIBUTION_ZIPF);
	if (!ok_near(d.exponent, theta, tolerance))
		tap_note("%zu items, %zu accesses, scattered %d", items, nr, scattered);
	ok(d.ks_distance < 0.05);
	hotspot_release(&h);
	slow_zipf_release(&z);
}

static void zipf_of_regions(void)
{
	static const double thetas[] = { 0.5, 0.8, 1.0, 1.1, 1.4 };

	for (size_t i = 0; i < TAP_NR(thetas); i++) {
		zipf_data(thetas[i], 1021, 100000, 0.05, true);
		zipf_data(thetas[i], 1021, 100000, 0.05, false);
	}
}

static void zipf_scattered(void)
{
	static const double thetas[] = { 0.6, 0.9, 1.1, 1.3 };

	for (size_t i = 0; i < TAP_NR(thetas); i++) {
		zipf_data(thetas[i], 16381, 200000, 0.1, true);
		zipf_data(thetas[i], 262139, 500000, 0.1, true);
	}
}

static void zipf_in_order(void)
{
	zipf_data(0.9, 262139, 300000, 0.1, false);
	zipf_data(1.2, 262139, 300000, 0.1, false);
}

static void gaussian_data(void)
{
	static const double deviations[] = { 0.02, 0.05, 0.1 };

	for (size_t i = 0; i < TAP_NR(deviations); i++) {
		struct slow_rng g = { 3 };
		struct hotspot h = { 0 };
		struct access_distribution d;
		const double items = 262144;

		for (size_t n = 0; n < 100000; n++) {
			double at = 0.5 + deviations[i] * slow_normal(&g);

			add(&h, (uint64_t)(fmin(fmax(at, 0), 0.999999) * items) * ITEM_SECTORS);
		}
		add(&h, 0); /* the whole file is the range */
		add(&h, (uint64_t)(items - 1) * ITEM_SECTORS);
		d = fit(&h);
		ok(d.kind == DISTRIBUTION_GAUSSIAN);
		ok_near(d.mean_ratio, 0.5, 0.005);
		ok_near(d.deviation_ratio, deviations[i], 0.003);
		ok(d.ks_distance < 0.02);
		hotspot_release(&h);
	}
}

/* 60 % of the accesses on the first 10 % of the file, 30 on 20, 8 on 30, 2 on 40. */
static void zoned_data(void)
{
	static const double access[] = { 0.60, 0.90, 0.98, 1 }, space[] = { 0, 0.1, 0.3, 0.6, 1 };
	struct slow_rng g = { 9 };
	struct hotspot h = { 0 };
	struct access_distribution d;

	for (size_t n = 0; n < 200000; n++) {
		double x = slow_uniform(&g);
		size_t zone = 0;

		while (x > access[zone])
			zone++;
		x = space[zone] + slow_uniform(&g) * (space[zone + 1] - space[zone]);
		add(&h, (uint64_t)(x * 262144) * ITEM_SECTORS);
	}
	d = fit(&h);
	ok(d.kind != DISTRIBUTION_UNIFORM);
	/* Halves of 100 000 misrank regions near a zone's edge: 0.01. */
	ok_near(d.top_10_ratio, 0.60, 0.01);
	ok_near(d.top_20_ratio, 0.75, 0.01);
	hotspot_release(&h);
}

/* A range that wanders up and down and grows, against counts made with the final regions. */
static void regions_adapt(void)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		static uint64_t sectors[20000];
		struct slow_rng g = { seed };
		struct hotspot h = { 0 };
		uint64_t at = 1ull << 40, sum = 0;

		for (size_t i = 0; i < TAP_NR(sectors); i++) {
			uint64_t step = 1ull << slow_below(&g, 5 + seed);

			at = slow_below(&g, 2) ? at + step : at - step;
			sectors[i] = at;
			add(&h, at);
		}
		for (size_t i = 0; i < TAP_NR(sectors); i++) {
			uint64_t region = (sectors[i] >> h.shift) - h.first;

			if (ok(region < HOTSPOT_REGIONS))
				h.counts[region][i & 1]--;
		}
		for (size_t i = 0; i < HOTSPOT_REGIONS; i++)
			sum |= h.counts[i][0] | h.counts[i][1];
		ok_eq(sum, 0);
		ok((h.max_sector >> h.shift) - (h.min_sector >> h.shift) < HOTSPOT_REGIONS);
		if (h.shift > 3)
			ok((h.max_sector >> (h.shift - 1)) - (h.min_sector >> (h.shift - 1)) >=
			   HOTSPOT_REGIONS);
		hotspot_release(&h);
	}
}

static void too_little(void)
{
	struct hotspot h = { 0 };
	struct access_distribution d;

	ok_int(hotspot_fit(&h, &d), 0);
	ok(d.kind == DISTRIBUTION_UNKNOWN && isnan(d.exponent) && isnan(d.top_10_ratio));
	for (int i = 0; i < 10000; i++)
		add(&h, 4096);
	ok_int(hotspot_fit(&h, &d), 0);
	ok(d.kind == DISTRIBUTION_UNKNOWN);
	add(&h, UINT64_MAX);
	add(&h, 0);
	d = fit(&h);
	ok(isfinite(d.ks_distance) && isfinite(d.exponent));
	hotspot_release(&h);
}

/* What fio itself draws, by its own log of a run without any device. */
static void from_fio(const char *distribution, struct hotspot *h)
{
	char command[512], line[256];
	FILE *f;

	snprintf(command, sizeof(command),
		 "d=$(mktemp -d) && cd \"$d\" && fio --name=x --ioengine=null --filename=x "
		 "--size=1g --bs=4k --rw=randread --norandommap --random_distribution=%s "
		 "--number_ios=200000 --write_iolog=log --randseed=42 >/dev/null 2>&1 && cat log; "
		 "rm -rf \"$d\"",
		 distribution);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long offset;
		const char *read = strstr(line, " read ");

		if (read && sscanf(read, " read %llu", &offset) == 1)
			add(h, offset / SECTOR_BYTES);
	}
	if (f)
		pclose(f);
	if (!h->nr)
		tap_skip("fio", "fio is not installed");
}

static void fio_zoned(void)
{
	struct hotspot h = { 0 };
	struct access_distribution d;

	from_fio("zoned:60/10:30/20:8/30:2/40", &h);
	d = fit(&h);
	ok_near(d.top_10_ratio, 0.60, 0.01);
	ok_near(d.top_20_ratio, 0.75, 0.01);
	hotspot_release(&h);
}

static void fio_zipf(void)
{
	struct hotspot h = { 0 };
	struct access_distribution d;

	from_fio("zipf:1.1", &h);
	d = fit(&h);
	ok(d.kind == DISTRIBUTION_ZIPF);
	/* fio hashes ranks with collisions and approximates the tail. */
	ok_near(d.exponent, 1.1, 0.1);
	hotspot_release(&h);
}

/*
 * fio hashes the blocks of its normal distribution over the file as it does those of zipf: regions
 * of 128 blocks see no hot spot, since there is none.
 */
static void fio_normal(void)
{
	struct hotspot h = { 0 };
	struct access_distribution d;

	from_fio("normal:10", &h);
	d = fit(&h);
	ok(d.kind == DISTRIBUTION_UNIFORM);
	ok_near(d.top_10_ratio, 0.1, 0.01);
	hotspot_release(&h);
}

static void fio_random(void)
{
	struct hotspot h = { 0 };
	struct access_distribution d;

	from_fio("random", &h);
	d = fit(&h);
	ok(d.kind == DISTRIBUTION_UNIFORM);
	hotspot_release(&h);
}

static const struct tap_test tests[] = {
	{ "regions adapt to a range that wanders and grows", regions_adapt },
	{ "uniform data are not called anything else", uniform_data },
	{ "zipf over as many items as regions gives theta", zipf_of_regions },
	{ "zipf over scattered items gives the theta of the items", zipf_scattered },
	{ "zipf over items in order gives the theta of the items", zipf_in_order },
	{ "a gaussian hot spot gives its mean and deviation", gaussian_data },
	{ "zones give the shares of the hottest regions", zoned_data },
	{ "too few accesses or regions are unknown", too_little },
	{ "fio: zones give the shares of the hottest regions", fio_zoned },
	{ "fio: zipf gives theta", fio_zipf },
	{ "fio: normal, which it hashes over the file, is uniform over regions", fio_normal },
	{ "fio: random is uniform", fio_random },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
