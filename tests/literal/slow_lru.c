/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_lru.h"

int slow_lru_walk(const uint64_t *blocks, size_t nr, uint64_t *hits)
{
	uint64_t *stack = malloc(nr * sizeof(*stack) + 1);
	size_t depth = 0;

	if (!stack)
		return -ENOMEM;
	memset(hits, 0, (nr + 1) * sizeof(*hits));
	for (size_t i = 0; i < nr; i++) {
		size_t at = 0;

		while (at < depth && stack[at] != blocks[i])
			at++;
		hits[at < depth ? at + 1 : 0]++;
		if (at == depth)
			depth++;
		memmove(stack + 1, stack, at * sizeof(*stack));
		stack[0] = blocks[i];
	}
	free(stack);
	return 0;
}

struct reference {
	uint64_t block;
	size_t time;
};

static int by_block_and_time(const void *a, const void *b)
{
	const struct reference *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void tree_add(int32_t *tree, size_t nr, size_t at, int32_t by)
{
	for (at++; at <= nr; at += at & -at)
		tree[at] += by;
}

static int64_t tree_below(const int32_t *tree, size_t at)
{
	int64_t sum = 0;

	for (; at; at -= at & -at)
		sum += tree[at];
	return sum;
}

/*
 * before[i] becomes the time of the block's reference before i, or SIZE_MAX where there is none. It
 * is found by sorting.
 */
static int times_before(const uint64_t *blocks, size_t nr, size_t *before)
{
	struct reference *r = malloc(nr * sizeof(*r) + 1);

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		r[i] = (struct reference){ blocks[i], i };
	qsort(r, nr, sizeof(*r), by_block_and_time);
	for (size_t i = 0; i < nr; i++)
		before[r[i].time] = i && r[i - 1].block == r[i].block ? r[i - 1].time : SIZE_MAX;
	free(r);
	return 0;
}

int slow_lru_tree(const uint64_t *blocks, size_t nr, uint64_t *hits)
{
	size_t *before = malloc(nr * sizeof(*before) + 1), distinct = 0;
	int32_t *tree = calloc(nr + 1, sizeof(*tree));
	int err = before && tree ? times_before(blocks, nr, before) : -ENOMEM;

	if (!err)
		memset(hits, 0, (nr + 1) * sizeof(*hits));
	for (size_t i = 0; i < nr && !err; i++) {
		if (before[i] == SIZE_MAX) {
			hits[0]++;
			distinct++;
		} else {
			/*
			 * The depth is the number of blocks last referenced at that time or later,
			 * including the block itself.
			 */
			hits[distinct - (size_t)tree_below(tree, before[i])]++;
			tree_add(tree, nr, before[i], -1);
		}
		tree_add(tree, nr, i, 1);
	}
	free(before);
	free(tree);
	return err;
}

double slow_lru_miss_ratio(const uint64_t *hits, size_t nr, uint64_t cache_blocks)
{
	uint64_t hit = 0;

	for (uint64_t d = 1; d <= cache_blocks && d <= nr; d++)
		hit += hits[d];
	return 1 - (double)hit / (double)nr;
}
