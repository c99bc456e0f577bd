/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/picture/heatmap.h"
#include "tests/support/tap.h"

#define MS 1000000ull
#define S  1000000000ull

/* The row by its definition, in floating point. */
static unsigned int literal_row(uint64_t latency_ns)
{
	double quarters = 4 * log2((double)latency_ns / 1e4);

	if (latency_ns < 10000)
		return 0;
	return quarters >= 80 ? 81 : 1 + (unsigned int)floor(quarters);
}

static void rows_are_quarters_of_octaves(void)
{
	uint64_t state = 1;

	for (unsigned int row = 1; row < HEATMAP_ROWS; row++) {
		uint64_t edge = heatmap_row_begin_ns(row);

		/*
		 * 16 bits after the point: the edge itself is within 1 ns + 2^-16 of the real one.
		 */
		ok_near((double)edge, 1e4 * exp2((row - 1) / 4.0),
			1.0 + (double)edge / 65536 / 1e4);
		ok_eq(heatmap_row(edge), row);
		ok_eq(heatmap_row(edge - 1), row - 1);
	}
	ok_eq(heatmap_row(0), 0);
	ok_eq(heatmap_row(UINT64_MAX), HEATMAP_ROWS - 1);
	for (int i = 0; i < 100000; i++) {
		uint64_t latency;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		latency = state >> (20 + i % 40);
		if (heatmap_row(latency) == literal_row(latency))
			continue;
		/* Only within rounding of an edge may the two differ. */
		if (!ok_ratio(latency, heatmap_row_begin_ns(literal_row(latency + 1)), 1e-4))
			return;
	}
}

static void cells_count_every_request_once(void)
{
	enum { COLUMNS = 50 };
	uint64_t(*slow)[HEATMAP_ROWS] = calloc(COLUMNS, sizeof(*slow)), state = 3;
	struct heatmap h;
	bool same = true;

	heatmap_init(&h);
	for (int i = 0; i < 20000; i++) {
		uint64_t t = 100 * S + (uint64_t)i * COLUMNS * MS / 20000, latency;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		latency = state >> (24 + i % 36);
		slow[(t - 100 * S) / MS][heatmap_row(latency)]++;
		ok_int(heatmap_add(&h, t, latency), 0);
	}
	ok_eq(h.grid.nr, COLUMNS);
	for (size_t c = 0; c < COLUMNS; c++)
		for (unsigned int r = 0; r < HEATMAP_ROWS; r++)
			same = same && timegrid_column(&h.grid, c)[r] == slow[c][r];
	ok(same);
	heatmap_release(&h);
	free(slow);
}

static void crops_leave_out_no_more_than_they_say(void)
{
	struct heatmap h;
	uint64_t above;

	heatmap_init(&h);
	for (uint64_t i = 0; i < 10000; i++)
		heatmap_add(&h, i * MS, i < 9985 ? 100000 : i < 9995 ? 50 * MS : 2 * S);
	ok_eq(heatmap_crop_row(&h, 0, &above), heatmap_row(2 * S));
	ok_eq(above, 0);
	ok_eq(heatmap_crop_row(&h, 0.001, &above), heatmap_row(50 * MS));
	ok_eq(above, 5);
	ok_eq(heatmap_crop_row(&h, 0.01, &above), heatmap_row(100000));
	ok_eq(above, 15);
	heatmap_release(&h);
}

static size_t count(const char *text, const char *what)
{
	size_t nr = 0;

	for (text = strstr(text, what); text; text = strstr(text + 1, what))
		nr++;
	return nr;
}

static void csv_adds_up_to_the_requests(void)
{
	struct view v = { .id = "x" };
	struct heatmap h;
	struct buf csv;
	uint64_t sum = 0;

	heatmap_init(&h);
	buf_init(&csv);
	for (uint64_t i = 0; i < 3000; i++)
		heatmap_add(&h, 5 * S + i * 7 * MS, 20000 + i * i);
	frame_view(&h.grid, UINT64_MAX, &v);
	ok_int(heatmap_csv(&h, &v, &csv), 0);
	buf_put_u8(&csv, 0);
	for (char *line = strchr((char *)csv.data, '\n'); line && line[1];
	     line = strchr(line + 1, '\n'))
		for (char *at = strchr(line, ','); at && *at == ',';)
			sum += strtoull(at + 1, &at, 10);
	ok_eq(sum, 3000);
	buf_release(&csv);
	heatmap_release(&h);
}

static void picture_has_its_parts(void)
{
	struct view v = { .id = "x" };
	struct heatmap h;
	struct buf svg;

	heatmap_init(&h);
	buf_init(&svg);
	ok_int(heatmap_draw(&h, &v, &svg), -ENODATA);
	for (uint64_t i = 0; i < 3000; i++)
		heatmap_add(&h, i * MS, 20000 + i * i);
	frame_view(&h.grid, UINT64_MAX, &v);
	ok_int(heatmap_draw(&h, &v, &svg), 0);
	buf_put_u8(&svg, 0);
	ok_eq(count((char *)svg.data, "<svg "), 1 + HEATMAP_CROPS);
	ok_eq(count((char *)svg.data, "</svg>"), 1 + HEATMAP_CROPS);
	ok_eq(count((char *)svg.data, "nan"), 0);
	ok(count((char *)svg.data, "class=\"cell h") >= 10);
	ok_eq(count((char *)svg.data, "<title"), 1);
	buf_release(&svg);
	heatmap_release(&h);
}

static const struct tap_test tests[] = {
	{ "rows are quarters of octaves from 10 us", rows_are_quarters_of_octaves },
	{ "cells count every request once, as a plain table does", cells_count_every_request_once },
	{ "a crop leaves out no more than it says", crops_leave_out_no_more_than_they_say },
	{ "the CSV adds up to the requests", csv_adds_up_to_the_requests },
	{ "the picture has cells, crops and a title, and needs data", picture_has_its_parts },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
