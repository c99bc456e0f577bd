/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interval: confidence intervals from samples of a simulation, whatever it simulates.
 *
 * Samples are batches of one run or whole replications. What they hold is read through functions:
 * the value of quantity `index` in sample i.
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
	struct interval mean, p50, p95, p99; /* of a quantile, mean is the quantile itself */
};

typedef double (*sample_value)(const void *samples, size_t i, uint32_t index);
typedef const struct qhist *(*sample_hist)(const void *samples, size_t i, uint32_t index);

struct samples {
	const void *items;
	size_t nr; /* 2 or more */
	uint32_t index;
};

/*
 * The ratio of two sums with its interval from the residuals (Law, Kelton, 9.5; Student's t);
 * unknown where the lower sum is 0.
 */
struct interval interval_ratio(const struct samples *x, sample_value top, sample_value bottom);

/* Samples for each control variable, at least: fewer leave too little to judge it by. */
#define INTERVAL_PER_CONTROL 6

/*
 * The same ratio by control variables: control(i, controls[k]) is 0 in expectation. What the sums
 * owe to the controls, by least squares over the samples, is taken off them; the interval is that
 * of the regression's intercept, Student's t with a degree of freedom less for each control
 * (Lavenberg, Welch, Management Science 27, 1981). Controls that do not vary are left out. 0,
 * -ENOMEM or -ERANGE. nr_controls 0: interval_ratio().
 */
int interval_controlled(struct interval *out, const struct samples *x, sample_value top,
			sample_value bottom, sample_value control, const uint32_t *controls,
			size_t nr_controls);

/*
 * p50, p95 and p99 of the merged histogram. The interval of a quantile is the range of quantiles
 * between the ends of the interval of the share of values below it, which needs no density; above
 * the last value nothing is known (infinity). 0 or -ENOMEM.
 */
int interval_quantiles(struct time_estimate *t, const struct samples *x, sample_hist hist);

/* A relative width below this one is what rounding leaves where every sample is the same. */
#define INTERVAL_ROUNDING 1e-9

/* Half the width beside the mean; infinite where nothing is known; 0 where nothing varies
 * beyond INTERVAL_ROUNDING. */
double interval_width(struct interval v);
/* The worst of a time: of its mean, with quantiles of them too, by their farther end. */
double interval_time_width(const struct time_estimate *t, bool quantiles);

/*
 * Samples to leave out at the beginning by one quantity: MSER (White, 1997), at most half; none
 * where that gains little.
 */
size_t interval_truncation(const struct samples *x, sample_value level);
/* Lag-1 autocorrelation of one quantity; 0 for fewer than 4 samples or where nothing varies. */
double interval_correlation(const struct samples *x, sample_value level);

#endif
