/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload/hotspot.h"

#define FIRST_SHIFT 3 /* 4 KiB */

void hotspot_release(struct hotspot *h)
{
	bool grows = h->grows;

	free(h->counts);
	free(h->few);
	memset(h, 0, sizeof(*h));
	h->grows = grows;
}

void hotspot_clear(struct hotspot *h)
{
	struct hotspot empty = {
		.counts = h->counts, .few = h->few, .cap_few = h->cap_few, .grows = h->grows
	};

	if (h->counts && h->nr)
		memset(h->counts, 0, HOTSPOT_REGIONS * sizeof(*h->counts));
	*h = empty;
}

/* Joins regions in pairs: regions 2i and 2i + 1 become region i. */
static void double_regions(struct hotspot *h)
{
	uint64_t first = h->first >> 1;

	for (uint64_t i = 0; i < HOTSPOT_REGIONS; i++) {
		uint64_t a = h->counts[i][0], b = h->counts[i][1];
		uint64_t to = ((h->first + i) >> 1) - first;

		h->counts[i][0] = 0;
		h->counts[i][1] = 0;
		h->counts[to][0] += a;
		h->counts[to][1] += b;
	}
	h->first = first;
	h->shift++;
}

static void hotspot_slide(struct hotspot *h, uint64_t first)
{
	uint64_t by;

	if (first < h->first) {
		by = h->first - first;
		if (by < HOTSPOT_REGIONS)
			memmove(h->counts + by, h->counts,
				(HOTSPOT_REGIONS - by) * sizeof(*h->counts));
		memset(h->counts, 0,
		       (by < HOTSPOT_REGIONS ? by : HOTSPOT_REGIONS) * sizeof(*h->counts));
	} else {
		by = first - h->first;
		if (by < HOTSPOT_REGIONS)
			memmove(h->counts, h->counts + by,
				(HOTSPOT_REGIONS - by) * sizeof(*h->counts));
		else
			by = HOTSPOT_REGIONS;
		memset(h->counts + HOTSPOT_REGIONS - by, 0, by * sizeof(*h->counts));
	}
	h->first = first;
}

/*
 * Makes the range [min_sector, max_sector] fit, and divides the regions left over between both
 * sides.
 */
static void hotspot_cover(struct hotspot *h, uint64_t min_sector, uint64_t max_sector)
{
	uint64_t low, high, spare;

	while ((max_sector >> h->shift) - (min_sector >> h->shift) >= HOTSPOT_REGIONS)
		double_regions(h);
	low = min_sector >> h->shift;
	high = max_sector >> h->shift;
	if (low >= h->first && high - h->first < HOTSPOT_REGIONS)
		return;
	spare = (HOTSPOT_REGIONS - 1 - (high - low)) / 2;
	hotspot_slide(h, low > spare ? low - spare : 0);
}

static int hotspot_start(struct hotspot *h, uint64_t sector, unsigned int shift)
{
	if (!h->counts)
		h->counts = calloc(HOTSPOT_REGIONS, sizeof(*h->counts));
	if (!h->counts)
		return -ENOMEM;
	h->shift = shift;
	h->min_sector = sector;
	h->max_sector = sector;
	h->first = sector >> shift;
	return 0;
}

static void hotspot_extend(struct hotspot *h, uint64_t min_sector, uint64_t max_sector)
{
	if (min_sector < h->min_sector)
		h->min_sector = min_sector;
	if (max_sector > h->max_sector)
		h->max_sector = max_sector;
	hotspot_cover(h, h->min_sector, h->max_sector);
}

static int hotspot_count(struct hotspot *h, uint64_t sector)
{
	if (!h->nr && hotspot_start(h, sector, FIRST_SHIFT))
		return -ENOMEM;
	if (sector < h->min_sector || sector > h->max_sector)
		hotspot_extend(h, sector, sector);
	h->sector_bits |= sector;
	h->counts[(sector >> h->shift) - h->first][h->nr++ & 1]++;
	return 0;
}

int hotspot_counted(const struct hotspot *h, struct hotspot *out)
{
	*out = (struct hotspot){ 0 };
	if (hotspot_start(out, h->few[0], FIRST_SHIFT))
		return -ENOMEM;
	hotspot_extend(out, h->min_sector, h->max_sector);
	for (uint64_t i = 0; i < h->nr; i++)
		out->counts[(h->few[i] >> out->shift) - out->first][i & 1]++;
	out->sector_bits = h->sector_bits;
	out->nr = h->nr;
	return 0;
}

/* Changes over to counts by region, from the list of single accesses. */
static int hotspot_spread(struct hotspot *h)
{
	struct hotspot all;
	int ret = hotspot_counted(h, &all);

	if (ret)
		return ret;
	free(h->few);
	*h = all;
	h->grows = true;
	return 0;
}

static int hotspot_keep(struct hotspot *h, uint64_t sector)
{
	uint32_t cap = h->cap_few ? 2 * h->cap_few : 16;
	uint64_t *few;

	if (h->nr == h->cap_few) {
		few = realloc(h->few, cap * sizeof(*few));
		if (!few)
			return -ENOMEM;
		h->few = few;
		h->cap_few = cap;
	}
	if (!h->nr || sector < h->min_sector)
		h->min_sector = sector;
	if (!h->nr || sector > h->max_sector)
		h->max_sector = sector;
	h->sector_bits |= sector;
	h->few[h->nr++] = sector;
	return 0;
}

int hotspot_add_many(struct hotspot *h, const struct request *r, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		if (!request_is_data(&r[i]))
			continue;
		if (h->grows && !h->counts && h->nr == HOTSPOT_FEW)
			ret = hotspot_spread(h);
		if (!ret && h->grows && !h->counts)
			ret = hotspot_keep(h, r[i].sector);
		else if (!ret)
			ret = hotspot_count(h, r[i].sector);
	}
	return ret;
}

size_t hotspot_memory(const struct hotspot *h)
{
	return (h->counts ? HOTSPOT_REGIONS * sizeof(*h->counts) : 0) +
	       h->cap_few * sizeof(*h->few);
}
