/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "analyzer/report/picture/inflight.h"
#include "tests/support/tap.h"

#define MS 1000000ull

struct span {
	uint64_t begin, end;
};

/* The overlap of every request with every column, summed: what the four sums must give. */
static double literal_mean(const struct span *spans, size_t nr, uint64_t begin, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t from = spans[i].begin > begin ? spans[i].begin : begin;
		uint64_t to = spans[i].end < end ? spans[i].end : end;

		sum += to > from ? to - from : 0;
	}
	return (double)sum / (double)(end - begin);
}

static void means_are_the_overlaps(void)
{
	enum { NR = 800 };
	static const uint64_t bases[] = { 0, 1700000000000000000ull };
	struct span spans[NR];

	for (size_t b = 0; b < 2; b++) {
		uint64_t state = 5, t = bases[b];
		struct inflight f;
		double means[FRAME_FINE_COLUMNS];

		inflight_init(&f);
		for (size_t i = 0; i < NR; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			t += (state >> 33) % (2 * MS);
			spans[i].begin = t;
			spans[i].end = t + (state >> 40) % (i % 20 ? 3 * MS : 90 * MS);
			ok_int(inflight_add(&f, spans[i].begin, spans[i].begin, spans[i].end), 0);
		}
		inflight_means(&f.grid, INFLIGHT_ALL, means);
		for (size_t c = 0; c < f.grid.nr; c++) {
			uint64_t from = timegrid_begin_ns(&f.grid) + c * f.grid.step_ns;

			/* Integer sums: only the last division rounds. */
			if (!ok_near(means[c], literal_mean(spans, NR, from, from + f.grid.step_ns),
				     1e-9))
				break;
		}
		inflight_release(&f);
	}
}

static void joined_columns_average(void)
{
	struct inflight f;
	struct timegrid wide;
	double fine[FRAME_FINE_COLUMNS], coarse[FRAME_FINE_COLUMNS];

	inflight_init(&f);
	for (uint64_t i = 0; i < 1000; i++)
		ok_int(inflight_add(&f, i * MS, i * MS, i * MS + (i % 7) * 1500000), 0);
	inflight_means(&f.grid, INFLIGHT_ALL, fine);
	ok_int(timegrid_widen(&f.grid, 10 * f.grid.step_ns, &wide), 0);
	inflight_means(&wide, INFLIGHT_ALL, coarse);
	for (size_t c = 0; c + 1 < wide.nr; c++) {
		double sum = 0;

		for (size_t i = 0; i < 10; i++)
			sum += fine[c * 10 + i];
		if (!ok_near(coarse[c], sum / 10, 1e-9))
			break;
	}
	timegrid_release(&wide);
	inflight_release(&f);
}

static void parts_tell_waiting_from_service(void)
{
	struct inflight f;
	double all[FRAME_FINE_COLUMNS], device[FRAME_FINE_COLUMNS];

	inflight_init(&f);
	ok(isnan(inflight_device_while_waiting(&f)));
	/*
	 * Each column of 1 ms: one request in the device throughout, three more waiting half of it.
	 */
	for (uint64_t i = 0; i < 100; i++) {
		ok_int(inflight_add(&f, i * MS, i * MS, (i + 1) * MS), 0);
		for (int w = 0; w < 3; w++)
			ok_int(inflight_add(&f, i * MS, i * MS + MS / 2, i * MS + MS / 2), 0);
	}
	inflight_means(&f.grid, INFLIGHT_ALL, all);
	inflight_means(&f.grid, INFLIGHT_DEVICE, device);
	for (size_t c = 0; c < 100; c++) {
		ok_near(all[c], 2.5, 1e-9);
		ok_near(device[c], 1, 1e-9);
	}
	ok_near(inflight_device_while_waiting(&f), 1, 1e-9);
	inflight_release(&f);
}

static const struct tap_test tests[] = {
	{ "the mean of a column is the overlap of all requests with it", means_are_the_overlaps },
	{ "requests inside the device and before it are told apart",
	  parts_tell_waiting_from_service },
	{ "joined columns hold the mean of their parts", joined_columns_average },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
