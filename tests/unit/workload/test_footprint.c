/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/literal/slow_stream.h"
#include "tests/support/tap.h"
#include "workload/block_hash.h"
#include "workload/footprint.h"

static void add_blocks(struct footprint *f, uint64_t first, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t hash = block_hash(1, first + i);

		if (footprint_add_many(f, &hash, 1))
			abort();
	}
}

static void exact_up_to_the_bound(void)
{
	struct footprint f = { 0 };
	struct slow_rng g = { 1 };
	static bool seen[FOOTPRINT_EXACT_BLOCKS];
	uint64_t distinct = 0;

	ok_near(footprint_blocks(&f), 0, 0);
	for (size_t i = 0; i < 60000; i++) {
		uint64_t block = slow_below(&g, FOOTPRINT_EXACT_BLOCKS);

		distinct += !seen[block];
		seen[block] = true;
		add_blocks(&f, block, 1);
		if (i % 5000 == 0)
			ok_near(footprint_blocks(&f), (double)distinct, 0);
	}
	add_blocks(&f, 0, FOOTPRINT_EXACT_BLOCKS);
	ok_near(footprint_blocks(&f), FOOTPRINT_EXACT_BLOCKS, 0);
	ok(footprint_memory(&f) <= 256 << 10);
	footprint_clear(&f);
	ok_near(footprint_blocks(&f), 0, 0);
	add_blocks(&f, 5, 7);
	ok_near(footprint_blocks(&f), 7, 0);
	footprint_release(&f);
}

static void estimated_past_it(void)
{
	static const uint64_t nr[] = { 16385, 20000, 50000, 100000, 300000, 1000000, 5000000 };

	for (size_t i = 0; i < TAP_NR(nr); i++) {
		struct footprint f = { 0 };

		add_blocks(&f, i << 32, nr[i]);
		/* Four standard errors of 0.81 %. */
		ok_ratio(footprint_blocks(&f), (double)nr[i], 0.033);
		add_blocks(&f, i << 32, nr[i] / 2); /* nothing new */
		ok_ratio(footprint_blocks(&f), (double)nr[i], 0.033);
		footprint_release(&f);
	}
}

static void zero_hash(void)
{
	const uint64_t hashes[] = { 0, 0, 1, 0 };
	struct footprint f = { 0 };

	ok_int(footprint_add_many(&f, hashes, 4), 0);
	ok_near(footprint_blocks(&f), 2, 0);
	add_blocks(&f, 0, 100000);
	ok_ratio(footprint_blocks(&f), 100000, 0.033);
	footprint_release(&f);
}

static double sketch_error(unsigned int bits)
{
	double sum_squares = 0;
	const size_t seeds = 50, nr = 40000;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct hll *h = hll_new(bits);
		double error;

		for (uint64_t i = 0; i < nr; i++) {
			uint64_t hash = block_hash(block_hash_mix(seed), i);

			hll_add_many(h, &hash, 1);
		}
		error = hll_count(h) / (double)nr - 1;
		sum_squares += error * error;
		free(h);
	}
	return sqrt(sum_squares / (double)seeds);
}

/* The standard error itself, from 50 values: within a factor of 1.4 of 0.81 % and 1.63 %. */
static void sketch_over_seeds(void)
{
	ok(sketch_error(HLL_BITS) < 0.0081 * 1.4);
	ok(sketch_error(HLL_BITS_SMALL) < 0.0163 * 1.4);
}

/* The set marks free places by 0, so the hash 0 is kept apart. */
static void zero_hash_counts_once(void)
{
	const uint64_t hashes[] = { 3, 0, 5, 0 };
	struct footprint f = { 0 };

	ok_int(footprint_add_many(&f, hashes, 4), 0);
	ok_near(footprint_blocks(&f), 3, 0);
	footprint_release(&f);
}

/* All registers but one at their last rank: the estimator's far end, Ertl's tau. */
static void saturated_sketch(void)
{
	struct hll *h = hll_new(HLL_BITS);
	double all;

	memset(h->registers, 64 - HLL_BITS + 1, ((size_t)1 << HLL_BITS));
	ok(isinf(hll_count(h)));
	h->registers[0] = 64 - HLL_BITS;
	all = hll_count(h);
	ok(isfinite(all) && all > ldexp(1, 64));
	memset(h->registers, 64 - HLL_BITS,
	       ((size_t)1 << HLL_BITS) / 2); /* the others at 64 - HLL_BITS + 1 */
	ok(hll_count(h) < all);
	/*
	 * Half at each of the last two ranks: tau(1/2) = (1/2 - sum (1 - 2^(-2^-k))^2 2^-k) / 3 =
	 * 0.14992.
	 */
	ok_ratio(hll_count(h),
		 (1u << HLL_BITS) * ldexp(1, 64 - HLL_BITS) / (2 * log(2) * (0.5 + 0.14992)), 1e-4);
	free(h);
}

#define CHOSEN	       8000
#define GOLDEN_INVERSE 0xf1de83e19937733dull /* times the constant of keyed_home() it is 1 */

/* Returns the length of the longest run of slots that are not free, which a search may walk. */
static size_t longest_run(const struct footprint *f)
{
	size_t nr = (size_t)1 << f->bits, run = 0, most = 0;

	for (size_t i = 0; i < 2 * nr; i++) {
		run = f->set[i & (nr - 1)] ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

/*
 * Hashes that share their low bits, and hashes that would share a home if there were no secret. A
 * guest gets every hash that it wants, because block_hash() can be inverted.
 */
static void chosen_blocks_do_not_meet(void)
{
	for (int kind = 0; kind < 2; kind++) {
		struct footprint f = { 0 };

		for (uint64_t i = 1; i <= CHOSEN; i++) {
			uint64_t hash = kind ? i * GOLDEN_INVERSE : i << 32;

			ok_int(footprint_add_many(&f, &hash, 1), 0);
		}
		ok_near(footprint_blocks(&f), CHOSEN, 0);
		tap_note("a search walks %zu slots at most", longest_run(&f));
		ok(longest_run(&f) < CHOSEN / 20);
		footprint_release(&f);
	}
}

static const struct tap_test tests[] = {
	{ "blocks that were chosen to meet do not meet", chosen_blocks_do_not_meet },
	{ "the hash 0 counts once", zero_hash_counts_once },
	{ "the footprint is exact up to its bound", exact_up_to_the_bound },
	{ "past the bound it is within four standard errors", estimated_past_it },
	{ "a hash of zero is a block like any other", zero_hash },
	{ "the sketch's standard error is the one it states", sketch_over_seeds },
	{ "a full sketch still estimates", saturated_sketch },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
