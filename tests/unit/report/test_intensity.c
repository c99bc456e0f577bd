/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/collect/devices.h"
#include "analyzer/report/curve/sizes.h"
#include "analyzer/report/picture/intensity.h"
#include "tests/support/tap.h"

#define MS 1000000ull
#define S  1000000000ull

static void stacks_add_up_to_the_totals(void)
{
	struct intensity i;
	struct load l;
	uint64_t requests[2][NR_SIZE_CLASSES] = { 0 }, bytes[2][NR_SIZE_CLASSES] = { 0 }, state = 6;
	uint64_t got[2] = { 0 }, want[2] = { 0 };
	bool same = true;

	intensity_init(&i);
	load_init(&l);
	for (uint64_t k = 0; k < 20000; k++) {
		uint32_t size;
		bool write;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		size = 512u << (state >> 60);
		write = state >> 30 & 1;
		ok_int(intensity_add(&i, k * MS, size, write), 0);
		ok_int(load_add(&l, k * MS, size), 0);
		requests[write][size_class_of(size)]++;
		bytes[write][size_class_of(size)] += size;
	}
	for (size_t c = 0; c < l.grid.nr; c++)
		for (int m = 0; m < 2; m++)
			want[m] += timegrid_column(&l.grid, c)[m];
	for (unsigned int class = 0; class < NR_SIZE_CLASSES; class ++)
		for (int write = 0; write < 2; write++) {
			uint64_t sums[2] = { 0 };

			for (size_t c = 0; c < i.grid.nr; c++)
				for (int m = 0; m < 2; m++)
					sums[m] += timegrid_column(&i.grid, c)[intensity_row(
						(enum intensity_measure)m, class, write)];
			same = same && sums[0] == requests[write][class] &&
			       sums[1] == bytes[write][class];
			got[0] += sums[0];
			got[1] += sums[1];
		}
	ok(same);
	ok_eq(got[0], want[0]);
	ok_eq(got[1], want[1]);
	load_release(&l);
	intensity_release(&i);
}

static void peaks_apart_are_more_than_their_sum(void)
{
	struct load a, b, sum;
	struct device_load each[2] = { { "a", &a }, { "b", &b } };
	struct devices d = { .each = each, .nr = 2, .sum = &sum, .window_ns = S };
	struct buf csv;

	load_init(&a);
	load_init(&b);
	load_init(&sum);
	buf_init(&csv);
	/* 100 s; a has 50 requests in second 20, b has 70 in second 80, else one each. */
	for (uint64_t s = 0; s < 100; s++)
		for (uint64_t k = 0; k < 70; k++) {
			if (k < (s == 20 ? 50 : 1) && !load_add(&a, s * S + k, 4096))
				load_add(&sum, s * S + k, 4096);
			if (k < (s == 80 ? 70 : 1) && !load_add(&b, s * S + k, 4096))
				load_add(&sum, s * S + k, 4096);
		}
	ok_int(devices_csv(&d, &csv), 0);
	buf_put_u8(&csv, 0);
	ok(strstr((char *)csv.data, "\nsum on one clock,1,3.18,2,51,71,80.000,") != NULL);
	ok(strstr((char *)csv.data, "\nown peaks added up,1,,,,120,") != NULL);
	buf_release(&csv);
	load_release(&a);
	load_release(&b);
	load_release(&sum);
}

static void sizes_go_to_their_power_of_two(void)
{
	struct size_count counts[] = {
		{ 512, 1 }, { 4096, 10 }, { 4608, 2 }, { 8192, 3 }, { 4u << 20, 1 }
	};
	struct profile p;
	struct sizes s;

	profile_init(&p);
	p.read.sizes = counts;
	p.read.nr_sizes = sizeof(counts) / sizeof(counts[0]);
	sizes_of(&p, &s);
	ok_near(s.requests[0][0], 1, 0);
	ok_near(s.requests[0][3], 10, 0);
	ok_near(s.requests[0][4], 5, 0);
	ok_near(s.bytes[0][4], 2 * 4608 + 3 * 8192, 0);
	ok_near(s.requests[0][SIZES_BINS - 1], 1, 0);
	ok_eq(sizes_bin(1 << 20), SIZES_BINS - 2);
	p.read.sizes = NULL;
	p.read.nr_sizes = 0;
	profile_release(&p);
}

static const struct tap_test tests[] = {
	{ "the stacks add up to the totals, class by class", stacks_add_up_to_the_totals },
	{ "peaks at different times add up to more than the peak of the sum",
	  peaks_apart_are_more_than_their_sum },
	{ "sizes are counted by power of two", sizes_go_to_their_power_of_two },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
