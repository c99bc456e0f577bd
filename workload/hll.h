/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hll: HyperLogLog, which estimates the number of distinct 64-bit hashes in 16 KiB.
 *
 * It has 2^14 registers, so its standard error is 1.04 / sqrt(2^14) = 0.8 %. The estimator is the
 * improved raw estimator of Ertl, New cardinality estimation algorithms for HyperLogLog sketches,
 * 2017, arXiv 1702.01284, Algorithm 6. It needs no bias tables and no switch to linear counting,
 * and holds from 0 to 2^64. The union of two streams is the maximum of their registers, so merging
 * is exact.
 */
#ifndef WORKLOAD_HLL_H
#define WORKLOAD_HLL_H

#include <stddef.h>
#include <stdint.h>

#define HLL_BITS	 14
#define HLL_NR_REGISTERS (1u << HLL_BITS)

struct hll {
	uint8_t registers[HLL_NR_REGISTERS];
};

/* A zeroed struct is empty. */
void hll_clear(struct hll *h);
/* The hashes must be uniform over 64 bits. */
void hll_add_many(struct hll *h, const uint64_t *hashes, size_t nr);
/* Returns 0 while empty. Costs O(registers). */
double hll_count(const struct hll *h);

#endif
