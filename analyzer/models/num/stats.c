// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

#include "analyzer/models/num/stats.h"
#include "base/memory/order.h"

double stats_mean(const double *v, size_t nr)
{
	double sum = 0, rest = 0; /* compensated summation (Neumaier) */

	for (size_t i = 0; i < nr; i++) {
		double next = sum + v[i];

		rest += fabs(sum) >= fabs(v[i]) ? (sum - next) + v[i] : (v[i] - next) + sum;
		sum = next;
	}
	return nr ? (sum + rest) / (double)nr : NAN;
}

double stats_sd(const double *v, size_t nr)
{
	double mean = stats_mean(v, nr), sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return nr > 1 ? sqrt(sum / (double)(nr - 1)) : NAN;
}

void stats_sort(double *v, size_t nr)
{
	if (nr)
		qsort(v, nr, sizeof(*v), order_double);
}

double stats_quantile(const double *sorted, size_t nr, double q)
{
	double at = q * (double)(nr - 1), low = floor(at);
	size_t i = (size_t)low;

	if (!nr)
		return NAN;
	if (i + 1 >= nr)
		return sorted[nr - 1];
	return sorted[i] + (at - low) * (sorted[i + 1] - sorted[i]);
}

static void stats_swap(struct stats_weighted *a, struct stats_weighted *b)
{
	struct stats_weighted t = *a;

	*a = *b;
	*b = t;
}

double stats_weighted_median(struct stats_weighted *v, size_t nr)
{
	size_t first = 0, end = nr;
	double want = 0;

	for (size_t i = 0; i < nr; i++)
		want += v[i].weight / 2;
	while (end - first > 1) {
		double pivot = v[first + (end - first) / 2].value, below = 0, equal = 0;
		size_t low = first, at = first, high = end;

		/*
		 * The parts are: below the pivot [first, low), equal [low, at), not examined [at,
		 * high), above [high, end).
		 */
		while (at < high) {
			if (v[at].value < pivot) {
				below += v[at].weight;
				stats_swap(&v[at++], &v[low++]);
			} else if (v[at].value > pivot) {
				stats_swap(&v[at], &v[--high]);
			} else {
				equal += v[at++].weight;
			}
		}
		if (want <= below && low > first) {
			end = low;
		} else if (want > below + equal && high < end) {
			want -= below + equal;
			first = high;
		} else {
			return pivot;
		}
	}
	return nr ? v[first].value : NAN;
}

struct t_test stats_paired_t(const double *a, const double *b, size_t nr)
{
	struct t_test test = { .t = NAN, .p = NAN, .df = nr ? nr - 1 : 0 };
	double mean = 0, sum = 0, sd;

	if (nr < 2)
		return test;
	for (size_t i = 0; i < nr; i++)
		mean += (a[i] - b[i]) / (double)nr;
	for (size_t i = 0; i < nr; i++)
		sum += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
	sd = sqrt(sum / (double)(nr - 1));
	if (sd > 0) {
		test.t = mean / (sd / sqrt((double)nr));
		test.p = 2 * gsl_cdf_tdist_Q(fabs(test.t), (double)test.df);
	}
	return test;
}

/*
 * Q of Kolmogorov's distribution is 2 sum (-1)^(k-1) exp(-2 k^2 l^2) (Press et al., Numerical
 * Recipes, section 14.3).
 */
static double kolmogorov_q(double lambda)
{
	double sum = 0, sign = 1;

	if (lambda < 0.2)
		return 1; /* correct to 1e-12 */
	for (int k = 1; k <= 100; k++, sign = -sign)
		sum += sign * exp(-2 * k * k * lambda * lambda);
	return fmin(1, fmax(0, 2 * sum));
}

double stats_ks(const double *a, size_t nr_a, const double *b, size_t nr_b, double *p)
{
	size_t i = 0, j = 0;
	double worst = 0, n;

	if (!nr_a || !nr_b) {
		*p = NAN;
		return NAN;
	}
	while (i < nr_a && j < nr_b) {
		double at = fmin(a[i], b[j]);

		while (i < nr_a && a[i] <= at)
			i++;
		while (j < nr_b && b[j] <= at)
			j++;
		worst = fmax(worst, fabs((double)i / (double)nr_a - (double)j / (double)nr_b));
	}
	n = sqrt((double)nr_a * (double)nr_b / (double)(nr_a + nr_b));
	*p = kolmogorov_q((n + 0.12 + 0.11 / n) * worst);
	return worst;
}
