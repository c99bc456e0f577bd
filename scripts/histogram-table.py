#!/usr/bin/env python3
# scripts/histogram-table.py > formats/histogram_table.h
# Bucket ends of formats/histogram.h in exact integer arithmetic; tests/unit/formats/test_histogram.c checks
# the result by an independent way. One binade holds 32 ends, the same mantissas in each.


def root32(x):
    """floor of the 32nd root of x: five integer square roots, each rounded down."""
    from math import isqrt
    for _ in range(5):
        x = isqrt(x)
    return x


LOWEST = -956
ends = [root32((2**63 * 10**9) ** 32 * 2**t >> -LOWEST) for t in range(32)]
first = [sum(e < (128 + cell) << 56 for e in ends) for cell in range(128)]
ends.append(2**64 - 1)

print("""/* SPDX-License-Identifier: Apache-2.0 */
/* Made by scripts/histogram-table.py. */
#ifndef FORMATS_HISTOGRAM_TABLE_H
#define FORMATS_HISTOGRAM_TABLE_H

#include <stdint.h>

/*
 * The 32 bucket ends of one binade, in ns scaled so that the binade begins at 2^63, rounded down;
 * then a guard that nothing exceeds. Entry t belongs to bucket 32 * exponent - 956 + t.
 */
static const uint64_t histogram_ends[33] = {""")
for i in range(0, 33, 4):
    print("\t" + " ".join(f"0x{e:016x}," for e in ends[i : i + 4]))
print("""};

/* Ends below the beginning of each 128th of a binade: where a lookup starts. */
static const uint8_t histogram_first[128] = {""")
for i in range(0, 128, 16):
    print("\t" + " ".join(f"{f}," for f in first[i : i + 16]))
print("};\n\n#endif")
