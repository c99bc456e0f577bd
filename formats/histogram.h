/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram: durations on the grid of Prometheus' native histograms, schema 5.
 *
 * Bucket i holds durations in (2^((i-1)/32), 2^(i/32)] seconds, upper end inclusive: growth 1.022,
 * so that the histograms of windows, CPUs, hosts and other tools merge without any loss.
 * Durations are integer nanoseconds; 0 is counted in the lowest bucket (1 ns).
 * The range is 1 ns to 2^14 s (4.5 h); above it, the top bucket takes them and the exact maximum
 * stays known. Memory: one array of 64-bit counts, allocated at the first value, 11 KiB at most.
 */
#ifndef FORMATS_HISTOGRAM_H
#define FORMATS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SCHEMA     5
#define HISTOGRAM_PER_OCTAVE 32
#define HISTOGRAM_BUCKET_MIN (-956) /* holds 1 ns: ceil(32 * log2(1e-9)) */
#define HISTOGRAM_BUCKET_MAX 448    /* ends at 2^14 s */
#define HISTOGRAM_NR_BUCKETS (HISTOGRAM_BUCKET_MAX - HISTOGRAM_BUCKET_MIN + 1)

struct histogram {
	uint64_t *counts;  /* NULL while empty; index bucket - HISTOGRAM_BUCKET_MIN */
	uint64_t nr;	   /* durations recorded */
	uint64_t min_ns;   /* exact; 0 while empty */
	uint64_t max_ns;   /* exact; 0 while empty */
	uint64_t sum_ns;   /* exact, low word of a 128-bit sum ... */
	uint64_t sum_high; /* ... and high word, so that no merge of windows rounds */
};

/* A zeroed struct is an empty histogram. */
void histogram_init(struct histogram *h);
/* Frees what it holds and leaves it empty. */
void histogram_release(struct histogram *h);
/* Empties it, keeping the memory. */
void histogram_clear(struct histogram *h);

/* The bucket of a duration: exact integer comparison with the bucket's end. O(1). */
int histogram_bucket(uint64_t duration_ns);
/* The inclusive upper end of a bucket in seconds, 2^(bucket/32). */
double histogram_bucket_end_s(int bucket);

/* Records one duration; 0 or -ENOMEM (then nothing is changed). */
int histogram_add(struct histogram *h, uint64_t duration_ns);
/* Records nr durations by bucket alone (decoders); moments as given by the caller. */
int histogram_add_bucket(struct histogram *h, int bucket, uint64_t nr);
/* dst += src; 0 or -ENOMEM (then dst is unchanged). */
int histogram_merge(struct histogram *dst, const struct histogram *src);

/* Mean in seconds; NaN while empty. */
double histogram_mean_s(const struct histogram *h);
/*
 * The p-quantile in seconds, 0 < p < 1: rank ceil(p * nr), placed inside its bucket by linear
 * interpolation and clamped to [min, max]: relative error below one bucket, 2.2 %.
 * NaN where fewer than HISTOGRAM_BEYOND values lie beyond the rank.
 */
#define HISTOGRAM_BEYOND 10
double histogram_quantile_s(const struct histogram *h, double p);
/* The same without the rule of ten: for pictures and tests. NaN while empty. */
double histogram_quantile_any_s(const struct histogram *h, double p);
/* Durations <= the bucket's end, for classic `le` series. */
uint64_t histogram_cumulative(const struct histogram *h, int bucket);

#endif
