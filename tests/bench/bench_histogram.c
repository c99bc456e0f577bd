/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of recording one duration and of finding its bucket, beside log2() and frexp(), which is
 * how the same grid is usually computed; and of a merge and of the seven percentiles of a profile.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "formats/histogram.h"
#include "tests/support/traffic.h"

#define NR	(1u << 16)
#define REPEATS 20 /* the fastest counts: the machine is shared */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void figure(const char *what, double seconds, double per, const char *unit, const char *goal,
		   const char *note)
{
	printf("figure\thistogram: %s\t%.3g\t%s\t%s\t%s\n", what, seconds / per * 1e9, unit, goal,
	       note);
}

static int by_log2(uint64_t duration_ns)
{
	return (int)ceil(32 * log2((double)duration_ns * 1e-9));
}

static double time_lookup(const uint64_t *v, int (*lookup)(uint64_t), volatile int *sink)
{
	double best = INFINITY;

	for (int k = 0; k < REPEATS; k++) {
		double begin = now_s();
		int sum = 0;

		for (unsigned int i = 0; i < NR; i++)
			sum += lookup(v[i]);
		*sink = sum;
		best = fmin(best, now_s() - begin);
	}
	return best;
}

int main(void)
{
	uint64_t *v = malloc(NR * sizeof(*v));
	double add = INFINITY, merge = INFINITY, quantiles = INFINITY;
	struct histogram h = { 0 }, sum = { 0 };
	struct traffic t = { 1 };
	volatile double sink = 0;
	volatile int bucket;

	for (unsigned int i = 0; i < NR; i++)
		v[i] = (uint64_t)traffic_lognormal(&t, 200000, 1);
	for (int k = 0; k < REPEATS; k++) {
		double begin = now_s();

		for (unsigned int i = 0; i < NR; i++)
			if (histogram_add(&h, v[i]))
				return 1;
		add = fmin(add, now_s() - begin);
		begin = now_s();
		if (histogram_merge(&sum, &h))
			return 1;
		merge = fmin(merge, now_s() - begin);
		begin = now_s();
		for (int q = 1; q <= 7; q++)
			sink += histogram_quantile_s(&h, 1 - pow(10, -q / 2.0));
		quantiles = fmin(quantiles, now_s() - begin);
	}
	figure("bucket of a duration", time_lookup(v, histogram_bucket, &bucket), NR, "ns", "<= 3",
	       "");
	figure("bucket by log2()", time_lookup(v, by_log2, &bucket), NR, "ns", "",
	       "peer, inexact at ends");
	figure("record a duration", add, NR, "ns", "", "bucket, extremes, 128-bit sum");
	figure("merge two", merge, 1, "ns", "", "");
	figure("seven percentiles", quantiles, 1, "ns", "", "");
	histogram_release(&h);
	histogram_release(&sum);
	free(v);
	return 0;
}
