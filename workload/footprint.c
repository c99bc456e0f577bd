/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/keyed_hash.h"
#include "workload/footprint.h"

#define FIRST_BITS 6

static size_t set_bytes(const struct footprint *f)
{
	return f->set ? sizeof(*f->set) << f->bits : 0;
}

static struct window_budget *footprint_budget(const struct footprint *f)
{
	return f->room ? &f->room->bytes : NULL;
}

void footprint_release(struct footprint *f)
{
	window_room_return(footprint_budget(f), set_bytes(f));
	free(f->set);
	free(f->sketch);
	memset(f, 0, sizeof(*f));
}

void footprint_clear(struct footprint *f)
{
	if (f->nr)
		memset(f->set, 0, sizeof(*f->set) << f->bits);
	if (f->is_sketch)
		hll_clear(f->sketch);
	f->nr = 0;
	f->has_zero = false;
	f->is_sketch = false;
}

/*
 * Returns the slot of the hash, or the free slot where the hash would go. block_hash() is a
 * bijection that everybody can invert, so a guest can choose blocks with the hashes that it wants;
 * the secret keeps it from choosing them for one slot (keyed_hash.h).
 */
static uint64_t *footprint_slot(const struct footprint *f, uint64_t hash)
{
	size_t mask = ((size_t)1 << f->bits) - 1;
	size_t i = keyed_home(f->secret, hash, f->bits);

	while (f->set[i] && f->set[i] != hash)
		i = (i + 1) & mask;
	return &f->set[i];
}

static int footprint_grow(struct footprint *f)
{
	struct footprint bigger = { .bits = f->set ? f->bits + 1 : FIRST_BITS,
				    .secret = f->set ? f->secret : keyed_hash_secret() };

	bigger.set = calloc((size_t)1 << bigger.bits, sizeof(*bigger.set));
	if (!bigger.set)
		return -ENOMEM;
	for (size_t i = 0; f->set && i < (size_t)1 << f->bits; i++)
		if (f->set[i])
			*footprint_slot(&bigger, f->set[i]) = f->set[i];
	free(f->set);
	f->set = bigger.set;
	f->bits = bigger.bits;
	f->secret = bigger.secret;
	return 0;
}

/*
 * Changes over to the sketch. The memory of the set is kept for the next period, unless it is
 * shared with other devices that could use it.
 */
static int to_sketch(struct footprint *f)
{
	const unsigned int bits = f->nr == FOOTPRINT_EXACT_BLOCKS ? HLL_BITS : HLL_BITS_SMALL;
	const uint64_t zero = 0;

	if (f->sketch && f->sketch->bits < bits) {
		free(f->sketch);
		f->sketch = NULL;
	}
	if (!f->sketch)
		f->sketch = hll_new(bits);
	if (!f->sketch)
		return -ENOMEM;
	if (f->nr) {
		for (size_t i = 0; i < (size_t)1 << f->bits; i++)
			if (f->set[i])
				hll_add_many(f->sketch, &f->set[i], 1);
		memset(f->set, 0, sizeof(*f->set) << f->bits);
	}
	if (f->room) {
		window_room_return(footprint_budget(f), set_bytes(f));
		free(f->set);
		f->set = NULL;
		f->bits = 0;
	}
	if (f->has_zero)
		hll_add_many(f->sketch, &zero, 1);
	f->nr = 0;
	f->has_zero = false;
	f->is_sketch = true;
	return 0;
}

/*
 * Makes room for one more hash, in a set that is at most half full or in the sketch. A set doubles
 * when it grows.
 */
static int make_room(struct footprint *f)
{
	size_t more = f->set ? set_bytes(f) : sizeof(*f->set) << FIRST_BITS;
	int ret;

	if (f->nr == FOOTPRINT_EXACT_BLOCKS)
		return to_sketch(f);
	if (f->set && 2 * (f->nr + 1) <= (size_t)1 << f->bits)
		return 0;
	if (!window_room_take(footprint_budget(f), more))
		return to_sketch(f);
	ret = footprint_grow(f);
	if (ret)
		window_room_return(footprint_budget(f), more);
	return ret;
}

int footprint_add_many(struct footprint *f, const uint64_t *hashes, size_t nr)
{
	size_t i = 0;

	for (; i < nr && !f->is_sketch; i++) {
		uint64_t *slot;
		int ret;

		if (!hashes[i]) {
			f->has_zero = true;
			continue;
		}
		slot = f->set ? footprint_slot(f, hashes[i]) : NULL;
		if (slot && *slot)
			continue;
		ret = make_room(f);
		if (ret)
			return ret;
		if (f->is_sketch)
			break;
		*footprint_slot(f, hashes[i]) = hashes[i];
		f->nr++;
	}
	if (i < nr)
		hll_add_many(f->sketch, hashes + i, nr - i);
	return 0;
}

double footprint_blocks(const struct footprint *f)
{
	return f->is_sketch ? hll_count(f->sketch) : (double)(f->nr + f->has_zero);
}

size_t footprint_memory(const struct footprint *f)
{
	return set_bytes(f) + (f->sketch ? hll_memory(f->sketch) : 0);
}
