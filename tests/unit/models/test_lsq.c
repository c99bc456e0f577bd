/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyzer/models/num/lsq.h"
#include "analyzer/models/num/rng.h"
#include "analyzer/models/num/stats.h"
#include "tests/support/tap.h"

/* Longley's data, the classic of ill-conditioned regression; certified values of NIST StRD. */
static const double longley[16][7] = {
	{ 60323, 83.0, 234289, 2356, 1590, 107608, 1947 },
	{ 61122, 88.5, 259426, 2325, 1456, 108632, 1948 },
	{ 60171, 88.2, 258054, 3682, 1616, 109773, 1949 },
	{ 61187, 89.5, 284599, 3351, 1650, 110929, 1950 },
	{ 63221, 96.2, 328975, 2099, 3099, 112075, 1951 },
	{ 63639, 98.1, 346999, 1932, 3594, 113270, 1952 },
	{ 64989, 99.0, 365385, 1870, 3547, 115094, 1953 },
	{ 63761, 100.0, 363112, 3578, 3350, 116219, 1954 },
	{ 66019, 101.2, 397469, 2904, 3048, 117388, 1955 },
	{ 67857, 104.6, 419180, 2822, 2857, 118734, 1956 },
	{ 68169, 108.4, 442769, 2936, 2798, 120445, 1957 },
	{ 66513, 110.8, 444546, 4681, 2637, 121950, 1958 },
	{ 68655, 112.6, 482704, 3813, 2552, 123366, 1959 },
	{ 69564, 114.2, 502601, 3931, 2514, 125368, 1960 },
	{ 69331, 115.7, 518173, 4806, 2572, 127852, 1961 },
	{ 70551, 116.9, 554894, 4007, 2827, 130081, 1962 },
};

static void certified(void)
{
	static const double want[7] = { -3482258.63459582, 15.0618722713733,  -0.0358191792925910,
					-2.02022980381683, -1.03322686717359, -0.0511041056535807,
					1829.15146461355 };
	double x[7 * 16], y[16], b[7], se[7];
	struct lsq_problem p = { .nr_rows = 16, .nr_columns = 7, .x = x, .y = y };
	struct lsq_result r = { .coefficients = b, .standard_errors = se };

	for (int i = 0; i < 16; i++) {
		y[i] = longley[i][0];
		x[i] = 1;
		for (int j = 1; j < 7; j++)
			x[16 * j + i] = longley[i][j];
	}
	ok_int(lsq_solve(&p, &r), 0);
	ok_eq(r.rank, 7);
	/* The condition number is 5e9: 16 digits leave six or seven; QR gives nine. */
	for (int j = 0; j < 7; j++)
		ok_ratio(b[j], want[j], 1e-8);
	ok_ratio(r.rss, 836424.055505915, 1e-8);
	ok_ratio(se[0], 890420.383607373, 1e-7);
	ok_ratio(se[6], 455.478499142212, 1e-7);
	/* Refined to the digits that were certified. */
	p.refine = true;
	ok_int(lsq_solve(&p, &r), 0);
	for (int j = 0; j < 7; j++)
		ok_ratio(b[j], want[j], 2e-14);
	ok_ratio(r.rss, 836424.055505915, 2e-14);
}

/* Rows that count twice, and rows that stand there twice: refined, the same to the last digits. */
static void refined_weights(void)
{
	double x[3 * 24], y[24], weight[16], b[3], twice[3];
	struct lsq_problem p = { .nr_rows = 16, .nr_columns = 3, .x = x, .y = y, .refine = true };
	struct lsq_result r = { .coefficients = b };

	p.weight = weight;
	for (int half = 0; half < 2; half++) {
		p.nr_rows = half ? 24 : 16;
		for (size_t i = 0; i < p.nr_rows; i++) {
			const double *row = longley[i < 16 ? i : i - 16];

			if (i < 16)
				weight[i] = i < 8 ? 2 : 1;
			x[i] = 1;
			x[p.nr_rows + i] = row[5];
			x[2 * p.nr_rows + i] = row[6];
			y[i] = row[0];
		}
		ok_int(lsq_solve(&p, &r), 0);
		p.weight = NULL;
		r.coefficients = twice;
	}
	for (int j = 0; j < 3; j++)
		ok_ratio(b[j], twice[j], 1e-13);
}

static void dependent(void)
{
	double x[4 * 5] = { 1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 2, 4, 6, 8, 10, 0, 0, 1, 0, 1 }, b[4];
	double y[5] = { 1, 2, 4, 4, 6 };
	bool used[4];
	struct lsq_problem p = { .nr_rows = 5, .nr_columns = 4, .x = x, .y = y };
	struct lsq_result r = { .coefficients = b, .used = used };

	ok_int(lsq_solve(&p, &r), 0);
	ok_eq(r.rank, 3);
	ok(used[0] && used[1] && !used[2] && used[3]);
	ok_near(b[1], 1, 1e-14);
	ok_near(b[2], 0, 0);
	ok_near(b[3], 1, 1e-14);
}

static void fewer_rows(void)
{
	double x[9] = { 1, 1, 1, 0, 1, 2, 4, 4, 9 }, y[2] = { 1, 3 }, b[3];
	struct lsq_problem p = { .nr_rows = 2, .nr_columns = 3, .x = x, .y = y };
	struct lsq_result r = { .coefficients = b };

	ok_int(lsq_solve(&p, &r), 0);
	ok_eq(r.rank, 2);
	ok_near(r.rss, 0, 1e-20);
}

/* A whole weight is as many equal rows. */
static void weights(void)
{
	double x[6] = { 1, 1, 1, 1, 2, 4 }, y[3] = { 1, 3, 4 }, w[3] = { 2, 1, 3 };
	double xx[12] = { 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 4, 4 }, yy[6] = { 1, 1, 3, 4, 4, 4 };
	double a[2], b[2];
	struct lsq_problem p = { 3, 2, x, y, w, false }, q = { 6, 2, xx, yy, NULL, false };
	struct lsq_result ra = { .coefficients = a }, rb = { .coefficients = b };

	ok_int(lsq_solve(&p, &ra), 0);
	ok_int(lsq_solve(&q, &rb), 0);
	ok_near(a[0], b[0], 1e-13);
	ok_near(a[1], b[1], 1e-13);
	ok_near(ra.rss, rb.rss, 1e-13);
}

/* R: t.test(c(1,2,3,4,6), c(2,2,5,3,9), paired=TRUE) */
static void t_test(void)
{
	static const double a[] = { 1, 2, 3, 4, 6 }, b[] = { 2, 2, 5, 3, 9 };
	struct t_test t = stats_paired_t(a, b, 5);

	ok_near(t.t, -1.414213562373095, 1e-12);
	ok_near(t.p, 0.2301996410804991, 1e-10);
	t = stats_paired_t(a, a, 5);
	ok(isnan(t.p));
}

static void quantiles(void)
{
	double v[] = { 4, 1, 3, 2 };

	stats_sort(v, 4);
	ok_near(stats_quantile(v, 4, 0.95), 3.85, 1e-15);
	ok_near(stats_quantile(v, 4, 0), 1, 0);
	ok_near(stats_quantile(v, 4, 1), 4, 0);
	ok(isnan(stats_quantile(v, 0, 0.5)));
}

static void ks(void)
{
	double a[400], b[400], p;
	struct rng r;

	rng_seed(&r, 5);
	for (int i = 0; i < 400; i++) {
		a[i] = rng_uniform(&r);
		b[i] = rng_uniform(&r);
	}
	stats_sort(a, 400);
	stats_sort(b, 400);
	stats_ks(a, 400, b, 400, &p);
	ok(p > 0.01);
	for (int i = 0; i < 400; i++)
		b[i] = b[i] * b[i];
	ok(stats_ks(a, 400, b, 400, &p) > 0.15);
	ok(p < 1e-4);
}

static const struct tap_test tests[] = {
	{ "coefficients of Longley's data agree with NIST's certified values", certified },
	{ "weights are refined as rows are", refined_weights },
	{ "a dependent column is left out, the later one, as in lm", dependent },
	{ "fewer rows than columns leave as many as there are rows", fewer_rows },
	{ "a whole weight is as many equal rows", weights },
	{ "the paired t-test agrees with R", t_test },
	{ "quantiles are those of R's type 7", quantiles },
	{ "two samples of one law pass Kolmogorov-Smirnov, two laws do not", ks },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
