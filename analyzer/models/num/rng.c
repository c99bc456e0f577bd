// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "analyzer/models/num/rng.h"

static uint64_t rng_splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	/*
	 * Four outputs of a bijection at different states are never all 0, so the state is valid.
	 */
	for (int i = 0; i < 4; i++)
		r->s[i] = rng_splitmix64(&seed);
}

void rng_stream(struct rng *r, uint64_t seed, uint64_t stream)
{
	uint64_t a = seed, b = stream;
	uint64_t mixed = rng_splitmix64(&a);

	/*
	 * Both numbers pass through the mixer, so that similar seeds and similar streams end far
	 * apart.
	 */
	rng_seed(r, mixed + (rng_splitmix64(&b) << 1) + 1);
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	__uint128_t m = (__uint128_t)rng_u64(r) * n;

	if ((uint64_t)m < n) {
		uint64_t threshold = -n % n;

		while ((uint64_t)m < threshold)
			m = (__uint128_t)rng_u64(r) * n;
	}
	return (uint64_t)(m >> 64);
}

void rng_shuffle(struct rng *r, size_t *items, size_t nr)
{
	for (size_t i = nr; i > 1; i--) {
		size_t j = rng_below(r, i), t = items[i - 1];

		items[i - 1] = items[j];
		items[j] = t;
	}
}

double rng_exponential(struct rng *r)
{
	return -log(rng_open(r));
}

/*
 * Draws by the polar method (Marsaglia and Bray, A convenient method for generating normal
 * variables, SIAM Review 6, 1964). The second value is dropped, so that the state depends on the
 * seed alone.
 */
double rng_normal(struct rng *r)
{
	double u, v, q;

	do {
		u = 2 * rng_uniform(r) - 1;
		v = 2 * rng_uniform(r) - 1;
		q = u * u + v * v;
	} while (q >= 1 || q == 0);
	return u * sqrt(-2 * log(q) / q);
}

/*
 * Marsaglia, Tsang: A simple method for generating gamma variables, ACM TOMS 26, 2000. Below
 * shape 1 by the boost gamma(k + 1) * U^(1/k), which may underflow to 0 for tiny shapes.
 */
double rng_gamma(struct rng *r, double shape)
{
	double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d), x, v, u;

	for (;;) {
		x = rng_normal(r);
		v = 1 + c * x;
		if (v <= 0)
			continue;
		v = v * v * v;
		u = rng_open(r);
		if (u < 1 - 0.0331 * x * x * x * x)
			break;
		if (log(u) < 0.5 * x * x + d * (1 - v + log(v)))
			break;
	}
	return shape < 1 ? d * v * pow(rng_open(r), 1 / shape) : d * v;
}

/*
 * Up to this number, one logarithm of a product is cheaper than the rejection method of the gamma
 * variate.
 */
#define ERLANG_PRODUCT_MAX 16

double rng_erlang(struct rng *r, uint64_t nr)
{
	double product = 1;

	if (nr > ERLANG_PRODUCT_MAX)
		return rng_gamma(r, (double)nr);
	/* A product of 16 factors of at least 2^-53 stays above the smallest double. */
	for (uint64_t i = 0; i < nr; i++)
		product *= rng_open(r);
	return -log(product);
}
