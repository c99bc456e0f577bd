/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/picture/sequence.h"
#include "tests/support/tap.h"

#define MS 1000000ull

static struct request make(uint64_t sector, uint32_t bytes, enum operation operation)
{
	return (struct request){ .sector = sector, .bytes = bytes, .operation = operation };
}

static uint64_t sum(const struct timegrid *g, size_t row)
{
	uint64_t total = 0;

	for (size_t c = 0; c < g->nr; c++)
		total += timegrid_column(g, c)[row];
	return total;
}

/* What the columns count in all is what the estimator of the profile counts. */
static void columns_add_up_to_algorithm_1(void)
{
	struct sequence s;
	struct sequence_device d;
	struct sequential whole[2];
	uint64_t state = 4;

	sequence_init(&s);
	sequence_device_init(&d);
	for (int w = 0; w < 2; w++)
		sequential_init(&whole[w], SEQUENTIAL_SUBSET_REQUESTS);
	for (uint64_t i = 0; i < 50000; i++) {
		struct request r;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		r = make((state >> 40) % 512 * 8, 4096 * (1 + (uint32_t)(state >> 20 & 1)),
			 state >> 33 & 1 ? OPERATION_WRITE : OPERATION_READ);
		ok_int(sequence_add(&s, &d, i * MS / 10, &r), 0);
		sequential_add(&whole[r.operation], r.sector, r.sector + request_sectors(&r));
	}
	ok_eq(sum(&s.grid, 0) + sum(&s.grid, 2), 50000);
	ok_eq(sum(&s.grid, 1), sequential_counted(&whole[0]));
	ok_eq(sum(&s.grid, 3), sequential_counted(&whole[1]));
	for (int w = 0; w < 2; w++)
		sequential_release(&whole[w]);
	sequence_device_release(&d);
	sequence_release(&s);
}

static void a_sequential_second_stands_out(void)
{
	struct sequence s;
	struct sequence_device d;
	struct view v = { .id = "x" };
	struct buf csv;
	uint64_t at = 0;

	sequence_init(&s);
	sequence_device_init(&d);
	buf_init(&csv);
	for (uint64_t i = 0; i < 2000; i++) {
		/* One second of scattered reads, one second of a single stream. */
		struct request r = make(i < 1000 ? i * 7919 * 64 % 100000007 : (at += 8), 4096,
					OPERATION_READ);

		ok_int(sequence_add(&s, &d, i * MS, &r), 0);
	}
	frame_view(&s.grid, UINT64_MAX, &v);
	v.step_ns = 1000 * MS;
	ok_int(sequence_csv(&s, &v, &csv), 0);
	buf_put_u8(&csv, 0);
	ok(strstr((char *)csv.data, "0.000,1000,0.0000,0,\n") != NULL);
	ok(strstr((char *)csv.data, "1.000,1000,1.0000,0,\n") != NULL);
	buf_release(&csv);
	sequence_device_release(&d);
	sequence_release(&s);
}

static const struct tap_test tests[] = {
	{ "the columns add up to what Algorithm 1 counts", columns_add_up_to_algorithm_1 },
	{ "a sequential second stands out from a random one", a_sequential_second_stands_out },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
