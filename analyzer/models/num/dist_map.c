// SPDX-License-Identifier: Apache-2.0
/*
 * This file holds Markovian arrival processes: their tables for sampling, and their stationary
 * moments.
 *
 * phi, the phase right after an event, solves phi P = phi with P = (-D0)^-1 D1; the k-th moment of
 * the time between events is k! phi (-D0)^-k 1 (Neuts, A Versatile Markovian Point Process, Journal
 * of Applied Probability 16, 1979).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/num/dist.h"

/* Rates are given as decimals, so the sum of a row may differ from 0 by this share of its total. */
#define ROW_TOLERANCE 1e-6
/* A pivot below this share of the largest entry makes the matrix singular in double precision. */
#define PIVOT_TOLERANCE 1e-13

/*
 * Solves a x = b in place by elimination with row pivots; the matrix is n x n by rows. Returns
 * -EINVAL if it is singular.
 */
static int dist_map_solve(double *a, double *b, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n * n; i++)
		largest = fmax(largest, fabs(a[i]));
	for (size_t c = 0; c < n; c++) {
		size_t p = c;

		for (size_t i = c + 1; i < n; i++)
			if (fabs(a[i * n + c]) > fabs(a[p * n + c]))
				p = i;
		if (!(fabs(a[p * n + c]) > PIVOT_TOLERANCE * largest))
			return -EINVAL;
		for (size_t k = 0; p != c && k <= n; k++) {
			double *x = k < n ? &a[p * n + k] : &b[p];
			double *y = k < n ? &a[c * n + k] : &b[c], t = *x;

			*x = *y;
			*y = t;
		}
		for (size_t i = c + 1; i < n; i++) {
			double f = a[i * n + c] / a[c * n + c];

			for (size_t k = c; k < n; k++)
				a[i * n + k] -= f * a[c * n + k];
			b[i] -= f * b[c];
		}
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= a[i * n + k] * b[k];
		b[i] /= a[i * n + i];
	}
	return 0;
}

/* Computes x <- (-D0)^-1 x. work is n x n. */
static int apply_inverse(const double *d0, double *x, size_t n, double *work)
{
	for (size_t i = 0; i < n * n; i++)
		work[i] = -d0[i];
	return dist_map_solve(work, x, n);
}

/*
 * Computes the stationary distribution pi of D0 + D1 from the transposed equations, the last of
 * which is replaced by sum = 1. Returns -EINVAL where it is not unique.
 */
static int dist_map_stationary(const double *d0, const double *d1, size_t n, double *pi,
			       double *work)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < n; k++)
			work[i * n + k] = i == n - 1 ? 1 : d0[k * n + i] + d1[k * n + i];
		pi[i] = i == n - 1;
	}
	return dist_map_solve(work, pi, n);
}

static int dist_map_moments(struct dist *d, const double *d0, const double *d1)
{
	size_t n = d->nr;
	double *work = calloc(n * n + 2 * n, sizeof(*work)), *pi, *x, rate = 0, second = 0;
	int ret = -ENOMEM;

	if (!work)
		return ret;
	pi = work + n * n;
	x = pi + n;
	ret = dist_map_stationary(d0, d1, n, pi, work);
	for (size_t i = 0; !ret && i < n; i++)
		for (size_t k = 0; k < n; k++)
			rate += pi[i] * d1[i * n + k];
	for (size_t i = 0; i < n; i++)
		x[i] = 1;
	/* From phi = pi D1 / rate and pi D1 = -pi D0 follows E[X^2] = 2 pi (-D0)^-1 1 / rate. */
	if (!ret)
		ret = apply_inverse(d0, x, n, work);
	for (size_t i = 0; !ret && i < n; i++)
		second += 2 * pi[i] * x[i];
	free(work);
	if (ret || !(rate > 0))
		return -EINVAL;
	d->mean = 1 / rate;
	d->variance = second / rate - d->mean * d->mean;
	return 0;
}

static int check_rates(const double *d0, const double *d1, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		double sum = 0, total = -d0[i * n + i];

		for (size_t k = 0; k < n; k++) {
			double a = d0[i * n + k], b = d1[i * n + k];

			if (!isfinite(a) || !isfinite(b) || b < 0 || (i != k && a < 0))
				return err_set(err, EINVAL,
					       "map: row %zu, column %zu: rates at or above 0 are "
					       "expected off the diagonal of d0",
					       i + 1, k + 1);
			sum += a + b;
		}
		if (!(total > 0) || fabs(sum) > ROW_TOLERANCE * total)
			return err_set(err, EINVAL,
				       "map: row %zu of d0 + d1 sums to %g: expected 0, with a "
				       "diagonal of d0 below 0",
				       i + 1, sum);
	}
	return 0;
}

static void fill_tables(struct dist *d, const double *d0, const double *d1)
{
	size_t n = d->nr;

	for (size_t i = 0; i < n; i++) {
		double *row = d->cumulative + i * 2 * n, total = 0, at = 0;

		for (size_t k = 0; k < n; k++)
			total += (k == i ? 0 : d0[i * n + k]) + d1[i * n + k];
		for (size_t k = 0; k < 2 * n; k++) {
			if (k != i)
				at += (k < n ? d0[i * n + k] : d1[i * n + k - n]) / total;
			row[k] = at;
		}
		row[2 * n - 1] = 1;
		d->x[i] = total;
	}
}

int dist_map(struct dist *d, const double *d0, const double *d1, size_t nr, struct err *err)
{
	*d = (struct dist){ 0 };
	if (nr < 1 || nr > DIST_MAX_PHASES)
		return err_set(err, EINVAL, "map: expected 1 to %d phases, got %zu",
			       DIST_MAX_PHASES, nr);
	if (check_rates(d0, d1, nr, err))
		return -EINVAL;
	*d = (struct dist){ .kind = DIST_MAP, .nr = nr };
	d->x = calloc(nr, sizeof(*d->x));
	d->cumulative = calloc(2 * nr * nr, sizeof(*d->cumulative));
	if (!d->x || !d->cumulative) {
		dist_release(d);
		return err_set(err, ENOMEM, "out of memory");
	}
	if (dist_map_moments(d, d0, d1)) {
		dist_release(d);
		return err_set(err, EINVAL,
			       "map: no single stationary law, or no events: expected an "
			       "irreducible d0 + d1 with an event");
	}
	fill_tables(d, d0, d1);
	return 0;
}
