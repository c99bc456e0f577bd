/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hide/place_map.h"

#include <errno.h>
#include <nettle/chacha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGION_BYTES	 (64ull << 20)
#define MIN_REGION_BYTES (1ull << 20)
#define WANTED_REGIONS	 256u
#define MAX_REGIONS	 65536u

struct place_map {
	uint64_t region_sectors;
	uint32_t nr;
	uint16_t to[]; /* by region: the region to which it is moved */
};

/*
 * Random numbers drawn from the key: the key stream of ChaCha20, 32 bits at a time. The HMAC of the
 * device is its key.
 */
struct draw {
	struct chacha_ctx cipher;
	uint8_t block[8 * CHACHA_BLOCK_SIZE];
	unsigned int used;
};

static void draw_begin(struct draw *d, const struct pseudonym_key *k, const char *host,
		       uint32_t device, uint64_t size_bytes)
{
	static const uint8_t nonce[CHACHA_NONCE_SIZE];
	char seed[SEGMENT_NAME_BYTES + 48];
	uint8_t hash[PSEUDONYM_HASH_BYTES];
	int len = snprintf(seed, sizeof(seed), "%s/%u/%llu", host, device,
			   (unsigned long long)size_bytes);

	pseudonym_hash(k, "place", seed, (size_t)len, hash);
	chacha_set_key(&d->cipher, hash);
	chacha_set_nonce(&d->cipher, nonce);
	d->used = sizeof(d->block);
	explicit_bzero(hash, sizeof(hash));
}

static uint32_t draw_u32(struct draw *d)
{
	const uint8_t *at;

	if (d->used == sizeof(d->block)) {
		memset(d->block, 0, sizeof(d->block));
		chacha_crypt(&d->cipher, sizeof(d->block), d->block, d->block);
		d->used = 0;
	}
	at = d->block + d->used;
	d->used += 4;
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Draws a number uniformly below n. Numbers from the last, incomplete round are drawn again. */
static uint32_t draw_below(struct draw *d, uint32_t n)
{
	uint32_t u = draw_u32(d);

	/*
	 * A number can be below -n % n only if it is below n, so the division is needed for these
	 * alone.
	 */
	while (u < n && u < -n % n)
		u = draw_u32(d);
	return u % n;
}

static uint64_t region_bytes_of(uint64_t size_bytes)
{
	uint64_t bytes = REGION_BYTES;

	while (bytes > MIN_REGION_BYTES && size_bytes / bytes < WANTED_REGIONS)
		bytes /= 2;
	while (size_bytes / bytes > MAX_REGIONS)
		bytes *= 2;
	return bytes;
}

static void place_map_shuffle(struct place_map *m, struct draw *d)
{
	for (uint32_t i = 0; i < m->nr; i++)
		m->to[i] = (uint16_t)i;
	for (uint32_t i = m->nr; i > 1; i--) {
		uint32_t other = draw_below(d, i);
		uint16_t was = m->to[i - 1];

		m->to[i - 1] = m->to[other];
		m->to[other] = was;
	}
}

int place_map_new(struct place_map **out, const struct pseudonym_key *k, const char *host,
		  uint32_t device, uint64_t size_bytes)
{
	uint64_t region_bytes = size_bytes ? region_bytes_of(size_bytes) : REGION_BYTES;
	uint32_t nr = size_bytes ? (uint32_t)(size_bytes / region_bytes) : MAX_REGIONS;
	struct place_map *m = malloc(sizeof(*m) + nr * sizeof(m->to[0]));
	struct draw d;

	if (!m)
		return -ENOMEM;
	m->region_sectors = region_bytes / SECTOR_BYTES;
	m->nr = nr;
	draw_begin(&d, k, host, device, size_bytes);
	place_map_shuffle(m, &d);
	explicit_bzero(&d, sizeof(d));
	*out = m;
	return 0;
}

void place_map_free(struct place_map *m)
{
	free(m);
}

uint64_t place_map_region_sectors(const struct place_map *m)
{
	return m->region_sectors;
}

uint32_t place_map_nr_regions(const struct place_map *m)
{
	return m->nr;
}

uint64_t place_map_sector(const struct place_map *m, uint64_t sector)
{
	uint64_t region = sector / m->region_sectors;

	if (region >= m->nr)
		return sector;
	return m->to[region] * m->region_sectors + sector % m->region_sectors;
}

void place_map_request(const struct place_map *m, struct request *r)
{
	if (r->bytes && !(r->flags & REQUEST_PASSTHROUGH))
		r->sector = place_map_sector(m, r->sector);
}
