/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/picture/access_map.h"
#include "tests/support/tap.h"

#define MS 1000000ull

static uint64_t row_total(const struct access_map *m, unsigned int row, bool write)
{
	uint64_t sum = 0;

	for (size_t c = 0; c < m->grid.nr; c++)
		sum += timegrid_column(&m->grid, c)[(write ? ACCESS_ROWS : 0) + row];
	return sum;
}

static uint64_t total(const struct access_map *m, bool write)
{
	uint64_t sum = 0;

	for (unsigned int r = 0; r < ACCESS_ROWS; r++)
		sum += row_total(m, r, write);
	return sum;
}

/* Rows against a walk over all offsets, after whatever widening there was. */
static void check_rows(const struct access_map *m, const uint64_t *sectors, size_t nr)
{
	uint64_t counts[2][ACCESS_ROWS] = { 0 };
	bool inside = true, same = true;

	for (size_t i = 0; i < nr; i++) {
		uint64_t row = (sectors[i] * SECTOR_BYTES >> m->row_shift) - m->first_row;

		inside = inside && row < ACCESS_ROWS;
		if (row < ACCESS_ROWS)
			counts[i % 3 == 0][row]++;
	}
	for (unsigned int r = 0; r < ACCESS_ROWS; r++)
		for (int write = 0; write < 2; write++)
			same = same && counts[write][r] == row_total(m, r, write);
	ok(inside);
	ok(same);
}

static void regions_hold_what_fell_into_them(void)
{
	enum { NR = 3000 };
	uint64_t sectors[NR];

	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct access_map m;
		uint64_t state = seed, base = seed % 3 ? 1ull << (seed + 20) : 0;

		access_map_init(&m);
		for (size_t i = 0; i < NR; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			sectors[i] = base + (state >> 11) % (1ull << (4 + i % (seed * 2)));
			if (i % 7 == 0 && base)
				sectors[i] = base - (state >> 11) % (base >> 1);
			ok_int(access_map_add(&m, i * MS, sectors[i], i % 3 == 0), 0);
		}
		ok_eq(total(&m, false) + total(&m, true), NR);
		check_rows(&m, sectors, NR);
		access_map_release(&m);
	}
}

static void highest_sectors_are_legal(void)
{
	struct access_map m;

	access_map_init(&m);
	ok_int(access_map_add(&m, 0, UINT64_MAX, false), 0);
	ok_int(access_map_add(&m, 1, 0, true), 0);
	ok_int(access_map_add(&m, 2, UINT64_MAX / 2, true), 0);
	ok_eq(total(&m, false), 1);
	ok_eq(total(&m, true), 2);
	access_map_release(&m);
}

static void many_points_become_shades(void)
{
	struct access_map m;
	struct view v = { .id = "x" };
	struct buf svg;

	access_map_init(&m);
	buf_init(&svg);
	ok_int(access_map_draw(&m, &v, &svg), -ENODATA);
	for (uint64_t i = 0; i < ACCESS_POINTS; i++)
		access_map_add(&m, i * MS, i * 64 % 999983, i % 2);
	frame_view(&m.grid, UINT64_MAX, &v);
	ok(!m.crowded);
	ok_int(access_map_draw(&m, &v, &svg), 0);
	buf_put_u8(&svg, 0);
	ok(strstr((char *)svg.data, "class=\"mark read\"") != NULL);
	buf_clear(&svg);
	access_map_add(&m, 1, 1, true);
	ok(m.crowded);
	ok_int(access_map_draw(&m, &v, &svg), 0);
	buf_put_u8(&svg, 0);
	ok(strstr((char *)svg.data, "class=\"mark read\"") == NULL);
	ok(strstr((char *)svg.data, "class=\"cell write d5\"") != NULL);
	/* A page must stay under 3 MB: half a megabyte per map at most. */
	ok(svg.len < 512 * 1024);
	access_map_release(&m);
	buf_release(&svg);
}

static const struct tap_test tests[] = {
	{ "every region holds exactly what fell into it, however it widened",
	  regions_hold_what_fell_into_them },
	{ "the highest sectors are legal", highest_sectors_are_legal },
	{ "above 50 000 points the map is shaded", many_points_become_shades },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
