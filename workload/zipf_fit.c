/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/order.h"
#include "workload/block_hash.h"
#include "workload/hotspot_fit.h"
#include "workload/zipf_fit.h"

/*
 * This many items per region are placed one by one. The items after them are nearly equal and are
 * spread evenly.
 */
#define PLACED_PER_REGION 4
/* The tolerance is below the standard error of theta at 100 000 accesses. */
#define EXPONENT_TOLERANCE 1e-3
#define FIRST_EXPONENT	   1.0
#define MAX_STEPS	   40
#define GOLDEN		   0.3819660112501051 /* 1 - 1 / golden ratio */
/*
 * This many items are summed term by term before an integral replaces the sum. The error is below
 * 1e-4.
 */
#define SUMMED_ITEMS 16

struct layout {
	const double *counts;
	double *mass; /* by rank */
	size_t nr_regions;
	uint64_t items_per_region;
	size_t nr_placed; /* 0: the layout in order of rank */
	uint32_t *region; /* the region in which an item lies; has nr_placed elements */
	double *log_item; /* [nr_placed] */
	uint32_t *nr_in;  /* [nr_regions] items placed in a region */
};

/* Returns an antiderivative of x^-theta. */
static double zipf_fit_antiderivative(double x, double theta)
{
	return fabs(theta - 1) < 1e-9 ? log(x) : pow(x, 1 - theta) / (1 - theta);
}

/*
 * Returns the sum of i^-theta for from < i <= to. Beyond the first items it uses the integral by
 * the midpoint rule.
 */
static double zipf_sum(double from, double to, double theta)
{
	double sum = 0, a = from;

	for (; a < to && a < SUMMED_ITEMS; a++)
		sum += pow(a + 1, -theta);
	if (a < to)
		sum += zipf_fit_antiderivative(to + 0.5, theta) -
		       zipf_fit_antiderivative(a + 0.5, theta);
	return sum;
}

static void masses_in_order(const struct layout *l, double theta)
{
	double per_region = (double)l->items_per_region, end = 0, before;
	size_t r = 0;

	for (; r < l->nr_regions && end < SUMMED_ITEMS; r++, end += per_region)
		l->mass[r] = zipf_sum(end, end + per_region, theta);
	before = zipf_fit_antiderivative(end + 0.5, theta);
	for (; r < l->nr_regions; r++) {
		double after;

		end += per_region;
		after = zipf_fit_antiderivative(end + 0.5, theta);
		l->mass[r] = after - before;
		before = after;
	}
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
	qsort(l->mass, l->nr_regions, sizeof(*l->mass), order_double_falling);
}

/* Fills mass, normalized, and returns the log-likelihood. */
static double zipf_fit_likelihood(const struct layout *l, double theta)
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

/* The three best points so far, best first, and the interval that holds the maximum. */
struct search {
	double low, high;
	double x[3], y[3];
	double step, last_step;
};

/*
 * Returns the maximum of the parabola through the three points, or NaN where it cannot be trusted.
 */
static double zipf_fit_parabola(const struct search *s)
{
	double a = (s->x[0] - s->x[1]) * (s->y[0] - s->y[2]);
	double b = (s->x[0] - s->x[2]) * (s->y[0] - s->y[1]);
	double step = ((s->x[0] - s->x[1]) * a - (s->x[0] - s->x[2]) * b) / (2 * (a - b));

	if (!(fabs(step) < fabs(s->last_step) / 2) || s->x[0] - step <= s->low ||
	    s->x[0] - step >= s->high)
		return NAN;
	return s->x[0] - step;
}

/*
 * Returns the next point to try: the maximum of a parabola, or else the golden section of the
 * longer side.
 */
static double next_point(struct search *s)
{
	double x = zipf_fit_parabola(s), middle = (s->low + s->high) / 2;

	s->last_step = s->step;
	if (isnan(x)) {
		s->last_step = (s->x[0] < middle ? s->high : s->low) - s->x[0];
		x = s->x[0] + GOLDEN * s->last_step;
	}
	s->step = x - s->x[0];
	if (fabs(s->step) < EXPONENT_TOLERANCE)
		x = s->x[0] + (s->x[0] < middle ? EXPONENT_TOLERANCE : -EXPONENT_TOLERANCE);
	return x;
}

static void take_point(struct search *s, double x, double y)
{
	int at = y >= s->y[0] ? 0 : y >= s->y[1] || s->x[1] == s->x[0] ? 1 : 2;

	if (at == 0)
		*(x < s->x[0] ? &s->high : &s->low) = s->x[0];
	else
		*(x < s->x[0] ? &s->low : &s->high) = x;
	for (int i = 2; i > at; i--) {
		s->x[i] = s->x[i - 1];
		s->y[i] = s->y[i - 1];
	}
	s->x[at] = x;
	s->y[at] = y;
}

/* Brent's method (Brent, Algorithms for Minimization without Derivatives, 1973, chapter 5). */
static struct zipf_fit zipf_fit_maximize(const struct layout *l)
{
	struct search s = { .low = 0, .high = ZIPF_MAX_EXPONENT };
	struct zipf_fit best;

	s.x[0] = s.x[1] = s.x[2] = FIRST_EXPONENT;
	s.y[0] = s.y[1] = s.y[2] = zipf_fit_likelihood(l, FIRST_EXPONENT);
	for (int i = 0; i < MAX_STEPS && s.high - s.low > 4 * EXPONENT_TOLERANCE; i++) {
		double x = next_point(&s);

		take_point(&s, x, zipf_fit_likelihood(l, x));
	}
	best.exponent = s.x[0];
	best.log_likelihood = zipf_fit_likelihood(l, best.exponent);
	return best;
}

/*
 * Scatters the hottest items over the regions at random, without exceeding what a region holds: the
 * chance of a region is proportional to the number of items that it can still take. The
 * pseudo-random numbers are a fixed sequence, so that the result of the fit depends on the counts
 * alone.
 */
static void zipf_fit_scatter(struct layout *l)
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

static int zipf_fit_place(struct layout *l)
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
	zipf_fit_scatter(l);
	return 0;
}

int zipf_fit(const double *counts, size_t nr_regions, uint64_t items_per_region, double *mass,
	     struct zipf_fit *out)
{
	struct layout l = { .counts = counts,
			    .mass = mass,
			    .nr_regions = nr_regions,
			    .items_per_region = items_per_region };
	struct zipf_fit in_order = zipf_fit_maximize(&l);
	int ret = 0;

	*out = in_order;
	if (items_per_region > 1) {
		ret = zipf_fit_place(&l);
		if (!ret)
			*out = zipf_fit_maximize(&l);
		if (!ret && out->log_likelihood < in_order.log_likelihood) {
			*out = in_order;
			l.nr_placed = 0;
			zipf_fit_likelihood(&l, in_order.exponent);
		}
	}
	free(l.region);
	free(l.log_item);
	free(l.nr_in);
	return ret;
}
