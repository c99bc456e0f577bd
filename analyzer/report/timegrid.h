/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timegrid: counters over time, in columns that widen as time goes on.
 *
 * Every picture over time is drawn from one of these: a fixed number of 64-bit sums per column of
 * time, added to as requests stream by. When a new time would need more than the bound of columns,
 * neighbours are summed and the columns become wider, along a ladder of round widths of which each
 * divides the next: 1, 5, 10, 50, 100, 500 ms, 1, 5, 10, 30 s, 1, 5, 10, 30 min, 1, 6, 24 h, and so
 * on by doubling. Columns lie on whole multiples of their width, so that grids of several hosts on
 * one clock line up. Sums wrap at 2^64 and no sum is ever lost: the total of a row is the same at
 * every width.
 *
 * Memory: columns * rows * 8 bytes, grown on demand up to the bound. Not thread-safe.
 */
#ifndef ANALYZER_REPORT_TIMEGRID_H
#define ANALYZER_REPORT_TIMEGRID_H

#include <stddef.h>
#include <stdint.h>

struct timegrid {
	uint64_t *cells;  /* owned; nr * rows, column by column */
	uint64_t first;	  /* index of column 0 since time 0, in steps */
	uint64_t step_ns; /* width of a column */
	size_t rows, nr, cap, max;
};

/* An empty grid of rows (> 0) sums and at most max_columns (> 1) columns of 1 ms or more. */
void timegrid_init(struct timegrid *g, size_t rows, size_t max_columns);
void timegrid_release(struct timegrid *g);

/*
 * The sums of the column that holds t_ns, made where it was not there yet: valid until the next
 * call. NULL where memory ran out; the grid is then as it was. Amortized O(1) for times that
 * rise; a time before the first column moves the columns up.
 */
uint64_t *timegrid_at(struct timegrid *g, uint64_t t_ns);

static inline uint64_t timegrid_begin_ns(const struct timegrid *g)
{
	return g->first * g->step_ns;
}
static inline uint64_t timegrid_end_ns(const struct timegrid *g)
{
	return (g->first + g->nr) * g->step_ns;
}
static inline const uint64_t *timegrid_column(const struct timegrid *g, size_t column)
{
	return g->cells + column * g->rows;
}

/*
 * A copy in wider columns: step_ns is a multiple of the source's. dst is initialized here; release
 * it. 0, -EINVAL, -ENOMEM.
 */
int timegrid_widen(const struct timegrid *src, uint64_t step_ns, struct timegrid *dst);

/* The narrowest round width, a multiple of the grid's own, that gives at most max_columns. */
uint64_t timegrid_step_for(const struct timegrid *g, size_t max_columns);

#endif
