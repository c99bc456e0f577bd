/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "workload/hll.h"

#define RANK_BITS (64 - HLL_BITS) /* left of a hash once the register is chosen */

void hll_clear(struct hll *h)
{
	memset(h, 0, sizeof(*h));
}

void hll_add_many(struct hll *h, const uint64_t *hashes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint8_t *reg = &h->registers[hashes[i] >> RANK_BITS];
		/*
		 * The bit set below the hash ends the run of zeros at RANK_BITS + 1 at the latest.
		 */
		uint64_t rest = hashes[i] << HLL_BITS | 1ull << (HLL_BITS - 1);
		uint8_t rank = (uint8_t)(__builtin_clzll(rest) + 1);

		if (rank > *reg)
			*reg = rank;
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
	const double m = HLL_NR_REGISTERS;
	unsigned int nr[RANK_BITS + 2] = { 0 };
	double z;

	for (size_t i = 0; i < HLL_NR_REGISTERS; i++)
		nr[h->registers[i]]++;
	if (nr[0] == HLL_NR_REGISTERS)
		return 0;
	z = m * hll_tau(1 - nr[RANK_BITS + 1] / m);
	for (unsigned int k = RANK_BITS; k >= 1; k--)
		z = 0.5 * (z + nr[k]);
	z += m * hll_sigma(nr[0] / m);
	return m * m / (2 * log(2) * z);
}
