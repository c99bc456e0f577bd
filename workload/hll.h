/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hll: HyperLogLog, which estimates the number of distinct 64-bit hashes.
 *
 * With 2^bits registers its standard error is 1.04 / sqrt(2^bits): 0.8 % in 16 KiB with 14 bits,
 * and 1.6 % in 4 KiB with 12 bits. The estimator is the improved raw estimator of Ertl, New
 * cardinality estimation algorithms for HyperLogLog sketches, 2017, arXiv 1702.01284, Algorithm 6.
 * It needs no bias tables and no switch to linear counting, and holds from 0 to 2^64. The union of
 * two streams is the maximum of their registers, so merging two sketches of the same size is exact.
 */
#ifndef WORKLOAD_HLL_H
#define WORKLOAD_HLL_H

#include <stddef.h>
#include <stdint.h>

#define HLL_BITS       14
#define HLL_BITS_SMALL 12

struct hll {
	unsigned int bits;
	uint8_t registers[]; /* 2^bits */
};

/* Returns an empty sketch, which free() frees, or NULL where memory is short. */
struct hll *hll_new(unsigned int bits);
size_t hll_memory(const struct hll *h);
void hll_clear(struct hll *h);
/* The hashes must be uniform over 64 bits. */
void hll_add_many(struct hll *h, const uint64_t *hashes, size_t nr);
/* Returns 0 while empty. Costs O(registers). */
double hll_count(const struct hll *h);

#endif
