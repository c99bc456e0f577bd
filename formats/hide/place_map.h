/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_map: moves the places of a device about by whole regions, as a key says.
 *
 * A device is cut into equal regions; a permutation drawn by the key (Fisher and Yates' shuffle,
 * unbiased, fed by HMAC-SHA256 in counter mode) moves each to the place of one; a place keeps its
 * distance from the begin of its region. So what happens within a region keeps its distances, runs
 * and repetitions, and two regions are as far apart as chance has it. It is a bijection of the sectors.
 *
 * What does not move: what lies past the last whole region. What is cut: a run that leaves a region
 * goes on elsewhere, and a request that crosses an end reaches on past it, at the end of a device
 * past that. A device of less than two regions cannot be hidden so.
 *
 * Size of a region: 64 MiB; halved, not below 1 MiB, until there are 256 of them; doubled while there
 * are more than 65 536. Where the size of the device is not known: 65 536 regions of 64 MiB.
 */
#ifndef FORMATS_PLACE_MAP_H
#define FORMATS_PLACE_MAP_H

#include <stdint.h>

#include "formats/hide/pseudonym.h"
#include "formats/request.h"

struct place_map;

/* The same key, host, device and size make the same map. 0, -ENOMEM. Cost: one hash for eight
 * regions; two bytes of memory a region. */
int place_map_new(struct place_map **out, const struct pseudonym_key *k, const char *host,
		  uint32_t device, uint64_t size_bytes);
void place_map_free(struct place_map *m);

uint64_t place_map_region_sectors(const struct place_map *m);
uint32_t place_map_nr_regions(const struct place_map *m);
/* Where a sector goes. O(1). */
uint64_t place_map_sector(const struct place_map *m, uint64_t sector);
/* The same for a request; one that has no place (a flush, a command passed through) is left alone. */
void place_map_request(const struct place_map *m, struct request *r);

#endif
