// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/sim/qhist.h"

void qhist_release(struct qhist *h)
{
	for (unsigned i = 0; i < QHIST_OCTAVES; i++)
		free(h->octaves[i]);
	*h = (struct qhist){ 0 };
}

void qhist_add_slow(struct qhist *h, unsigned octave, unsigned bucket, double value)
{
	h->octaves[octave] = calloc(QHIST_BUCKETS, sizeof(uint64_t));
	if (!h->octaves[octave]) {
		h->lost++;
		return;
	}
	if (!h->nr || value < h->min)
		h->min = value;
	if (!h->nr || value > h->max)
		h->max = value;
	h->octaves[octave][bucket]++;
	h->nr++;
}

int qhist_merge(struct qhist *dst, const struct qhist *src)
{
	for (unsigned i = 0; i < QHIST_OCTAVES; i++) {
		if (!src->octaves[i] || dst->octaves[i])
			continue;
		dst->octaves[i] = calloc(QHIST_BUCKETS, sizeof(uint64_t));
		if (!dst->octaves[i])
			return -ENOMEM;
	}
	for (unsigned i = 0; i < QHIST_OCTAVES; i++) {
		uint64_t *restrict to = dst->octaves[i];
		const uint64_t *restrict from = src->octaves[i];

		for (unsigned b = 0; from && b < QHIST_BUCKETS; b++)
			to[b] += from[b];
	}
	if (src->nr && (!dst->nr || src->min < dst->min))
		dst->min = src->min;
	if (src->nr && (!dst->nr || src->max > dst->max))
		dst->max = src->max;
	dst->nr += src->nr;
	dst->lost += src->lost;
	return 0;
}

/* The product is exact, because one factor is a power of two, which is made of its bits. */
static double qhist_edge(unsigned octave, double bucket)
{
	uint64_t bits = (uint64_t)(octave + QHIST_LOWEST + 1023) << 52;
	double power;

	if (!octave && bucket < 1)
		return 0;
	memcpy(&power, &bits, sizeof(power));
	return (1 + bucket / QHIST_BUCKETS) * power;
}

double qhist_quantile(const struct qhist *h, double p)
{
	double want = p * (double)h->nr, below = 0;

	for (unsigned i = 0; i < QHIST_OCTAVES; i++) {
		for (unsigned b = 0; h->octaves[i] && b < QHIST_BUCKETS; b++) {
			double count = (double)h->octaves[i][b];

			if (!count || below + count < want) {
				below += count;
				continue;
			}
			return !i && !b ? 0
					: fmin(fmax(qhist_edge(i, b + (want - below) / count),
						    h->min),
					       h->max);
		}
	}
	return NAN;
}

double qhist_share(const struct qhist *h, double x)
{
	unsigned octave, bucket;
	uint64_t below = 0;
	double low, count;

	if (!h->nr)
		return NAN;
	if (x >= h->max)
		return 1;
	if (x < h->min)
		return 0;
	qhist_place(x, &octave, &bucket);
	for (unsigned i = 0; i <= octave; i++) {
		unsigned end = i < octave ? QHIST_BUCKETS : bucket;

		for (unsigned b = 0; h->octaves[i] && b < end; b++)
			below += h->octaves[i][b];
	}
	count = h->octaves[octave] ? (double)h->octaves[octave][bucket] : 0;
	low = qhist_edge(octave, bucket);
	/* The lowest bucket stands for 0, and the highest bucket ends below the largest values. */
	if ((octave || bucket) && x < qhist_edge(octave, bucket + 1.0))
		count = count * (x - low) / (qhist_edge(octave, bucket + 1.0) - low);
	return ((double)below + count) / (double)h->nr;
}

int qhist_pieces(struct qhist *h, struct parallel_bytes *b)
{
	uint64_t seen[QHIST_OCTAVES / 64] = { 0 };
	int ret;

	for (unsigned i = 0; i < QHIST_OCTAVES; i++)
		if (h->octaves[i])
			seen[i / 64] |= 1ull << i % 64;
	ret = parallel_piece(b, seen, sizeof(seen));
	for (unsigned i = 0; i < QHIST_OCTAVES && !ret; i++) {
		if (!(seen[i / 64] >> i % 64 & 1))
			continue;
		if (!h->octaves[i])
			h->octaves[i] = calloc(QHIST_BUCKETS, sizeof(**h->octaves));
		ret = h->octaves[i] ? parallel_piece(b, h->octaves[i],
						     QHIST_BUCKETS * sizeof(**h->octaves))
				    : -ENOMEM;
	}
	if (!ret)
		ret = parallel_piece(b, &h->nr, sizeof(h->nr));
	if (!ret)
		ret = parallel_piece(b, &h->lost, sizeof(h->lost));
	if (!ret)
		ret = parallel_piece(b, &h->min, sizeof(h->min));
	return ret ? ret : parallel_piece(b, &h->max, sizeof(h->max));
}
