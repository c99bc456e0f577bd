// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/qpn/storage_humps.h"
#include "formats/histogram.h"

#define KERNEL_SD    2.0
#define KERNEL_REACH 6 /* buckets */

/* Density per bucket, smoothed, with KERNEL_REACH empty buckets at either end. */
static double *smooth(const struct storage_bucket *b, size_t nr, int first, size_t width)
{
	double *density = calloc(width, sizeof(*density)), kernel[2 * KERNEL_REACH + 1], sum = 0;

	for (int k = -KERNEL_REACH; k <= KERNEL_REACH; k++)
		sum += kernel[k + KERNEL_REACH] = exp(-0.5 * k * k / (KERNEL_SD * KERNEL_SD));
	for (size_t i = 0; density && i < nr; i++)
		for (int k = -KERNEL_REACH; k <= KERNEL_REACH; k++)
			density[b[i].bucket - first + k] +=
				(double)b[i].count * kernel[k + KERNEL_REACH] / sum;
	return density;
}

static void measure(struct hump *h, const struct storage_bucket *b, size_t nr, int from, int to)
{
	double sum = 0, squares = 0;

	*h = (struct hump){ 0 };
	for (size_t i = 0; i < nr; i++) {
		double middle = 0.5 * (histogram_bucket_end_s(b[i].bucket) +
				       histogram_bucket_end_s(b[i].bucket - 1));

		if (b[i].bucket < from || b[i].bucket > to)
			continue;
		h->nr += (double)b[i].count;
		sum += (double)b[i].count * middle;
		squares += (double)b[i].count * middle * middle;
	}
	h->mean_s = sum / h->nr;
	h->sd_s = sqrt(fmax(0, squares / h->nr - h->mean_s * h->mean_s));
}

/* The cut with the deepest valley, its middle where a stretch is as deep; returns the depth. */
static double deepest(const double *density, size_t width, size_t *at)
{
	double best = 1, left = 0;
	size_t begin = 0, end = 0;

	for (size_t i = 1; i + 1 < width; i++) {
		double right = 0, ratio;

		left = fmax(left, density[i - 1]);
		for (size_t k = i + 1; k < width; k++)
			right = fmax(right, density[k]);
		ratio = density[i] / fmin(left, right);
		if (!(left > 0 && right > 0))
			continue;
		if (ratio < best) {
			best = ratio;
			begin = i;
		}
		if (ratio <= best && (end == i - 1 || begin == i))
			end = i;
	}
	*at = (begin + end) / 2;
	return best;
}

int humps_part(struct humps *h, const struct storage_bucket *b, size_t nr)
{
	struct humps out = { .cut_s = NAN, .valley = 1 };
	double *density;
	size_t width, at;
	int first, cut;

	if (!nr) {
		*h = out;
		return 0;
	}
	first = b[0].bucket - KERNEL_REACH;
	width = (size_t)(b[nr - 1].bucket - first) + KERNEL_REACH + 1;
	density = smooth(b, nr, first, width);
	if (!density)
		return -ENOMEM;
	out.valley = deepest(density, width, &at);
	free(density);
	cut = first + (int)at;
	measure(&out.fast, b, nr, first, cut);
	measure(&out.slow, b, nr, cut + 1, b[nr - 1].bucket);
	out.two = out.valley <= HUMPS_VALLEY &&
		  fmin(out.fast.nr, out.slow.nr) >= HUMPS_LEAST_SHARE * (out.fast.nr + out.slow.nr);
	if (out.two) {
		out.cut_s = histogram_bucket_end_s(cut);
	} else {
		out.fast = (struct hump){ 0 };
		measure(&out.slow, b, nr, first, b[nr - 1].bucket);
	}
	*h = out;
	return 0;
}
