/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/report/load.h"

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

static int load_rising(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double nearest_rank(const uint64_t *sorted, size_t nr, double p)
{
	size_t rank = (size_t)ceil(p * (double)nr);

	return (double)sorted[rank ? rank - 1 : 0];
}

static uint64_t load_watched_ns(const struct load *l, const struct timegrid *g, size_t column)
{
	uint64_t begin = timegrid_begin_ns(g) + column * g->step_ns;

	return gaps_watched_ns(l->gaps, l->nr_gaps, begin, begin + g->step_ns,
			       timegrid_column(g, column)[LOAD_REQUESTS] > 0);
}

/* Also writes how many windows were watched. */
static void peak_of(const struct load *l, const struct timegrid *g, size_t row, uint64_t *scratch,
		    struct load_peak *out, size_t *nr_windows)
{
	double per_s = 1e9 / (double)g->step_ns, sum = 0, watched_ns = 0;
	uint64_t most = 0;
	size_t top = 0, nr = 0;

	for (size_t c = 0; c < g->nr; c++) {
		uint64_t value = timegrid_column(g, c)[row], ns = load_watched_ns(l, g, c);

		if (!ns)
			continue;
		scratch[nr++] = value;
		sum += (double)value;
		watched_ns += (double)ns;
		if (value > most)
			top = c;
		most = value > most ? value : most;
	}
	*nr_windows = nr;
	out->max = (double)most * per_s;
	out->max_at_ns = timegrid_begin_ns(g) + top * g->step_ns;
	out->mean = sum / watched_ns * 1e9;
	qsort(scratch, nr, sizeof(*scratch), load_rising);
	out->p95 = nearest_rank(scratch, nr, 0.95) * per_s;
	out->p99 = nearest_rank(scratch, nr, 0.99) * per_s;
}

int load_peaks(const struct load *l, uint64_t window_ns, struct load_peaks *out)
{
	uint64_t step = window_ns % l->grid.step_ns ? l->grid.step_ns : window_ns;
	struct timegrid g;
	uint64_t *scratch;
	int ret;

	if (!l->grid.nr)
		return -ENODATA;
	ret = timegrid_widen(&l->grid, step, &g);
	if (ret)
		return ret;
	scratch = reallocarray(NULL, g.nr, sizeof(*scratch));
	if (!scratch) {
		timegrid_release(&g);
		return -ENOMEM;
	}
	out->window_s = (double)g.step_ns * 1e-9;
	for (size_t row = 0; row < NR_LOAD_ROWS; row++)
		peak_of(l, &g, row, scratch, &out->of[row], &out->nr_windows);
	free(scratch);
	timegrid_release(&g);
	return 0;
}
