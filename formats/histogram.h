/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram: durations on the grid of Prometheus' native histograms, schema 5.
 *
 * Bucket i holds durations in (2^((i-1)/32), 2^(i/32)] seconds; the upper end is inclusive. The
 * growth per bucket is 1.022. All histograms use this grid, so those of windows, CPUs, hosts and
 * other tools merge without any loss. Durations are whole nanoseconds; 0 is counted in the lowest
 * bucket (1 ns). The range is 1 ns to 2^14 s (4.5 h). Longer durations are counted in the top
 * bucket, and the exact maximum stays known. Memory: a list of 16 bytes for each bucket while few
 * buckets are in use, then one array of 64-bit counts, 11 KiB. Readers ask for counts by
 * histogram_count(), which serves both forms.
 */
#ifndef FORMATS_HISTOGRAM_H
#define FORMATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_PER_OCTAVE 32
#define HISTOGRAM_BUCKET_MIN (-956) /* the bucket of 1 ns: ceil(32 * log2(1e-9)) */
#define HISTOGRAM_BUCKET_MAX 448    /* the bucket that ends at 2^14 s */
#define HISTOGRAM_NR_BUCKETS (HISTOGRAM_BUCKET_MAX - HISTOGRAM_BUCKET_MIN + 1)

/* Up to this many buckets are kept as a list, so that a thousand small histograms stay small. */
#define HISTOGRAM_FEW 128

struct histogram_bucket_count {
	uint64_t count;
	int bucket;
};

struct histogram {
	/* owned; NULL while a list does; the index is bucket - HISTOGRAM_BUCKET_MIN */
	uint64_t *counts;
	struct histogram_bucket_count *few; /* owned; [cap_few], by bucket ascending; NULL: none */
	uint16_t nr_few, cap_few;
	bool is_whole;	   /* takes the array at the first value, and so never grows again */
	uint64_t nr;	   /* number of recorded durations */
	uint64_t min_ns;   /* exact; 0 while empty */
	uint64_t max_ns;   /* exact; 0 while empty */
	uint64_t sum_ns;   /* exact; low word of a 128-bit sum ... */
	uint64_t sum_high; /* ... and its high word, so that merging windows does not round */
};

/* A zeroed struct is an empty histogram. */
void histogram_init(struct histogram *h);
/* Frees the memory and leaves the histogram empty. */
void histogram_release(struct histogram *h);
/* Empties the histogram and keeps its memory. */
void histogram_clear(struct histogram *h);

/* Returns how many durations are in a bucket of HISTOGRAM_BUCKET_MIN to HISTOGRAM_BUCKET_MAX. */
uint64_t histogram_count(const struct histogram *h, int bucket);
/*
 * Returns the first bucket from `bucket` on that holds a duration, or a number above
 * HISTOGRAM_BUCKET_MAX if there is none.
 *
 *	for (int b = histogram_next(h, HISTOGRAM_BUCKET_MIN); b <= HISTOGRAM_BUCKET_MAX;
 *	     b = histogram_next(h, b + 1))
 */
int histogram_next(const struct histogram *h, int bucket);
/*
 * Gives the next bucket that holds a duration, and its count; *at is 0 at first and says how far
 * the walk is. Returns false behind the last one. It costs less than asking for each bucket.
 */
bool histogram_walk(const struct histogram *h, unsigned int *at, int *bucket, uint64_t *count);
/* Makes a deep copy; *dst is overwritten. Returns 0, or -ENOMEM with dst empty. */
int histogram_copy(struct histogram *dst, const struct histogram *src);
/* Returns how many buckets hold a duration. */
size_t histogram_nr_used(const struct histogram *h);
/* Reduces the memory to that of the recorded durations, for histograms that are only read. */
void histogram_pack(struct histogram *h);
/* Returns the bytes on the heap. */
size_t histogram_memory(const struct histogram *h);

/* Returns the bucket of a duration by exact integer comparison with the bucket's end. O(1). */
int histogram_bucket(uint64_t duration_ns);
/* Returns the inclusive upper end of a bucket in seconds, 2^(bucket/32). */
double histogram_bucket_end_s(int bucket);

/* Records one duration. Returns 0, or -ENOMEM with nothing changed. */
int histogram_add(struct histogram *h, uint64_t duration_ns);
/* Records nr durations by their bucket alone; decoders use this and set the moments themselves. */
int histogram_add_bucket(struct histogram *h, int bucket, uint64_t nr);
/*
 * Records durations by their buckets alone: counts[i] of them in bucket first + i, for i < nr. An
 * empty histogram takes a list of just the buckets in use. Returns 0, -EINVAL if a bucket does not
 * exist, -EOVERFLOW, or -ENOMEM; after an error only a part may have been recorded.
 */
int histogram_add_counts(struct histogram *h, int first, const uint64_t *counts, size_t nr);
/* Adds src to dst. Returns 0, or -ENOMEM with dst unchanged. */
int histogram_merge(struct histogram *dst, const struct histogram *src);

/*
 * Subtracts src from dst, which has all its durations. The least and the largest duration stay
 * those of dst.
 */
void histogram_subtract(struct histogram *dst, const struct histogram *src);

/* Returns the mean in seconds; NaN while empty. */
double histogram_mean_s(const struct histogram *h);
/*
 * Returns the p-quantile in seconds, 0 < p < 1. The value has rank ceil(p * nr), is placed within
 * its bucket by linear interpolation and limited to [min, max]; the relative error is below the
 * width of one bucket, 2.2 %. In the lowest bucket, which cannot tell 0 from 1 ns, the value is the
 * least duration. Returns NaN where fewer than HISTOGRAM_BEYOND values lie beyond the rank.
 */
#define HISTOGRAM_BEYOND 10
double histogram_quantile_s(const struct histogram *h, double p);
/*
 * Returns the p-quantile without the rule of HISTOGRAM_BEYOND, for pictures and tests; NaN while
 * empty.
 */
double histogram_quantile_any_s(const struct histogram *h, double p);
/* Returns the number of durations up to the bucket's end, for classic `le` series. */
uint64_t histogram_cumulative(const struct histogram *h, int bucket);

#endif
