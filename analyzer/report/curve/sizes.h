/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sizes: how large requests are: the share of requests and of bytes by power of two of the size,
 * with reads above and writes below the same axis. It is drawn from the exact size counts of a
 * profile.
 */
#ifndef ANALYZER_REPORT_CURVE_SIZES_H
#define ANALYZER_REPORT_CURVE_SIZES_H

#include "analyzer/report/draw/mirror.h"
#include "formats/profile/profile.h"

/* The bins are named by their upper ends: 512 B, 1 KiB, ... 1 MiB, and larger. */
#define SIZES_BINS MIRROR_BINS

struct sizes {
	double requests[2][SIZES_BINS]; /* index 0: reads, 1: writes */
	double bytes[2][SIZES_BINS];
};

unsigned int sizes_bin(uint32_t bytes);
/* Sizes beyond the profile's bound on distinct sizes are not included. */
void sizes_of(const struct profile *p, struct sizes *out);

enum sizes_share {
	SIZES_REQUESTS,
	SIZES_BYTES,
};
/* Returns 0 or -ENODATA. */
int sizes_draw(const struct profile *p, enum sizes_share share, const struct view *v,
	       struct buf *out);
int sizes_csv(const struct profile *p, struct buf *out);

#endif
