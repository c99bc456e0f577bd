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
	bool is_whole = h->is_whole;

	free(h->counts);
	free(h->few);
	histogram_init(h);
	h->is_whole = is_whole;
}

void histogram_clear(struct histogram *h)
{
	struct histogram empty = {
		.counts = h->counts, .few = h->few, .cap_few = h->cap_few, .is_whole = h->is_whole
	};

	if (h->counts && h->nr)
		memset(h->counts, 0, HISTOGRAM_NR_BUCKETS * sizeof(*h->counts));
	*h = empty;
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

/* Moves the counts from the list to the array. */
static int histogram_to_array(struct histogram *h)
{
	uint64_t *counts = calloc(HISTOGRAM_NR_BUCKETS, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	for (unsigned int i = 0; i < h->nr_few; i++)
		counts[h->few[i].bucket - HISTOGRAM_BUCKET_MIN] = h->few[i].count;
	free(h->few);
	h->few = NULL;
	h->nr_few = h->cap_few = 0;
	h->counts = counts;
	return 0;
}

/* Makes room for one more bucket in the list. */
static int histogram_grow_few(struct histogram *h)
{
	unsigned int cap = h->cap_few ? 2u * h->cap_few : 2;
	struct histogram_bucket_count *few = realloc(h->few, cap * sizeof(*few));

	if (!few)
		return -ENOMEM;
	h->few = few;
	h->cap_few = (uint16_t)cap;
	return 0;
}

/* Returns the index of the bucket in the list, or the index where it would be inserted. */
static unsigned int histogram_place_of(const struct histogram *h, int bucket)
{
	unsigned int first = 0, end = h->nr_few;

	if (end && h->few[end - 1].bucket < bucket)
		return end; /* Buckets mostly come in order. */
	while (first < end) {
		unsigned int middle = (first + end) / 2;

		if (h->few[middle].bucket < bucket)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/* Returns the count of a bucket, which is made if it is missing, or NULL without memory. */
static uint64_t *histogram_slot_of(struct histogram *h, int bucket)
{
	if (!h->counts) {
		unsigned int at = histogram_place_of(h, bucket);

		if (at < h->nr_few && h->few[at].bucket == bucket)
			return &h->few[at].count;
		if (!h->is_whole && h->nr_few < HISTOGRAM_FEW) {
			if (h->nr_few == h->cap_few && histogram_grow_few(h))
				return NULL;
			memmove(h->few + at + 1, h->few + at, (h->nr_few - at) * sizeof(*h->few));
			h->few[at] = (struct histogram_bucket_count){ 0, bucket };
			h->nr_few++;
			return &h->few[at].count;
		}
		if (histogram_to_array(h))
			return NULL;
	}
	return &h->counts[bucket - HISTOGRAM_BUCKET_MIN];
}

uint64_t histogram_count(const struct histogram *h, int bucket)
{
	unsigned int at;

	if (h->counts)
		return h->counts[bucket - HISTOGRAM_BUCKET_MIN];
	at = histogram_place_of(h, bucket);
	return at < h->nr_few && h->few[at].bucket == bucket ? h->few[at].count : 0;
}

int histogram_next(const struct histogram *h, int bucket)
{
	if (h->counts) {
		while (bucket <= HISTOGRAM_BUCKET_MAX && !h->counts[bucket - HISTOGRAM_BUCKET_MIN])
			bucket++;
		return bucket;
	}
	/* A merge that ran out of memory leaves buckets without a duration behind. */
	for (unsigned int at = histogram_place_of(h, bucket); at < h->nr_few; at++)
		if (h->few[at].count)
			return h->few[at].bucket;
	return HISTOGRAM_BUCKET_MAX + 1;
}

bool histogram_walk(const struct histogram *h, unsigned int *at, int *bucket, uint64_t *count)
{
	for (; h->counts && *at < HISTOGRAM_NR_BUCKETS; (*at)++)
		if (h->counts[*at]) {
			*bucket = HISTOGRAM_BUCKET_MIN + (int)*at;
			*count = h->counts[(*at)++];
			return true;
		}
	for (; !h->counts && *at < h->nr_few; (*at)++)
		if (h->few[*at].count) {
			*bucket = h->few[*at].bucket;
			*count = h->few[(*at)++].count;
			return true;
		}
	return false;
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
	int bucket = histogram_bucket(duration_ns);
	uint64_t *slot = h->counts ? &h->counts[bucket - HISTOGRAM_BUCKET_MIN]
				   : histogram_slot_of(h, bucket);

	if (!slot)
		return -ENOMEM;
	(*slot)++;
	histogram_add_range(h, duration_ns, duration_ns);
	histogram_add_sum(h, duration_ns, 0);
	h->nr++;
	return 0;
}

int histogram_add_bucket(struct histogram *h, int bucket, uint64_t nr)
{
	uint64_t *slot;

	if (bucket < HISTOGRAM_BUCKET_MIN || bucket > HISTOGRAM_BUCKET_MAX)
		return -EINVAL;
	if (nr > UINT64_MAX - h->nr)
		return -EOVERFLOW;
	slot = histogram_slot_of(h, bucket);
	if (!slot)
		return -ENOMEM;
	*slot += nr;
	h->nr += nr;
	return 0;
}

/* Records the counts in the list of an empty histogram, which has room for nr_used buckets. */
static int histogram_list_counts(struct histogram *h, int first, const uint64_t *counts,
				 size_t nr_used)
{
	struct histogram_bucket_count *few = realloc(h->few, nr_used * sizeof(*few));

	if (!few)
		return -ENOMEM;
	h->few = few;
	h->cap_few = (uint16_t)nr_used;
	for (int i = 0; h->nr_few < nr_used; i++) {
		if (!counts[i])
			continue;
		if (counts[i] > UINT64_MAX - h->nr)
			return -EOVERFLOW;
		few[h->nr_few++] = (struct histogram_bucket_count){ counts[i], first + i };
		h->nr += counts[i];
	}
	return 0;
}

int histogram_add_counts(struct histogram *h, int first, const uint64_t *counts, size_t nr)
{
	size_t nr_used = 0;
	int ret = 0;

	if (first < HISTOGRAM_BUCKET_MIN || first > HISTOGRAM_BUCKET_MAX ||
	    nr > (size_t)(HISTOGRAM_BUCKET_MAX - first + 1))
		return -EINVAL;
	for (size_t i = 0; i < nr; i++)
		nr_used += counts[i] > 0;
	if (!nr_used)
		return 0;
	/* A list of more buckets would take more memory than the array. */
	if (!h->is_whole && !h->counts && !h->nr_few &&
	    nr_used * sizeof(*h->few) < HISTOGRAM_NR_BUCKETS * sizeof(*h->counts))
		return histogram_list_counts(h, first, counts, nr_used);
	for (size_t i = 0; i < nr && ret == 0; i++)
		if (counts[i])
			ret = histogram_add_bucket(h, first + (int)i, counts[i]);
	return ret;
}

/* Makes the buckets of src in dst, so that the merge itself cannot fail in its midst. */
static int histogram_prepare_merge(struct histogram *dst, const struct histogram *src)
{
	if (src->counts)
		return dst->counts ? 0 : histogram_to_array(dst);
	for (unsigned int i = 0; i < src->nr_few; i++)
		if (!histogram_slot_of(dst, src->few[i].bucket))
			return -ENOMEM;
	return 0;
}

int histogram_merge(struct histogram *dst, const struct histogram *src)
{
	if (!src->nr)
		return 0;
	if (histogram_prepare_merge(dst, src))
		return -ENOMEM;
	for (int i = 0; src->counts && i < HISTOGRAM_NR_BUCKETS; i++)
		dst->counts[i] += src->counts[i];
	for (unsigned int i = 0; i < src->nr_few; i++)
		*histogram_slot_of(dst, src->few[i].bucket) += src->few[i].count;
	histogram_add_range(dst, src->min_ns, src->max_ns);
	histogram_add_sum(dst, src->sum_ns, src->sum_high);
	dst->nr += src->nr;
	return 0;
}

void histogram_subtract(struct histogram *dst, const struct histogram *src)
{
	uint64_t low = dst->sum_ns - src->sum_ns;

	/* dst has each bucket, so that nothing is allocated. */
	for (int i = histogram_next(src, HISTOGRAM_BUCKET_MIN); i <= HISTOGRAM_BUCKET_MAX;
	     i = histogram_next(src, i + 1))
		*histogram_slot_of(dst, i) -= histogram_count(src, i);
	dst->nr -= src->nr;
	dst->sum_high -= src->sum_high + (dst->sum_ns < src->sum_ns);
	dst->sum_ns = low;
}

int histogram_copy(struct histogram *dst, const struct histogram *src)
{
	size_t bytes = HISTOGRAM_NR_BUCKETS * sizeof(*src->counts);

	*dst = *src;
	dst->few = NULL;
	dst->counts = src->counts ? malloc(bytes) : NULL;
	dst->cap_few = src->nr_few;
	if (src->nr_few)
		dst->few = malloc(src->nr_few * sizeof(*dst->few));
	if ((src->counts && !dst->counts) || (src->nr_few && !dst->few)) {
		histogram_release(dst);
		return -ENOMEM;
	}
	if (dst->counts)
		memcpy(dst->counts, src->counts, bytes);
	if (dst->few)
		memcpy(dst->few, src->few, src->nr_few * sizeof(*dst->few));
	return 0;
}

size_t histogram_nr_used(const struct histogram *h)
{
	size_t nr = 0;

	for (int i = histogram_next(h, HISTOGRAM_BUCKET_MIN); i <= HISTOGRAM_BUCKET_MAX;
	     i = histogram_next(h, i + 1))
		nr++;
	return nr;
}

void histogram_pack(struct histogram *h)
{
	size_t nr = histogram_nr_used(h), at = 0;
	struct histogram_bucket_count *few;

	if (!nr || nr * sizeof(*few) >= histogram_memory(h))
		return;
	few = malloc(nr * sizeof(*few));
	if (!few)
		return; /* The list stays, which is correct as well. */
	for (int i = histogram_next(h, HISTOGRAM_BUCKET_MIN); i <= HISTOGRAM_BUCKET_MAX;
	     i = histogram_next(h, i + 1))
		few[at++] = (struct histogram_bucket_count){ histogram_count(h, i), i };
	free(h->counts);
	free(h->few);
	h->counts = NULL;
	h->few = few;
	h->nr_few = h->cap_few = (uint16_t)nr;
}

size_t histogram_memory(const struct histogram *h)
{
	return (h->counts ? HISTOGRAM_NR_BUCKETS * sizeof(*h->counts) : 0) +
	       h->cap_few * sizeof(*h->few);
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
	uint64_t rank = quantile_rank(p, h->nr), before = 0, count = 0;
	double begin, end, value;
	unsigned int at = 0;
	int bucket = HISTOGRAM_BUCKET_MIN;

	if (!h->nr)
		return NAN;
	while (histogram_walk(h, &at, &bucket, &count) && before + count < rank)
		before += count;
	/* Durations are whole nanoseconds: the lowest bucket has 0 and 1 ns and nothing between. */
	if (bucket == HISTOGRAM_BUCKET_MIN)
		return (double)h->min_ns / 1e9;
	begin = bucket_begin_ns(bucket);
	end = 1e9 * histogram_bucket_end_s(bucket);
	if (bucket == HISTOGRAM_BUCKET_MAX && (double)h->max_ns > end)
		end = (double)h->max_ns; /* the open one */
	value = begin + (end - begin) * (double)(rank - before) / (double)count;
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

	if (bucket >= HISTOGRAM_BUCKET_MAX)
		return h->nr;
	for (int i = HISTOGRAM_BUCKET_MIN; h->counts && i <= bucket; i++)
		sum += h->counts[i - HISTOGRAM_BUCKET_MIN];
	for (unsigned int i = 0; i < h->nr_few; i++)
		sum += h->few[i].bucket <= bucket ? h->few[i].count : 0;
	return sum;
}
