/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/histogram.h"
#include "formats/histogram_table.h"
#include "tests/support/same_histogram.h"
#include "tests/support/tap.h"

/* One bucket's growth, 2^(1/32): the error of any quantile is below it. */
#define GROWTH 1.0219

static uint64_t rng_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Durations from 1 ns to 4.9 h, every magnitude alike. */
static uint64_t rng_duration(uint64_t *state)
{
	return rng_next(state) >> (20 + rng_next(state) % 44);
}

/* Whole numbers of up to 4096 bits, least significant word first: enough for a 32nd power. */
#define BIG_WORDS 128
struct big {
	uint32_t word[BIG_WORDS];
};

static struct big big_of(uint64_t value)
{
	struct big b = { { (uint32_t)value, (uint32_t)(value >> 32) } };

	return b;
}

static struct big big_times(const struct big *a, const struct big *b)
{
	struct big r = { { 0 } };

	for (int i = 0; i < BIG_WORDS; i++) {
		uint64_t carry = 0;

		for (int j = 0; i + j < BIG_WORDS && a->word[i]; j++) {
			carry += (uint64_t)a->word[i] * b->word[j] + r.word[i + j];
			r.word[i + j] = (uint32_t)carry;
			carry >>= 32;
		}
	}
	return r;
}

static struct big big_pow32(struct big a)
{
	for (int i = 0; i < 5; i++)
		a = big_times(&a, &a);
	return a;
}

static struct big big_shift_left(struct big a, int bits)
{
	struct big two = big_of(2);

	while (bits--)
		a = big_times(&a, &two);
	return a;
}

static int big_compare(const struct big *a, const struct big *b)
{
	for (int i = BIG_WORDS - 1; i >= 0; i--)
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	return 0;
}

/*
 * Entry t stands for 2^63 * 1e9 * 2^((t - 956) / 32). Its 32nd power, times 2^(956 - 2016) to bring
 * it down to 1e9^32 * 2^t, needs whole numbers alone: end^32 <= 1e9^32 * 2^(t + 2016 - 956).
 */
static void ends_are_exact(void)
{
	struct big giga = big_pow32(big_of(1000000000));

	for (int t = 0; t < 32; t++) {
		struct big want = big_shift_left(giga, t + 63 * 32 - 956);
		struct big below = big_pow32(big_of(histogram_ends[t]));
		struct big above = big_pow32(big_of(histogram_ends[t] + 1));

		ok(big_compare(&below, &want) <= 0);
		ok(big_compare(&above, &want) > 0);
	}
	ok_eq(histogram_ends[32], UINT64_MAX);
}

static uint64_t bucket_end_ns(int bucket)
{
	int t = (bucket - HISTOGRAM_BUCKET_MIN) % 32, e = (bucket - HISTOGRAM_BUCKET_MIN) / 32;

	return histogram_ends[t] >> (63 - e);
}

static void ends_are_inclusive(void)
{
	uint64_t last = 0;

	for (int b = HISTOGRAM_BUCKET_MIN; b <= HISTOGRAM_BUCKET_MAX; b++) {
		uint64_t end = bucket_end_ns(b);

		/* Below ~45 ns buckets are narrower than 1 ns: an end may name an earlier one. */
		if (end > last)
			ok_int(histogram_bucket(end), b);
		if (b < HISTOGRAM_BUCKET_MAX && end >= 46)
			ok_int(histogram_bucket(end + 1), b + 1);
		ok_near((double)end, floor(1e9 * histogram_bucket_end_s(b)),
			1 + 1e-12 * (double)end);
		last = end;
	}
	ok_int(histogram_bucket(0), HISTOGRAM_BUCKET_MIN);
	ok_int(histogram_bucket(1), HISTOGRAM_BUCKET_MIN);
	ok_int(histogram_bucket(1000000000), 0);
	ok_int(histogram_bucket(1000000001), 1);
	ok_int(histogram_bucket(2000000000), 32);
	ok_int(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKET_MAX);
}

static void lookup_is_a_linear_search(void)
{
	uint64_t state = 1;

	for (int i = 0; i < 20000; i++) {
		uint64_t v = rng_duration(&state);
		int b = HISTOGRAM_BUCKET_MIN;

		if (i < 5000)
			v = (uint64_t)i;
		while (b < HISTOGRAM_BUCKET_MAX && v > bucket_end_ns(b))
			b++;
		if (histogram_bucket(v) != b)
			ok_int(histogram_bucket(v), b);
	}
	ok(true);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void quantiles_are_near_the_sorted_ones(void)
{
	static const double ps[] = { 0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999 };
	enum { N = 30011 };
	uint64_t *values = calloc(N, sizeof(*values)), state = 7, sum = 0;
	struct histogram h = { 0 };

	for (int i = 0; i < N; i++) {
		values[i] =
			40 + rng_duration(&state) / 1000; /* whole ns are no coarser than buckets */
		sum += values[i];
		histogram_add(&h, values[i]);
	}
	qsort(values, N, sizeof(*values), compare_u64);
	for (size_t i = 0; i < TAP_NR(ps); i++) {
		double want = (double)values[(int)ceil(ps[i] * N) - 1] / 1e9;
		double got = histogram_quantile_s(&h, ps[i]);

		ok(got <= want * GROWTH && got >= want / GROWTH);
	}
	ok_eq(h.min_ns, values[0]);
	ok_eq(h.max_ns, values[N - 1]);
	ok_eq(h.sum_ns, sum);
	ok_near(histogram_mean_s(&h), (double)sum / N / 1e9, 1e-12 * (double)sum / N / 1e9);
	histogram_release(&h);
	free(values);
}

static void ten_beyond(void)
{
	struct histogram h = { 0 };

	ok(isnan(histogram_mean_s(&h)) && isnan(histogram_quantile_any_s(&h, 0.5)));
	ok(isnan(histogram_quantile_s(&h, 0.5)));
	ok_eq(histogram_cumulative(&h, 448), 0);
	for (int i = 1; i <= 1000; i++) {
		histogram_add(&h, 1000000);
		/* rank ceil(p n): nr - rank >= 10 */
		if (!isnan(histogram_quantile_s(&h, 0.99)) != (i - (99 * i + 99) / 100 >= 10))
			ok_int(i, -1);
		if (!isnan(histogram_quantile_s(&h, 0.5)) != (i - (i + 1) / 2 >= 10))
			ok_int(i, -1);
	}
	ok(!isnan(histogram_quantile_s(&h, 0.99)));
	ok(isnan(histogram_quantile_s(&h, 0.999)));
	/* All alike: clamped to the exact value. */
	ok_near(histogram_quantile_s(&h, 0.99), 1e-3, 0);
	ok_near(histogram_quantile_any_s(&h, 0.9999), 1e-3, 0);
	histogram_release(&h);
}

static void whole_ranks_stay_whole(void)
{
	struct histogram h = { 0 };

	/* 0.07 * 100 is 7.000000000000001 in doubles; the seventh of 100 values is meant. */
	for (uint64_t i = 0; i < 100; i++)
		histogram_add(&h, (uint64_t)1000 << (i < 7 ? 0 : 10));
	ok(histogram_quantile_any_s(&h, 0.07) < 2e-6);
	histogram_release(&h);
}

static void zeros_have_the_quantile_zero(void)
{
	struct histogram h = { 0 };

	for (int i = 0; i < 100; i++)
		histogram_add(&h, i < 90 ? 0 : 5000);
	ok_near(histogram_quantile_any_s(&h, 0.5), 0, 0);
	ok_near(histogram_quantile_any_s(&h, 0.9), 0, 0);
	ok(histogram_quantile_any_s(&h, 0.91) > 4e-6);
	histogram_release(&h);
}

static void merge_is_the_whole(void)
{
	struct histogram part[3] = { { 0 } }, whole = { 0 }, left = { 0 }, right = { 0 };
	uint64_t state = 3;

	for (int i = 0; i < 9000; i++) {
		uint64_t v = rng_duration(&state);

		histogram_add(&part[rng_next(&state) % 3], v);
		histogram_add(&whole, v);
	}
	for (int i = 0; i < 3; i++) {
		histogram_merge(&left, &part[i]);
		histogram_merge(&right, &part[2 - i]);
	}
	ok(same_histogram(&left, &whole));
	ok(same_histogram(&right, &whole));
	histogram_clear(&right);
	ok_int(histogram_merge(&left, &right), 0); /* the empty one adds nothing, not even a min */
	ok(same_histogram(&left, &whole));
	for (int i = 0; i < 3; i++)
		histogram_release(&part[i]);
	histogram_release(&whole);
	histogram_release(&left);
	histogram_release(&right);
}

static void sum_has_128_bits(void)
{
	struct histogram h = { 0 }, twice = { 0 };

	for (int i = 0; i < 6; i++)
		histogram_add(&h, UINT64_MAX);
	ok_eq(h.sum_high, 5);
	ok_eq(h.sum_ns, (uint64_t)-6);
	ok_near(histogram_mean_s(&h) / 18446744073.709551615, 1, 1e-15);
	histogram_merge(&twice, &h);
	histogram_merge(&twice, &h);
	ok_eq(twice.sum_high, 11);
	ok_eq(twice.sum_ns, (uint64_t)-12);
	ok_eq(twice.max_ns, UINT64_MAX);
	ok_near(histogram_quantile_any_s(&twice, 0.5), 18446744073.709551615, 1);
	histogram_release(&h);
	histogram_release(&twice);
}

static void cumulative_counts_up_to_the_end(void)
{
	struct histogram h = { 0 };
	uint64_t state = 11, below = 0;

	for (int i = 0; i < 5000; i++) {
		uint64_t v = rng_duration(&state);

		histogram_add(&h, v);
		below += v <= 31250000; /* 2^-5 s */
	}
	ok_eq(histogram_cumulative(&h, -5 * 32), below);
	ok_eq(histogram_cumulative(&h, HISTOGRAM_BUCKET_MAX), 5000);
	ok_eq(histogram_cumulative(&h, HISTOGRAM_BUCKET_MIN - 1), 0);
	histogram_release(&h);
}

static void decoders_add_by_bucket(void)
{
	struct histogram h = { 0 };

	ok_int(histogram_add_bucket(&h, HISTOGRAM_BUCKET_MIN - 1, 1), -EINVAL);
	ok_int(histogram_add_bucket(&h, HISTOGRAM_BUCKET_MAX + 1, 1), -EINVAL);
	ok_int(histogram_add_bucket(&h, 0, 3), 0);
	ok_int(histogram_add_bucket(&h, 448, UINT64_MAX - 3), 0);
	ok_int(histogram_add_bucket(&h, 0, 1), -EOVERFLOW);
	ok_eq(h.nr, UINT64_MAX);
	ok_eq(histogram_cumulative(&h, 0), 3);
	histogram_release(&h);
}

/* A list, an array and an empty histogram take many counts as they take each by itself. */
static void many_counts_are_added_as_one_by_one(void)
{
	static uint64_t counts[HISTOGRAM_NR_BUCKETS];
	static const int starts[] = { 0, 3, 1200 }; /* buckets that are in use before */

	for (size_t i = 0; i < HISTOGRAM_NR_BUCKETS; i += 1 + i / 7)
		counts[i] = i + 1;
	for (int is_whole = 0; is_whole < 2; is_whole++)
		for (size_t k = 0; k < TAP_NR(starts); k++) {
			struct histogram one = { .is_whole = is_whole }, many = one;
			bool is_same = true;

			for (int b = 0; b < starts[k]; b++) {
				histogram_add_bucket(&one, HISTOGRAM_BUCKET_MIN + b, 5);
				histogram_add_bucket(&many, HISTOGRAM_BUCKET_MIN + b, 5);
			}
			for (size_t i = 1; i < HISTOGRAM_NR_BUCKETS; i++)
				if (counts[i])
					histogram_add_bucket(&one, HISTOGRAM_BUCKET_MIN + (int)i,
							     counts[i]);
			ok_int(histogram_add_counts(&many, HISTOGRAM_BUCKET_MIN + 1, counts + 1,
						    HISTOGRAM_NR_BUCKETS - 1),
			       0);
			for (int b = HISTOGRAM_BUCKET_MIN; b <= HISTOGRAM_BUCKET_MAX; b++)
				is_same &= histogram_count(&one, b) == histogram_count(&many, b);
			ok(is_same && one.nr == many.nr);
			ok(histogram_memory(&many) <= HISTOGRAM_NR_BUCKETS * sizeof(uint64_t));
			histogram_release(&one);
			histogram_release(&many);
		}
}

static void counts_beyond_the_grid_are_refused(void)
{
	const uint64_t counts[2] = { UINT64_MAX, 1 }, none[2] = { 0 };
	struct histogram h = { 0 };

	ok_int(histogram_add_counts(&h, HISTOGRAM_BUCKET_MAX, counts, 2), -EINVAL);
	ok_int(histogram_add_counts(&h, HISTOGRAM_BUCKET_MIN - 1, counts, 1), -EINVAL);
	ok_int(histogram_add_counts(&h, 0, none, 2), 0);
	ok(h.nr == 0 && histogram_memory(&h) == 0);
	ok_int(histogram_add_counts(&h, 0, counts, 2), -EOVERFLOW);
	histogram_release(&h);
}

/* Longer than the grid: the maximum is exact, and so is the last rank. */
static void above_the_grid(void)
{
	const uint64_t second = 1000000000ull;
	struct histogram h;

	histogram_init(&h);
	for (int i = 0; i < 10; i++) {
		ok_int(histogram_add(&h, 16385 * second), 0);
		ok_int(histogram_add(&h, 1000000 * second), 0);
	}
	ok_eq(histogram_bucket(16385 * second), HISTOGRAM_BUCKET_MAX);
	ok_near(histogram_quantile_any_s(&h, 0.999), 1e6, 1e-6);
	ok(histogram_quantile_any_s(&h, 0.5) > 16385);
	histogram_release(&h);
}

/* The walk gives what asking for each bucket gives, as a list of few buckets and as an array. */
static void a_walk_visits_every_bucket(void)
{
	for (int whole = 0; whole < 2; whole++) {
		struct histogram h = { .is_whole = whole };
		int bucket, next = HISTOGRAM_BUCKET_MIN;
		unsigned int at = 0, nr = 0;
		uint64_t count, sum = 0;

		ok(!histogram_walk(&h, &at, &bucket, &count));
		for (int b = HISTOGRAM_BUCKET_MAX; b >= HISTOGRAM_BUCKET_MIN; b -= 17)
			ok_int(histogram_add_bucket(&h, b, (uint64_t)(b & 7)), 0);
		at = 0;
		while (histogram_walk(&h, &at, &bucket, &count)) {
			next = histogram_next(&h, next);
			ok_eq(bucket, next);
			ok_eq(count, histogram_count(&h, bucket));
			sum += count;
			next++;
			nr++;
		}
		ok_eq(nr, histogram_nr_used(&h));
		ok_eq(sum, h.nr);
		ok(histogram_next(&h, next) > HISTOGRAM_BUCKET_MAX);
		histogram_release(&h);
	}
}

static const struct tap_test tests[] = {
	{ "a walk visits every bucket that holds a duration", a_walk_visits_every_bucket },
	{ "bucket ends are exact to the last bit", ends_are_exact },
	{ "a bucket includes its upper end and nothing above", ends_are_inclusive },
	{ "the bucket is the one a linear search finds", lookup_is_a_linear_search },
	{ "quantiles lie within one bucket of the sorted values",
	  quantiles_are_near_the_sorted_ones },
	{ "a quantile with fewer than ten values beyond is unknown", ten_beyond },
	{ "a whole rank is not rounded up", whole_ranks_stay_whole },
	{ "where most durations are zero, so is the median", zeros_have_the_quantile_zero },
	{ "merged parts equal the whole in any order", merge_is_the_whole },
	{ "the sum is exact past 64 bits", sum_has_128_bits },
	{ "the cumulative count is that of values up to the end", cumulative_counts_up_to_the_end },
	{ "counts by bucket are checked", decoders_add_by_bucket },
	{ "many counts are added as one by one", many_counts_are_added_as_one_by_one },
	{ "counts beyond the grid are refused", counts_beyond_the_grid_are_refused },
	{ "durations above the grid lie between its end and the maximum", above_the_grid },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
