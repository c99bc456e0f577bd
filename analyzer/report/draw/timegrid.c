/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/draw/timegrid.h"

#define MS 1000000ull
#define S  1000000000ull

/* Each width divides the next, so that sums can be moved whole into wider columns. */
static const uint64_t ladder[] = { 1 * MS,  5 * MS,   10 * MS,	50 * MS,   100 * MS, 500 * MS,
				   1 * S,   5 * S,    10 * S,	30 * S,	   60 * S,   300 * S,
				   600 * S, 1800 * S, 3600 * S, 21600 * S, 86400 * S };
#define NR_LADDER (sizeof(ladder) / sizeof(ladder[0]))

static uint64_t timegrid_wider(uint64_t step_ns)
{
	for (size_t i = 0; i < NR_LADDER; i++)
		if (ladder[i] > step_ns)
			return ladder[i];
	return step_ns > UINT64_MAX / 2 ? step_ns : step_ns * 2;
}

void timegrid_init(struct timegrid *g, size_t rows, size_t max_columns)
{
	*g = (struct timegrid){ .step_ns = ladder[0], .rows = rows, .max = max_columns };
}

void timegrid_release(struct timegrid *g)
{
	free(g->cells);
	*g = (struct timegrid){ 0 };
}

static int make_room(struct timegrid *g, size_t columns)
{
	size_t cap = g->cap ? g->cap : 64;
	uint64_t *cells;

	if (columns <= g->cap)
		return 0;
	while (cap < columns)
		cap *= 2;
	if (cap > g->max)
		cap = g->max;
	cells = reallocarray(g->cells, cap, g->rows * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	g->cells = cells;
	g->cap = cap;
	return 0;
}

/*
 * Sums neighbours in place: column i goes to the wider column that holds it, which is never to its
 * right.
 */
static void widen_in_place(struct timegrid *g, uint64_t step_ns)
{
	uint64_t ratio = step_ns / g->step_ns, first = g->first / ratio;
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < g->nr; i++) {
		size_t to = (size_t)((g->first + i) / ratio - first);
		const uint64_t *from = g->cells + i * g->rows;
		uint64_t *into = g->cells + to * g->rows;

		if (to != last)
			memmove(into, from, g->rows * sizeof(*into));
		else
			for (size_t r = 0; r < g->rows; r++)
				into[r] += from[r];
		last = to;
	}
	g->nr = last == SIZE_MAX ? 0 : last + 1;
	g->first = first;
	g->step_ns = step_ns;
}

/*
 * Makes sure that the columns from `first` to `last`, which include the present ones, exist and
 * fit.
 */
static int timegrid_cover(struct timegrid *g, uint64_t first, uint64_t last)
{
	size_t before = (size_t)(g->first - first), total = (size_t)(last - first + 1);
	int ret = make_room(g, total);

	if (ret)
		return ret;
	if (before) {
		memmove(g->cells + before * g->rows, g->cells, g->nr * g->rows * sizeof(*g->cells));
		memset(g->cells, 0, before * g->rows * sizeof(*g->cells));
	}
	memset(g->cells + (before + g->nr) * g->rows, 0,
	       (total - before - g->nr) * g->rows * sizeof(*g->cells));
	g->first = first;
	g->nr = total;
	return 0;
}

uint64_t *timegrid_at(struct timegrid *g, uint64_t t_ns)
{
	uint64_t at = t_ns / g->step_ns, first, last;

	if (g->nr && at >= g->first && at - g->first < g->nr)
		return g->cells + (size_t)(at - g->first) * g->rows;
	if (!g->nr)
		g->first = at;
	for (;;) {
		at = t_ns / g->step_ns;
		first = at < g->first ? at : g->first;
		last = g->first + (g->nr ? g->nr - 1 : 0);
		if (at > last)
			last = at;
		if (last - first < g->max)
			break;
		widen_in_place(g, timegrid_wider(g->step_ns));
	}
	if (timegrid_cover(g, first, last))
		return NULL;
	return g->cells + (size_t)(at - g->first) * g->rows;
}

/* Returns the part of the amount that falls before an instant of the interval. */
static uint64_t timegrid_part(uint64_t amount, uint64_t done_ns, uint64_t length_ns)
{
	return (uint64_t)((unsigned __int128)amount * done_ns / length_ns);
}

int timegrid_spread(struct timegrid *g, uint64_t begin_ns, uint64_t end_ns, const uint64_t *amounts)
{
	uint64_t length_ns = end_ns - begin_ns, from = 0;

	/* Once both ends are in the grid, the columns between them exist and keep their width. */
	if (!timegrid_at(g, begin_ns) || !timegrid_at(g, end_ns - 1) || !timegrid_at(g, begin_ns))
		return -ENOMEM;
	for (uint64_t at = begin_ns; at < end_ns;) {
		uint64_t next = (at / g->step_ns + 1) * g->step_ns;
		uint64_t to = next < end_ns ? next - begin_ns : length_ns;
		uint64_t *column = timegrid_at(g, at);

		for (size_t r = 0; r < g->rows; r++)
			column[r] += timegrid_part(amounts[r], to, length_ns) -
				     timegrid_part(amounts[r], from, length_ns);
		from = to;
		at = next;
	}
	return 0;
}

uint64_t timegrid_round_ns(uint64_t width_ns)
{
	uint64_t step_ns = ladder[0];

	while (timegrid_wider(step_ns) <= width_ns && step_ns <= UINT64_MAX / 2)
		step_ns = timegrid_wider(step_ns);
	return (width_ns / step_ns + (width_ns % step_ns != 0)) * step_ns;
}

int timegrid_widen(const struct timegrid *src, uint64_t step_ns, struct timegrid *dst)
{
	struct timegrid copy = *src;

	if (!step_ns || step_ns % src->step_ns)
		return -EINVAL;
	copy.cap = src->nr;
	copy.cells = reallocarray(NULL, src->nr ? src->nr : 1, src->rows * sizeof(*copy.cells));
	if (!copy.cells)
		return -ENOMEM;
	if (src->nr)
		memcpy(copy.cells, src->cells, src->nr * src->rows * sizeof(*copy.cells));
	widen_in_place(&copy, step_ns);
	*dst = copy;
	return 0;
}

uint64_t timegrid_step_for(const struct timegrid *g, size_t max_columns)
{
	/* Between two widths of the ladder these multiples are still round numbers. */
	static const uint64_t multiples[] = { 1, 2, 3 };
	uint64_t rung = g->step_ns, most = (uint64_t)max_columns;

	for (;;) {
		for (size_t i = 0; i < sizeof(multiples) / sizeof(multiples[0]); i++) {
			uint64_t step = rung * multiples[i], ratio = step / g->step_ns;
			uint64_t first = g->first / ratio;
			uint64_t last = g->nr ? (g->first + g->nr - 1) / ratio : first;

			if (last - first < most && (i == 0 || step < timegrid_wider(rung)))
				return step;
		}
		rung = timegrid_wider(rung);
	}
}
