/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval: confidence intervals from samples of any simulation.
 *
 * Samples are batches of one run or whole replications. Their content is read through functions,
 * which return the value of quantity `index` in sample i.
 */
#ifndef ANALYZER_INTERVAL_H
#define ANALYZER_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/models/sim/qhist.h"

#define OUTPUT_CONFIDENCE 0.95

struct interval {
	double mean, low, high; /* NaN: unknown */
};

struct time_estimate {
	struct interval mean, p50, p95, p99; /* for a quantile, mean is the quantile itself */
};

typedef double (*sample_value)(const void *samples, size_t i, uint32_t index);
typedef const struct qhist *(*sample_hist)(const void *samples, size_t i, uint32_t index);

/*
 * Defines a sample_value, or a sample_hist, of samples that are structs of that type: `value` is an
 * expression of the sample x and of index.
 */
#define SAMPLE_GETTER(result, name, type, value)                          \
	static result name(const void *samples, size_t i, uint32_t index) \
	{                                                                 \
		const struct type *x = (const struct type *)samples + i;  \
                                                                          \
		(void)index;                                              \
		return value;                                             \
	}

struct samples {
	const void *items;
	size_t nr; /* at least 2 */
	uint32_t index;
};

/*
 * Returns the ratio of two sums with its interval from the residuals (Law, Simulation Modeling and
 * Analysis, section 9.5; Student's t). The ratio is unknown if the lower sum is 0.
 */
struct interval interval_ratio(const struct samples *x, sample_value top, sample_value bottom);

/* Each control variable needs this number of samples; with fewer its effect cannot be judged. */
#define INTERVAL_PER_CONTROL 6

/*
 * Returns the same ratio by control variables, where control(i, controls[k]) has expectation 0. The
 * part of the sums that depends on the controls, by least squares over the samples, is subtracted.
 * The interval is that of the regression's intercept, Student's t with one degree of freedom less
 * per control (Lavenberg and Welch, A perspective on the use of control variables, Management
 * Science 27, 1981). Controls that do not vary are left out. Returns 0, -ENOMEM or -ERANGE.
 * nr_controls 0: interval_ratio().
 */
int interval_controlled(struct interval *out, const struct samples *x, sample_value top,
			sample_value bottom, sample_value control, const uint32_t *controls,
			size_t nr_controls);

/*
 * Computes p50, p95 and p99 of the merged histogram. The interval of a quantile is the range of
 * quantiles between the ends of the interval of the share of values below it, which needs no
 * density. Above the last value nothing is known (infinity). Returns 0 or -ENOMEM.
 */
int interval_quantiles(struct time_estimate *t, const struct samples *x, sample_hist hist);

/* A relative width below this is only rounding, where every sample is the same. */
#define INTERVAL_ROUNDING 1e-9

/*
 * Returns half the width divided by the mean; infinity where nothing is known; 0 where nothing
 * varies beyond INTERVAL_ROUNDING.
 */
double interval_width(struct interval v);
/*
 * Returns the largest relative width of a time: that of its mean and, with quantiles, those of its
 * quantiles by their farther end.
 */
double interval_time_width(const struct time_estimate *t, bool quantiles);

/*
 * Returns how many samples to leave out at the beginning by one quantity: MSER (White, An effective
 * truncation heuristic for bias reduction in simulation output, 1997), at most half of them, and
 * none where that gains little.
 */
size_t interval_truncation(const struct samples *x, sample_value level);
/*
 * Returns the lag-1 autocorrelation of one quantity; 0 for fewer than 4 samples or where nothing
 * varies.
 */
double interval_correlation(const struct samples *x, sample_value level);

#endif
