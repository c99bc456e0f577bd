/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qhist: a histogram of times of any magnitude, for quantiles of simulated times.
 *
 * It has 64 equal buckets per octave, from 2^-40 to 2^88; values beyond are counted at the ends. A
 * quantile, placed within its bucket by interpolation, has an error below 1.6 % in the worst case
 * and a far smaller one where the density is smooth. Adding a value reads its bucket from the bits
 * of the double, without a logarithm. Memory: 512 bytes per octave that has values. The least and
 * the largest value are kept exactly, and no quantile lies outside of them: where every time is 50
 * s, so is every quantile.
 */
#ifndef ANALYZER_QHIST_H
#define ANALYZER_QHIST_H

#include <stdint.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"

#define QHIST_OCTAVES 128
#define QHIST_LOWEST  (-40)
#define QHIST_BUCKETS 64

struct qhist {
	uint64_t *octaves[QHIST_OCTAVES]; /* owned; NULL: no values there */
	uint64_t nr;
	uint64_t lost;	 /* values that were not counted because memory was short */
	double min, max; /* over all counted values; without meaning while nr is 0 */
};

/* A zeroed struct is empty. */
void qhist_release(struct qhist *h);
/* Adds src to dst. Returns 0, or -ENOMEM with dst unchanged. */
int qhist_merge(struct qhist *dst, const struct qhist *src);
/*
 * Names the parts of a histogram, as struct parallel says. A received histogram was empty before.
 */
int qhist_pieces(struct qhist *h, struct parallel_bytes *b);
/* Makes room for one octave and counts the value there. The first value of all comes here. */
void qhist_add_slow(struct qhist *h, unsigned octave, unsigned bucket, double value);

/* Finds the bucket of a value, which is at least 0. */
static inline void qhist_place(double value, unsigned *octave, unsigned *bucket)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	*octave = (unsigned)(bits >> 52) - (1023 + QHIST_LOWEST);
	*bucket = (unsigned)(bits >> 46) & (QHIST_BUCKETS - 1);
	/* too small (0 wraps to a large number) or too large */
	if (*octave >= QHIST_OCTAVES) {
		*bucket = value < 1 ? 0 : QHIST_BUCKETS - 1;
		*octave = value < 1 ? 0 : QHIST_OCTAVES - 1;
	}
}

static inline void qhist_add(struct qhist *h, double value)
{
	unsigned octave, bucket;

	qhist_place(value, &octave, &bucket);
	if (!h->octaves[octave]) {
		qhist_add_slow(h, octave, bucket, value);
		return;
	}
	h->octaves[octave][bucket]++;
	h->nr++;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

/*
 * Returns the p-quantile, 0 < p < 1, which is never outside of min to max; NaN while empty. The
 * lowest bucket stands for 0.
 */
double qhist_quantile(const struct qhist *h, double p);
/*
 * Returns the share of values at or below x, interpolated as quantiles are: 0 below min, 1 from max
 * on; NaN while empty.
 */
double qhist_share(const struct qhist *h, double x);

#endif
