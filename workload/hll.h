/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hll: HyperLogLog, the number of distinct 64-bit hashes in 16 KiB.
 *
 * 2^14 registers; standard error 1.04 / sqrt(2^14) = 0.8 %. The estimator is Ertl's improved raw
 * one (arXiv 1702.01284, Algorithm 6): no bias tables, no switch to linear counting, right from 0
 * to 2^64. The union of two streams is the maximum of their registers: merging is exact.
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
/* Hashes must be uniform over 64 bits. */
void hll_add_many(struct hll *h, const uint64_t *hashes, size_t nr);
void hll_merge(struct hll *dst, const struct hll *src);
/* 0 while empty. O(registers). */
double hll_count(const struct hll *h);

#endif
