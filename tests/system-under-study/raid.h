/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raid: where RAID-5 keeps things, left-symmetric, and what destaging a stripe takes.
 */
#ifndef SUS_RAID_H
#define SUS_RAID_H

#include <stdint.h>

#include "tests/system-under-study/write_cache.h"

unsigned raid_parity_disk(uint32_t stripe);
/* Of data strip k = 0..SUS_DATA-1. */
unsigned raid_data_disk(uint32_t stripe, unsigned k);
/* The same offset on every disk. */
uint64_t raid_offset(uint32_t stripe, unsigned page);

struct raid_access {
	unsigned disk;
	unsigned page, nr; /* within the strip */
};

struct raid_plan {
	struct raid_access reads[SUS_DISKS], writes[SUS_DISKS];
	unsigned nr_reads, nr_writes;
};

/*
 * Dirty pages by strip, at least one. A strip is accessed once, from the first to the last page
 * needed. Old data and old parity are read (read-modify-write), or what the new data does not
 * cover of the stripe (reconstruct-write), whichever reads fewer strips, then fewer pages; nothing
 * is read where the new data covers all of it.
 */
void raid_plan(struct raid_plan *p, uint32_t stripe, const uint64_t pages[SUS_DATA]);

#endif
