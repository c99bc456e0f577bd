/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng: random numbers with explicit state, the same on every machine.
 *
 * xoshiro256** (Blackman, Vigna: Scrambled linear pseudorandom number generators, ACM TOMS 47,
 * 2021), period 2^256 - 1, seeded through splitmix64. Streams that must not overlap are made by
 * rng_stream().
 *
 * No function has hidden state: the sequence is a function of the seed alone. One rng belongs to
 * one thread at a time. Every variate consumes a number of draws that may depend on the values
 * drawn; where two runs must share their randomness, give each source of it a stream of its own.
 */
#ifndef ANALYZER_RNG_H
#define ANALYZER_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

/* Every seed is valid, also 0. */
void rng_seed(struct rng *r, uint64_t seed);
/*
 * Begins stream number `stream` of a seed. Different pairs (seed, stream) give unrelated sequences.
 */
void rng_stream(struct rng *r, uint64_t seed, uint64_t stream);

static inline uint64_t rng_u64(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t x = s[1] * 5, result = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

/* Returns a number in [0, 1), on the grid of 2^-53. */
static inline double rng_uniform(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* Returns a number in (0, 1): never 0 and never 1, so that its logarithm exists. */
static inline double rng_open(struct rng *r)
{
	return ((double)(rng_u64(r) >> 12) + 0.5) * 0x1p-52;
}

/*
 * Returns a number from 0 to n-1, each exactly equally likely (Lemire, Fast random integer
 * generation in an interval, ACM TOMACS 29, 2019); n >= 1.
 */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Shuffles the first nr entries (Fisher-Yates), so that every order is equally likely. */
void rng_shuffle(struct rng *r, size_t *items, size_t nr);

/* Returns a variate of mean 1. */
double rng_exponential(struct rng *r);
/* Returns a variate of mean 0 and variance 1. */
double rng_normal(struct rng *r);
/* Returns a variate of shape k > 0 and scale 1: mean k, variance k. */
double rng_gamma(struct rng *r, double shape);
/* Returns the sum of nr exponential variates of mean 1; nr >= 1. O(min(nr, 16)). */
double rng_erlang(struct rng *r, uint64_t nr);

#endif
