/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/u64map.h"

#define FIRST_BITS 4
#define LAST_BITS  31 /* A larger map would have more keys than values can distinguish. */

void u64map_init(struct u64map *m)
{
	memset(m, 0, sizeof(*m));
}

void u64map_release(struct u64map *m)
{
	free(m->slots);
	u64map_init(m);
}

void u64map_clear(struct u64map *m)
{
	if (m->nr)
		memset(m->slots, 0, sizeof(*m->slots) << m->bits);
	m->nr = 0;
}

size_t u64map_memory(const struct u64map *m)
{
	return m->slots ? sizeof(*m->slots) << m->bits : 0;
}

/* Returns the slot of the key, or the free slot where the key would go. */
static struct u64map_slot *slot_of(const struct u64map *m, uint64_t key)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	size_t i = u64map_home(m, key);

	while (m->slots[i].value_1 && m->slots[i].key != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static int u64map_grow(struct u64map *m)
{
	struct u64map bigger = { .bits = m->slots ? m->bits + 1 : FIRST_BITS,
				 .nr = m->nr,
				 .secret = m->slots ? m->secret : keyed_hash_secret() };

	if (bigger.bits > LAST_BITS)
		return -ENOMEM;
	bigger.slots = calloc((size_t)1 << bigger.bits, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; m->slots && i < (size_t)1 << m->bits; i++)
		if (m->slots[i].value_1)
			*slot_of(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int u64map_put(struct u64map *m, uint64_t key, uint32_t value)
{
	struct u64map_slot *slot;

	if (!m->slots || 2 * (m->nr + 1) > (size_t)1 << m->bits) {
		int ret = u64map_grow(m);

		if (ret)
			return ret;
	}
	slot = slot_of(m, key);
	if (!slot->value_1)
		m->nr++;
	slot->key = key;
	slot->value_1 = value + 1;
	return 0;
}

/*
 * Erases by backward shift: an entry behind the hole moves into the hole unless its home lies after
 * it. So no search meets a free slot before it meets its key.
 */
void u64map_erase(struct u64map *m, uint64_t key)
{
	size_t mask = ((size_t)1 << m->bits) - 1;
	size_t hole;

	if (u64map_find(m, key) == U64MAP_NONE)
		return;
	hole = (size_t)(slot_of(m, key) - m->slots);
	for (size_t i = (hole + 1) & mask; m->slots[i].value_1; i = (i + 1) & mask) {
		size_t home = u64map_home(m, m->slots[i].key);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		m->slots[hole] = m->slots[i];
		hole = i;
	}
	m->slots[hole].value_1 = 0;
	m->nr--;
}
