// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/storage/fit/storage_humps.h"
#include "formats/histogram.h"

#define KERNEL_SD    2.0
#define KERNEL_REACH 6 /* buckets */

/* Computes the smoothed density per bucket, with KERNEL_REACH empty buckets at either end. */
static double *storage_humps_smooth(const struct storage_bucket *b, size_t nr, int first,
				    size_t width)
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

static void storage_humps_measure(struct hump *h, const struct storage_bucket *b, size_t nr,
				  int from, int to)
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

/* Returns the variance between the two sides of a cut, computed from bucket numbers and shares. */
static double storage_humps_between(const struct storage_bucket *b, size_t nr, int cut)
{
	double n[2] = { 0, 0 }, sum[2] = { 0, 0 };

	for (size_t i = 0; i < nr; i++) {
		n[b[i].bucket > cut] += (double)b[i].count;
		sum[b[i].bucket > cut] += (double)b[i].count * b[i].bucket;
	}
	return n[0] > 0 && n[1] > 0 ? n[0] * n[1] * pow(sum[0] / n[0] - sum[1] / n[1], 2) : 0;
}

/*
 * Returns the middle of the valley that separates the requests best. *depth is 1 if there is no
 * valley.
 */
static int best_cut(const struct storage_bucket *b, size_t nr, const double *density, size_t width,
		    int first, double *depth)
{
	double left = 0, best = 0;
	size_t begin = 0, end = 0;

	*depth = 1;
	for (size_t i = 1; i + 1 < width; i++) {
		double right = 0, ratio, variance;

		left = fmax(left, density[i - 1]);
		for (size_t k = i + 1; k < width; k++)
			right = fmax(right, density[k]);
		ratio = density[i] / fmin(left, right);
		if (!(left > 0 && right > 0) || ratio > HUMPS_VALLEY ||
		    density[i] > density[i - 1] || density[i] > density[i + 1])
			continue;
		variance = storage_humps_between(b, nr, first + (int)i);
		if (variance > best * (1 + 1e-9)) {
			best = variance;
			begin = i;
			*depth = ratio;
		}
		if (begin == i || (variance >= best * (1 - 1e-9) && end == i - 1))
			end = i;
	}
	return first + (int)((begin + end) / 2);
}

int humps_part(struct humps *h, const struct storage_bucket *b, size_t nr)
{
	struct humps out = { .cut_s = NAN, .valley = 1 };
	double *density;
	size_t width;
	int first, cut;

	if (!nr) {
		*h = out;
		return 0;
	}
	first = b[0].bucket - KERNEL_REACH;
	width = (size_t)(b[nr - 1].bucket - first) + KERNEL_REACH + 1;
	density = storage_humps_smooth(b, nr, first, width);
	if (!density)
		return -ENOMEM;
	cut = best_cut(b, nr, density, width, first, &out.valley);
	free(density);
	storage_humps_measure(&out.fast, b, nr, first, cut);
	storage_humps_measure(&out.slow, b, nr, cut + 1, b[nr - 1].bucket);
	out.two = out.valley <= HUMPS_VALLEY &&
		  fmin(out.fast.nr, out.slow.nr) >= HUMPS_LEAST_SHARE * (out.fast.nr + out.slow.nr);
	if (out.two) {
		out.cut_s = histogram_bucket_end_s(cut);
	} else {
		out.fast = (struct hump){ 0 };
		storage_humps_measure(&out.slow, b, nr, first, b[nr - 1].bucket);
	}
	*h = out;
	return 0;
}
