/* SPDX-License-Identifier: Apache-2.0 */
/* This file was made by scripts/histogram-table.py. */
#ifndef FORMATS_HISTOGRAM_TABLE_H
#define FORMATS_HISTOGRAM_TABLE_H

#include <stdint.h>

/*
 * The 32 bucket ends of one binade in ns, scaled so that the binade begins at 2^63 and rounded
 * down, followed by a guard that no value exceeds. Entry t belongs to bucket 32 * exponent - 956 +
 * t.
 */
static const uint64_t histogram_ends[33] = {
	0x81ffa7a9549ca6e3, 0x84d8626d3118d396, 0x87c11235836d16a3, 0x8aba10758e1ea3cf,
	0x8dc3b8960164a7d9, 0x90de67fff600044c, 0x940a7e28259fb382, 0x97485c9a622adb60,
	0x9a9867054d512391, 0x9dfb034651c99c68, 0xa1709975dfb06757, 0xa4f993f3ed7b61ca,
	0xa8965f74bf065071, 0xac476b0df43f745f, 0xb00d2843e1060dc2, 0xb3e80b172fd51af7,
	0xb7d88a12d0dd9ea0, 0xbbdf1e5a373ce5c6, 0xbffc43b7e604a922, 0xc43078ac4ed47ae7,
	0xc87c3e7d03cdbec3, 0xcce019443eb56ce4, 0xd15c9000bf211c1f, 0xd5f22ca6019743e0,
	0xdaa17c2cd19555db, 0xdf6b0ea438793a89, 0xe44f7742cb56e3dd, 0xe94f4c7859ce1066,
	0xee6b280000000000, 0xf3a3a6f29dd0c333, 0xf8f969d9b5abf948, 0xfe6d14c2b5114024,
	0xffffffffffffffff,
};

/* The number of ends below the beginning of each 128th of a binade, where a lookup starts. */
static const uint8_t histogram_first[128] = {
	0,  0,	1,  1,	1,  2,	2,  2,	3,  3,	3,  4,	4,  4,	5,  5,	5,  6,	6,  6,	6,  7,
	7,  7,	8,  8,	8,  9,	9,  9,	10, 10, 10, 10, 11, 11, 11, 12, 12, 12, 12, 13, 13, 13,
	13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 16, 16, 17, 17, 17, 17, 18, 18, 18, 18, 19, 19,
	19, 19, 19, 20, 20, 20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 22, 23, 23, 23, 23, 24, 24,
	24, 24, 24, 25, 25, 25, 25, 25, 26, 26, 26, 26, 26, 27, 27, 27, 27, 27, 28, 28, 28, 28,
	28, 29, 29, 29, 29, 29, 30, 30, 30, 30, 30, 31, 31, 31, 31, 31, 31, 32,
};

#endif
