/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "formats/hide/place_map.h"
#include "tests/support/tap.h"

#define MIB  ((uint64_t)1 << 20)
#define SDA  (8u << 20)
#define GOOD "0123456789abcdef"

static struct place_map *map_of(const char *secret, const char *host, uint32_t device,
				uint64_t size_bytes)
{
	struct place_map *m = NULL;
	struct pseudonym_key k;

	ok_int(pseudonym_key_set(&k, secret, strlen(secret)), 0);
	ok_int(place_map_new(&m, &k, host, device, size_bytes), 0);
	return m;
}

static uint64_t region_to(const struct place_map *m, uint64_t region)
{
	uint64_t sectors = place_map_region_sectors(m);

	return place_map_sector(m, region * sectors) / sectors;
}

/* The shuffle as Python draws it, with its hmac and a ChaCha20 of its own. */
static void known_answers(void)
{
	static const uint32_t small[] = { 0, 11, 4, 7, 8, 2, 9, 1, 10, 3, 6, 5 };
	struct place_map *m = map_of(GOOD, "web1", SDA, 12 * MIB);
	uint64_t sum = 0;

	ok_eq(place_map_nr_regions(m), 12);
	for (uint32_t i = 0; i < 12; i++)
		ok_eq(region_to(m, i), small[i]);
	place_map_free(m);
	m = map_of(GOOD, "web1", SDA, MIB << 20);
	ok_eq(place_map_nr_regions(m), 16384);
	ok_eq(region_to(m, 0), 2324);
	ok_eq(region_to(m, 1), 15986);
	for (uint64_t i = 0; i < 16384; i++)
		sum += (i + 1) * region_to(m, i);
	ok_eq(sum, 1103148974228);
	place_map_free(m);
}

/* Every region is met once, every sector keeps its place in its region. */
static void a_bijection(void)
{
	static const uint64_t sizes[] = { 0,
					  512,
					  MIB,
					  2 * MIB,
					  255 * MIB + 4096,
					  16384 * MIB + 512,
					  5 * MIB << 20,
					  20 * MIB << 20 };

	for (size_t i = 0; i < TAP_NR(sizes); i++) {
		struct place_map *m = map_of(GOOD, "h", SDA, sizes[i]);
		uint64_t sectors = place_map_region_sectors(m), wrong = 0, nr_moved = 0;
		uint32_t nr = place_map_nr_regions(m);
		uint8_t *met = calloc(nr + 1, 1);

		ok(nr <= 65536);
		ok(!sizes[i] || nr * sectors * SECTOR_BYTES <= sizes[i]);
		ok(!sizes[i] || sizes[i] - nr * sectors * SECTOR_BYTES < sectors * SECTOR_BYTES);
		for (uint64_t r = 0; r < nr; r++) {
			uint64_t to = region_to(m, r), at = (r * 2654435761u) % sectors;

			wrong += to >= nr || met[to]++;
			wrong += place_map_sector(m, r * sectors + at) != to * sectors + at;
			nr_moved += to != r;
		}
		ok_eq(wrong, 0);
		ok(nr < 100 || nr_moved > nr - 20);
		ok_eq(place_map_sector(m, nr * sectors + 5), nr * sectors + 5);
		ok_eq(place_map_sector(m, UINT64_MAX), UINT64_MAX);
		free(met);
		place_map_free(m);
	}
}

static void others_differ(void)
{
	struct place_map *m[] = {
		map_of(GOOD, "web1", SDA, 4096 * MIB),
		map_of("0123456789abcdeg", "web1", SDA, 4096 * MIB),
		map_of(GOOD, "web2", SDA, 4096 * MIB),
		map_of(GOOD, "web1", SDA + 16, 4096 * MIB),
		map_of(GOOD, "web1", SDA, 4096 * MIB + 512),
		map_of(GOOD, "web1", SDA, 4096 * MIB),
	};

	/* Of 256 regions by chance one stands where it stood in another; 10 have 1 in 10^7. */
	for (size_t i = 1; i < TAP_NR(m); i++) {
		uint64_t same = 0;

		for (uint64_t r = 0; r < place_map_nr_regions(m[0]); r++)
			same += region_to(m[0], r) == region_to(m[i], r);
		if (i == TAP_NR(m) - 1)
			ok_eq(same, 256);
		else
			ok(same < 10);
	}
	for (size_t i = 0; i < TAP_NR(m); i++)
		place_map_free(m[i]);
}

/* All 24 orders of four regions are drawn alike: chi squared of 23 degrees, 1 in 10 000 at 56. */
static void all_orders_alike(void)
{
	uint64_t nr[256] = { 0 }, orders = 0;
	double chi = 0;

	for (uint32_t device = 0; device < 24000; device++) {
		struct pseudonym_key k;
		struct place_map *m;
		unsigned int order = 0;

		if (pseudonym_key_set(&k, GOOD, strlen(GOOD)) ||
		    place_map_new(&m, &k, "h", device, 4 * MIB))
			break;
		for (uint64_t r = 0; r < 4; r++)
			order = order << 2 | (unsigned int)region_to(m, r);
		nr[order]++;
		place_map_free(m);
	}
	for (size_t i = 0; i < TAP_NR(nr); i++) {
		orders += nr[i] > 0;
		chi += nr[i] ? ((double)nr[i] - 1000) * ((double)nr[i] - 1000) / 1000 : 0;
	}
	tap_note("chi squared %.1f", chi);
	ok_eq(orders, 24);
	ok(chi < 56);
}

static void what_has_no_place_stays(void)
{
	struct place_map *m = map_of(GOOD, "web1", SDA, 12 * MIB);
	struct request flush = { .operation = OPERATION_FLUSH };
	struct request command = { .bytes = 512, .flags = REQUEST_PASSTHROUGH };
	struct request data = { .bytes = 512, .sector = MIB / SECTOR_BYTES };

	place_map_request(m, &flush);
	place_map_request(m, &command);
	place_map_request(m, &data);
	ok_eq(flush.sector, 0);
	ok_eq(command.sector, 0);
	ok_eq(data.sector, 11 * MIB / SECTOR_BYTES);
	place_map_free(m);
}

static const struct tap_test tests[] = {
	{ "regions go where another implementation sends them", known_answers },
	{ "the map is a bijection, of any size of device", a_bijection },
	{ "another key, host, device or size: another map; the same: the same", others_differ },
	{ "all orders of regions are equally likely", all_orders_alike },
	{ "flushes and commands passed through have no place to move", what_has_no_place_stays },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
