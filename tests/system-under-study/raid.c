// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "tests/system-under-study/raid.h"

struct span {
	unsigned first, last; /* pages */
};

unsigned raid_parity_disk(uint32_t stripe)
{
	return SUS_DISKS - 1 - stripe % SUS_DISKS;
}

unsigned raid_data_disk(uint32_t stripe, unsigned k)
{
	return (raid_parity_disk(stripe) + 1 + k) % SUS_DISKS;
}

uint64_t raid_offset(uint32_t stripe, unsigned page)
{
	return (uint64_t)stripe * SUS_STRIP + (uint64_t)page * SUS_PAGE;
}

static struct span span_of(uint64_t pages)
{
	return (struct span){ (unsigned)__builtin_ctzll(pages),
			      63 - (unsigned)__builtin_clzll(pages) };
}

static uint64_t mask_of(struct span s)
{
	return (~0ull >> (63 - s.last)) & (~0ull << s.first);
}

static void put(struct raid_access *list, unsigned *nr, unsigned disk, struct span s)
{
	list[(*nr)++] = (struct raid_access){ disk, s.first, s.last - s.first + 1 };
}

static unsigned pages_read(const struct raid_plan *p)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < p->nr_reads; i++)
		nr += p->reads[i].nr;
	return nr;
}

static void plan_modify(struct raid_plan *p, uint32_t stripe, const uint64_t pages[SUS_DATA],
			struct span all)
{
	for (unsigned k = 0; k < SUS_DATA; k++)
		if (pages[k])
			put(p->reads, &p->nr_reads, raid_data_disk(stripe, k), span_of(pages[k]));
	put(p->reads, &p->nr_reads, raid_parity_disk(stripe), all);
}

static void plan_reconstruct(struct raid_plan *p, uint32_t stripe, const uint64_t pages[SUS_DATA],
			     struct span all)
{
	for (unsigned k = 0; k < SUS_DATA; k++) {
		uint64_t rest = mask_of(all) & ~pages[k];

		if (rest)
			put(p->reads, &p->nr_reads, raid_data_disk(stripe, k), span_of(rest));
	}
}

void raid_plan(struct raid_plan *p, uint32_t stripe, const uint64_t pages[SUS_DATA])
{
	struct raid_plan other = { .nr_reads = 0 };
	uint64_t any = 0;
	struct span all;

	for (unsigned k = 0; k < SUS_DATA; k++)
		any |= pages[k];
	all = span_of(any);
	*p = other;
	plan_modify(p, stripe, pages, all);
	plan_reconstruct(&other, stripe, pages, all);
	if (other.nr_reads < p->nr_reads ||
	    (other.nr_reads == p->nr_reads && pages_read(&other) < pages_read(p)))
		*p = other;
	for (unsigned k = 0; k < SUS_DATA; k++)
		if (pages[k])
			put(p->writes, &p->nr_writes, raid_data_disk(stripe, k), span_of(pages[k]));
	put(p->writes, &p->nr_writes, raid_parity_disk(stripe), all);
}
