/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/report/picture/load.h"
#include "base/memory/order.h"

#define MS 1000000ull

void load_init(struct load *l)
{
	l->gaps = NULL;
	l->nr_gaps = 0;
	timegrid_init(&l->grid, NR_LOAD_ROWS, LOAD_WINDOWS);
}

void load_release(struct load *l)
{
	timegrid_release(&l->grid);
}

int load_add(struct load *l, uint64_t arrival_ns, uint32_t bytes)
{
	uint64_t *column = timegrid_at(&l->grid, arrival_ns);

	if (!column)
		return -ENOMEM;
	column[LOAD_REQUESTS]++;
	column[LOAD_BYTES] += bytes;
	return 0;
}

uint64_t load_window_ns(uint64_t span_ns)
{
	if (span_ns < 100 * MS)
		return 1 * MS;
	if (span_ns < 1000 * MS)
		return 10 * MS;
	return span_ns < 10000 * MS ? 100 * MS : 1000 * MS;
}

static double nearest_rank(const double *sorted, size_t nr, double p)
{
	size_t rank = (size_t)ceil(p * (double)nr);

	return sorted[rank ? rank - 1 : 0];
}

static uint64_t load_watched_ns(const struct load *l, const struct timegrid *g, size_t column)
{
	uint64_t begin = timegrid_begin_ns(g) + column * g->step_ns;

	return gaps_watched_ns(l->gaps, l->nr_gaps, begin, begin + g->step_ns,
			       timegrid_column(g, column)[LOAD_REQUESTS] > 0);
}

/*
 * A window has a rate of its own where at least this share of it was watched. In less time a few
 * requests would look like a peak that never was. Only where there is no such window, others count.
 */
static const double load_least_ratio[] = { 0.9, 0.25, 0 };

/*
 * Writes the rates of all windows of which this share was watched to rates, and sets the peak and
 * its time. Returns their number.
 */
static size_t load_rates(const struct load *l, const struct timegrid *g, size_t row,
			 double least_ratio, double *rates, struct load_peak *out)
{
	size_t nr = 0;

	out->max = -1;
	for (size_t c = 0; c < g->nr; c++) {
		double ns = (double)load_watched_ns(l, g, c), step_ns = (double)g->step_ns;

		if (!(ns > 0) || ns < least_ratio * step_ns)
			continue;
		/* A trace of one instant has no rate but that of a whole window. */
		rates[nr] =
			(double)timegrid_column(g, c)[row] * 1e9 / (least_ratio > 0 ? ns : step_ns);
		if (rates[nr] > out->max) {
			out->max = rates[nr];
			out->max_at_ns = timegrid_begin_ns(g) + c * g->step_ns;
		}
		nr++;
	}
	return nr;
}

/* Also writes how many windows have a rate. */
static void peak_of(const struct load *l, const struct timegrid *g, size_t row, double *rates,
		    struct load_peak *out, size_t *nr_windows)
{
	double sum = 0, watched_ns = 0;
	size_t nr = 0;

	for (size_t i = 0; !nr && i < sizeof(load_least_ratio) / sizeof(*load_least_ratio); i++)
		nr = load_rates(l, g, row, load_least_ratio[i], rates, out);
	for (size_t c = 0; c < g->nr; c++) {
		sum += (double)timegrid_column(g, c)[row];
		watched_ns += (double)load_watched_ns(l, g, c);
	}
	*nr_windows = nr;
	/* No mean is above all rates, which that of a trace of one instant would be. */
	out->mean = fmin(sum / watched_ns * 1e9, out->max);
	qsort(rates, nr, sizeof(*rates), order_double);
	out->p95 = nearest_rank(rates, nr, 0.95);
	out->p99 = nearest_rank(rates, nr, 0.99);
}

int load_peaks(const struct load *l, uint64_t window_ns, struct load_peaks *out)
{
	uint64_t step = window_ns % l->grid.step_ns ? l->grid.step_ns : window_ns;
	struct timegrid g;
	double *rates;
	int ret;

	if (!l->grid.nr)
		return -ENODATA;
	ret = timegrid_widen(&l->grid, step, &g);
	if (ret)
		return ret;
	rates = reallocarray(NULL, g.nr, sizeof(*rates));
	if (!rates) {
		timegrid_release(&g);
		return -ENOMEM;
	}
	out->window_s = (double)g.step_ns * 1e-9;
	for (size_t row = 0; row < NR_LOAD_ROWS; row++)
		peak_of(l, &g, row, rates, &out->of[row], &out->nr_windows);
	free(rates);
	timegrid_release(&g);
	return 0;
}
