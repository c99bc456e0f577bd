/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/hll.h"

/* A rank is found in the bits of a hash that are left once the register is chosen. */
#define RANK_BITS_MAX (64 - HLL_BITS_SMALL)

struct hll *hll_new(unsigned int bits)
{
	struct hll *h = calloc(1, sizeof(*h) + ((size_t)1 << bits));

	if (h)
		h->bits = bits;
	return h;
}

size_t hll_memory(const struct hll *h)
{
	return sizeof(*h) + ((size_t)1 << h->bits);
}

void hll_clear(struct hll *h)
{
	memset(h->registers, 0, (size_t)1 << h->bits);
}

void hll_add_many(struct hll *h, const uint64_t *hashes, size_t nr)
{
	const unsigned int bits = h->bits;

	for (size_t i = 0; i < nr; i++) {
		uint8_t *reg = &h->registers[hashes[i] >> (64 - bits)];
		/*
		 * The bit set below the hash ends the run of zeros behind the last bit of the rank.
		 */
		uint64_t rest = hashes[i] << bits | 1ull << (bits - 1);
		uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);

		/*
		 * The register is always written, because a branch is mispredicted while registers
		 * still grow.
		 */
		*reg = rank > *reg ? rank : *reg;
	}
}

/*
 * Sums x + sum over k >= 1 of x^(2^k) 2^(k-1). It diverges at x = 1, where all registers are empty.
 */
static double hll_sigma(double x)
{
	double y = 1, z = x, before;

	do {
		before = z;
		x *= x;
		z += x * y;
		y += y;
	} while (z != before);
	return z;
}

/* (1 - x - sum over k >= 1 of (1 - x^(2^-k))^2 2^-k) / 3 */
static double hll_tau(double x)
{
	double y = 1, z = 1 - x, before;

	if (x == 0 || x == 1)
		return 0;
	do {
		before = z;
		x = sqrt(x);
		y *= 0.5;
		z -= (1 - x) * (1 - x) * y;
	} while (z != before);
	return z / 3;
}

double hll_count(const struct hll *h)
{
	const size_t nr_registers = (size_t)1 << h->bits;
	const unsigned int rank_bits = 64 - h->bits;
	const double m = (double)nr_registers;
	unsigned int nr[RANK_BITS_MAX + 2] = { 0 };
	double z;

	for (size_t i = 0; i < nr_registers; i++)
		nr[h->registers[i]]++;
	if (nr[0] == nr_registers)
		return 0;
	z = m * hll_tau(1 - nr[rank_bits + 1] / m);
	for (unsigned int k = rank_bits; k >= 1; k--)
		z = 0.5 * (z + nr[k]);
	z += m * hll_sigma(nr[0] / m);
	return m * m / (2 * log(2) * z);
}
