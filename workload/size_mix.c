/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/size_mix.h"

#define NR_DIRECT (SIZE_MIX_DIRECT_SECTORS + 1)

static void counts_release(struct size_counts *c)
{
	bool grows = c->grows;

	free(c->direct);
	free(c->few);
	free(c->other);
	u64map_release(&c->others);
	memset(c, 0, sizeof(*c));
	c->grows = grows;
}

static void counts_clear(struct size_counts *c)
{
	if (c->direct)
		memset(c->direct, 0, NR_DIRECT * sizeof(*c->direct));
	u64map_clear(&c->others);
	c->nr_few = 0;
	c->beyond = 0;
}

void size_mix_let_grow(struct size_mix *m)
{
	for (size_t i = 0; i < 2; i++)
		m->direction[i].grows = true;
}

void size_mix_release(struct size_mix *m)
{
	for (size_t i = 0; i < 2; i++)
		counts_release(&m->direction[i]);
	memset(m->requests, 0, sizeof(m->requests));
	memset(m->bytes, 0, sizeof(m->bytes));
}

void size_mix_clear(struct size_mix *m)
{
	for (size_t i = 0; i < 2; i++)
		counts_clear(&m->direction[i]);
	memset(m->requests, 0, sizeof(m->requests));
	memset(m->bytes, 0, sizeof(m->bytes));
}

static int new_other(struct size_counts *c, uint32_t bytes)
{
	if (c->others.nr == c->cap_other) {
		size_t cap = c->cap_other ? 2 * c->cap_other : 16;
		struct size_count *other = realloc(c->other, cap * sizeof(*other));

		if (!other)
			return -ENOMEM;
		c->other = other;
		c->cap_other = cap;
	}
	c->other[c->others.nr] = (struct size_count){ .bytes = bytes };
	return u64map_put(&c->others, bytes, (uint32_t)c->others.nr);
}

static int add_other(struct size_counts *c, uint32_t bytes, uint64_t count)
{
	uint32_t at = u64map_find(&c->others, bytes);

	if (at == U64MAP_NONE) {
		int ret = c->others.nr < SIZE_MIX_MAX_OTHERS ? new_other(c, bytes) : 1;

		if (ret) {
			c->beyond += count;
			return ret < 0 ? ret : 0;
		}
		at = (uint32_t)c->others.nr - 1;
	}
	c->other[at].count += count;
	return 0;
}

/* Counts a size in the list. Returns 1 where the list has no room for another size, or -ENOMEM. */
static int size_mix_add_few(struct size_counts *c, uint32_t bytes, uint64_t count)
{
	uint32_t cap = c->cap_few ? 2 * c->cap_few : 4;
	struct size_count *few;

	for (uint32_t i = 0; i < c->nr_few; i++) {
		if (c->few[i].bytes != bytes)
			continue;
		c->few[i].count += count;
		return 0;
	}
	if (c->nr_few == SIZE_MIX_FEW)
		return 1;
	if (c->nr_few == c->cap_few) {
		few = realloc(c->few, cap * sizeof(*few));
		if (!few)
			return -ENOMEM;
		c->few = few;
		c->cap_few = cap;
	}
	c->few[c->nr_few++] = (struct size_count){ bytes, count };
	return 0;
}

/* Allocates the table and moves the counts of the list into it. */
static int size_mix_take_table(struct size_counts *c)
{
	c->direct = calloc(NR_DIRECT, sizeof(*c->direct));
	if (!c->direct)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_few; i++)
		c->direct[c->few[i].bytes / SECTOR_BYTES] = c->few[i].count;
	free(c->few);
	c->few = NULL;
	c->nr_few = c->cap_few = 0;
	return 0;
}

static int add_size(struct size_counts *c, uint32_t bytes, uint64_t count)
{
	uint32_t sectors = bytes / SECTOR_BYTES;
	int ret = 1;

	if (bytes % SECTOR_BYTES || sectors > SIZE_MIX_DIRECT_SECTORS)
		return add_other(c, bytes, count);
	if (!c->direct && c->grows)
		ret = size_mix_add_few(c, bytes, count);
	if (!c->direct && ret == 1)
		ret = size_mix_take_table(c);
	if (ret < 0)
		c->beyond += count;
	else if (c->direct)
		c->direct[sectors] += count;
	return ret < 0 ? ret : 0;
}

int size_mix_add_many(struct size_mix *m, const struct request *r, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		unsigned int operation = r[i].operation;

		m->requests[operation]++;
		m->bytes[operation] += r[i].bytes;
		if (operation <= OPERATION_WRITE)
			ret |= add_size(&m->direction[operation], r[i].bytes, 1);
	}
	return ret ? -ENOMEM : 0;
}

double size_mix_mean_bytes(const struct size_mix *m, enum operation operation)
{
	if (!m->requests[operation])
		return NAN;
	return (double)m->bytes[operation] / (double)m->requests[operation];
}

static int by_bytes(const void *a, const void *b)
{
	const struct size_count *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int size_mix_sizes(const struct size_mix *m, enum operation operation, struct size_count **out,
		   size_t *nr)
{
	const struct size_counts *c = &m->direction[operation];
	struct size_count *sizes;
	size_t n = c->others.nr + c->nr_few, at = 0;

	for (size_t i = 0; c->direct && i < NR_DIRECT; i++)
		n += c->direct[i] != 0;
	if (!n) {
		*out = NULL;
		*nr = 0;
		return 0;
	}
	sizes = malloc(n * sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	for (uint32_t i = 0; c->direct && i < NR_DIRECT; i++)
		if (c->direct[i])
			sizes[at++] = (struct size_count){ i * SECTOR_BYTES, c->direct[i] };
	if (c->nr_few)
		memcpy(sizes + at, c->few, c->nr_few * sizeof(*sizes));
	at += c->nr_few;
	if (c->others.nr)
		memcpy(sizes + at, c->other, c->others.nr * sizeof(*sizes));
	qsort(sizes, n, sizeof(*sizes), by_bytes);
	*out = sizes;
	*nr = n;
	return 0;
}

static size_t counts_memory(const struct size_counts *c)
{
	return (c->direct ? NR_DIRECT * sizeof(*c->direct) : 0) + u64map_memory(&c->others) +
	       c->cap_other * sizeof(*c->other) + c->cap_few * sizeof(*c->few);
}

size_t size_mix_memory(const struct size_mix *m)
{
	return counts_memory(&m->direction[0]) + counts_memory(&m->direction[1]);
}
