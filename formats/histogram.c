/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/histogram.h"
#include "formats/histogram_table.h"

void histogram_init(struct histogram *h)
{
	*h = (struct histogram){ 0 };
}

void histogram_release(struct histogram *h)
{
	free(h->counts);
	histogram_init(h);
}

void histogram_clear(struct histogram *h)
{
	uint64_t *counts = h->counts;

	if (counts)
		memset(counts, 0, HISTOGRAM_NR_BUCKETS * sizeof(*counts));
	*h = (struct histogram){ .counts = counts };
}

/*
 * The mantissa, shifted to the top of the word, falls into one of 128 cells. A cell is narrower
 * than a bucket (0.8 % against 2.2 %), so at most one bucket end lies in it and one comparison
 * decides. Values are whole numbers: a value is above an end exactly where it is above the end
 * rounded down.
 */
int histogram_bucket(uint64_t duration_ns)
{
	uint64_t value = duration_ns | !duration_ns; /* 0 counts as 1 ns */
	int zeros = __builtin_clzll(value);
	uint64_t mantissa = value << zeros;
	unsigned int first = histogram_first[mantissa >> 56 & 127];
	int bucket = HISTOGRAM_BUCKET_MIN + HISTOGRAM_PER_OCTAVE * (63 - zeros) + (int)first +
		     (mantissa > histogram_ends[first]);

	return bucket < HISTOGRAM_BUCKET_MAX ? bucket : HISTOGRAM_BUCKET_MAX;
}

double histogram_bucket_end_s(int bucket)
{
	return exp2((double)bucket / HISTOGRAM_PER_OCTAVE);
}

static int histogram_alloc(struct histogram *h)
{
	if (!h->counts)
		h->counts = calloc(HISTOGRAM_NR_BUCKETS, sizeof(*h->counts));
	return h->counts ? 0 : -ENOMEM;
}

static void histogram_add_sum(struct histogram *h, uint64_t low, uint64_t high)
{
	h->sum_ns += low;
	h->sum_high += high + (h->sum_ns < low);
}

static void histogram_add_range(struct histogram *h, uint64_t min_ns, uint64_t max_ns)
{
	if (!h->nr || min_ns < h->min_ns)
		h->min_ns = min_ns;
	if (max_ns > h->max_ns)
		h->max_ns = max_ns;
}

int histogram_add(struct histogram *h, uint64_t duration_ns)
{
	if (!h->counts && histogram_alloc(h))
		return -ENOMEM;
	h->counts[histogram_bucket(duration_ns) - HISTOGRAM_BUCKET_MIN]++;
	histogram_add_range(h, duration_ns, duration_ns);
	histogram_add_sum(h, duration_ns, 0);
	h->nr++;
	return 0;
}

int histogram_add_bucket(struct histogram *h, int bucket, uint64_t nr)
{
	if (bucket < HISTOGRAM_BUCKET_MIN || bucket > HISTOGRAM_BUCKET_MAX)
		return -EINVAL;
	if (nr > UINT64_MAX - h->nr)
		return -EOVERFLOW;
	if (histogram_alloc(h))
		return -ENOMEM;
	h->counts[bucket - HISTOGRAM_BUCKET_MIN] += nr;
	h->nr += nr;
	return 0;
}

int histogram_merge(struct histogram *dst, const struct histogram *src)
{
	if (!src->nr)
		return 0;
	if (histogram_alloc(dst))
		return -ENOMEM;
	for (int i = 0; i < HISTOGRAM_NR_BUCKETS; i++)
		dst->counts[i] += src->counts[i];
	histogram_add_range(dst, src->min_ns, src->max_ns);
	histogram_add_sum(dst, src->sum_ns, src->sum_high);
	dst->nr += src->nr;
	return 0;
}

double histogram_mean_s(const struct histogram *h)
{
	if (!h->nr)
		return NAN;
	return (ldexp((double)h->sum_high, 64) + (double)h->sum_ns) / (double)h->nr / 1e9;
}

/*
 * Computes ceil(p * nr), at least 1 and at most nr. A decimal p such as 0.07 is stored inexactly,
 * and its product with nr may lie slightly above the whole number that is meant. So a few units in
 * the last place are subtracted before rounding up.
 */
static uint64_t quantile_rank(double p, uint64_t nr)
{
	double rank = ceil(p * (double)nr * (1 - 4 * 0x1p-53));

	if (!(rank >= 1))
		return 1;
	return rank >= (double)nr ? nr : (uint64_t)rank;
}

static double bucket_begin_ns(int bucket)
{
	return bucket > HISTOGRAM_BUCKET_MIN ? 1e9 * histogram_bucket_end_s(bucket - 1) : 0;
}

double histogram_quantile_any_s(const struct histogram *h, double p)
{
	uint64_t rank = quantile_rank(p, h->nr), before = 0;
	double begin, end, value;
	int i = 0;

	if (!h->nr)
		return NAN;
	while (before + h->counts[i] < rank)
		before += h->counts[i++];
	begin = bucket_begin_ns(i + HISTOGRAM_BUCKET_MIN);
	end = 1e9 * histogram_bucket_end_s(i + HISTOGRAM_BUCKET_MIN);
	if (i == HISTOGRAM_NR_BUCKETS - 1 && (double)h->max_ns > end)
		end = (double)h->max_ns; /* the open bucket */
	value = begin + (end - begin) * (double)(rank - before) / (double)h->counts[i];
	return fmin(fmax(value, (double)h->min_ns), (double)h->max_ns) / 1e9;
}

double histogram_quantile_s(const struct histogram *h, double p)
{
	if (!h->nr || h->nr - quantile_rank(p, h->nr) < HISTOGRAM_BEYOND)
		return NAN;
	return histogram_quantile_any_s(h, p);
}

uint64_t histogram_cumulative(const struct histogram *h, int bucket)
{
	uint64_t sum = 0;

	if (!h->counts)
		return 0;
	if (bucket >= HISTOGRAM_BUCKET_MAX)
		return h->nr;
	for (int i = HISTOGRAM_BUCKET_MIN; i <= bucket; i++)
		sum += h->counts[i - HISTOGRAM_BUCKET_MIN];
	return sum;
}
