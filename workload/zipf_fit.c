/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/block_hash.h"
#include "workload/hotspot_fit.h"
#include "workload/zipf_fit.h"

/* Items placed one by one, per region; those behind are alike and spread evenly. */
#define PLACED_PER_REGION 4
/* 4 (golden ratio - 1)^17 = 1e-3: below the standard error of theta at 100 000 accesses. */
#define GOLDEN_STEPS 17
/* Items whose sum is taken term by term before the integral takes over: error below 1e-4. */
#define SUMMED_ITEMS 16

struct layout {
	const double *counts;
	double *mass; /* by rank */
	size_t nr_regions;
	uint64_t items_per_region;
	size_t nr_placed; /* 0: the layout in order of rank */
	uint32_t *region; /* [nr_placed] where an item lies */
	double *log_item; /* [nr_placed] */
	uint32_t *nr_in;  /* [nr_regions] items placed in a region */
};

/* Sum of i^-theta for from < i <= to, by the midpoint integral past the first items. */
static double zipf_sum(double from, double to, double theta)
{
	double sum = 0, a = from;

	for (; a < to && a < SUMMED_ITEMS; a++)
		sum += pow(a + 1, -theta);
	if (a >= to)
		return sum;
	a += 0.5;
	to += 0.5;
	if (fabs(theta - 1) < 1e-9)
		return sum + log(to / a);
	return sum + (pow(to, 1 - theta) - pow(a, 1 - theta)) / (1 - theta);
}

static void masses_in_order(const struct layout *l, double theta)
{
	double per_region = (double)l->items_per_region;

	for (size_t r = 0; r < l->nr_regions; r++)
		l->mass[r] = zipf_sum((double)r * per_region, (double)(r + 1) * per_region, theta);
}

static int by_mass_falling(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

static void masses_scattered(const struct layout *l, double theta)
{
	double nr_items = (double)l->nr_regions * (double)l->items_per_region;
	double nr_rest = nr_items - (double)l->nr_placed, rest = 0;

	if (nr_rest > 0)
		rest = zipf_sum((double)l->nr_placed, nr_items, theta) / nr_rest;
	for (size_t r = 0; r < l->nr_regions; r++)
		l->mass[r] = rest * ((double)l->items_per_region - (double)l->nr_in[r]);
	for (size_t i = 0; i < l->nr_placed; i++)
		l->mass[l->region[i]] += exp(-theta * l->log_item[i]);
	qsort(l->mass, l->nr_regions, sizeof(*l->mass), by_mass_falling);
}

/* Fills mass, normalized; returns the log-likelihood. */
static double likelihood(const struct layout *l, double theta)
{
	double sum = 0, log_likelihood = 0;

	if (l->nr_placed)
		masses_scattered(l, theta);
	else
		masses_in_order(l, theta);
	for (size_t r = 0; r < l->nr_regions; r++)
		sum += l->mass[r];
	for (size_t r = 0; r < l->nr_regions; r++) {
		l->mass[r] /= sum;
		if (l->counts[r] > 0)
			log_likelihood += l->counts[r] * log(fmax(l->mass[r], 1e-300));
	}
	return log_likelihood;
}

static struct zipf_fit maximize(const struct layout *l)
{
	const double golden = 0.6180339887498949;
	double low = 0, high = ZIPF_MAX_EXPONENT;
	double a = high - golden * (high - low), b = low + golden * (high - low);
	double at_a = likelihood(l, a), at_b = likelihood(l, b);
	struct zipf_fit best;

	for (int i = 0; i < GOLDEN_STEPS; i++) {
		if (at_a > at_b) {
			high = b;
			b = a;
			at_b = at_a;
			a = high - golden * (high - low);
			at_a = likelihood(l, a);
		} else {
			low = a;
			a = b;
			at_a = at_b;
			b = low + golden * (high - low);
			at_b = likelihood(l, b);
		}
	}
	best.exponent = (low + high) / 2;
	best.log_likelihood = likelihood(l, best.exponent);
	return best;
}

/*
 * Scatters the hottest items over the regions at random without exceeding what a region holds: a
 * region is taken with a chance in proportion to its free places. The pseudo-random numbers are a
 * fixed sequence, so that the fit is a function of the counts.
 */
static void scatter(struct layout *l)
{
	uint64_t draw = 0;

	for (size_t i = 0; i < l->nr_placed;) {
		uint64_t random = block_hash_mix(++draw);
		uint32_t region = (uint32_t)((random >> 32) * l->nr_regions >> 32);
		double taken = (double)l->nr_in[region] / (double)l->items_per_region;

		if ((double)(uint32_t)random * 0x1p-32 < taken)
			continue;
		l->nr_in[region]++;
		l->log_item[i] = log((double)(i + 1));
		l->region[i++] = region;
	}
}

static int place(struct layout *l)
{
	uint64_t nr = l->nr_regions * (uint64_t)PLACED_PER_REGION;

	if (l->items_per_region < PLACED_PER_REGION)
		nr = l->nr_regions * l->items_per_region;
	l->region = malloc(nr * sizeof(*l->region));
	l->log_item = malloc(nr * sizeof(*l->log_item));
	l->nr_in = calloc(l->nr_regions, sizeof(*l->nr_in));
	if (!l->region || !l->log_item || !l->nr_in)
		return -ENOMEM;
	l->nr_placed = nr;
	scatter(l);
	return 0;
}

int zipf_fit(const double *counts, size_t nr_regions, uint64_t items_per_region, double *mass,
	     struct zipf_fit *out)
{
	struct layout l = { .counts = counts,
			    .mass = mass,
			    .nr_regions = nr_regions,
			    .items_per_region = items_per_region };
	struct zipf_fit in_order = maximize(&l);
	int err = 0;

	*out = in_order;
	if (items_per_region > 1) {
		err = place(&l);
		if (!err)
			*out = maximize(&l);
		if (!err && out->log_likelihood < in_order.log_likelihood) {
			*out = in_order;
			l.nr_placed = 0;
			likelihood(&l, in_order.exponent);
		}
	}
	free(l.region);
	free(l.log_item);
	free(l.nr_in);
	return err;
}
