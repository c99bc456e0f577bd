/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_map: permutes the regions of a device by a key, in order to hide offsets.
 *
 * A device is divided into equal regions. A permutation drawn from the key (Fisher-Yates shuffle,
 * unbiased; its random numbers are the key stream of ChaCha20 under the HMAC-SHA256 of host, device
 * and size) moves each region to the position of another; a sector keeps its distance from the
 * beginning of its region. So accesses within a region keep their distances, runs and repetitions,
 * and the distance between two regions becomes random. The map is a bijection of the sectors.
 *
 * Sectors after the last whole region do not move. A run that leaves a region continues elsewhere.
 * A request that crosses the end of a region extends beyond it, and at the end of a device beyond
 * the device. A device with fewer than two regions cannot be hidden in this way.
 *
 * Size of a region: 64 MiB. It is halved, but not below 1 MiB, until there are 256 regions, and
 * doubled while there are more than 65 536. Where the size of the device is unknown: 65 536 regions
 * of 64 MiB.
 */
#ifndef FORMATS_PLACE_MAP_H
#define FORMATS_PLACE_MAP_H

#include <stdint.h>

#include "formats/hide/pseudonym.h"
#include "formats/request.h"

struct place_map;

/*
 * The same key, host, device and size make the same map. Returns 0 or -ENOMEM. Cost: some 10 ns
 * and two bytes of memory per region.
 */
int place_map_new(struct place_map **out, const struct pseudonym_key *k, const char *host,
		  uint32_t device, uint64_t size_bytes);
void place_map_free(struct place_map *m);

uint64_t place_map_region_sectors(const struct place_map *m);
uint32_t place_map_nr_regions(const struct place_map *m);
/* Returns the sector to which a sector moves. O(1). */
uint64_t place_map_sector(const struct place_map *m, uint64_t sector);
/*
 * Moves the sector of a request. A request without a sector (a flush, a passthrough command) is
 * left alone.
 */
void place_map_request(const struct place_map *m, struct request *r);

#endif
