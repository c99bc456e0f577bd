/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timegrid: counters over time, in columns that become wider as time goes on.
 *
 * Every picture over time is drawn from such a grid: a fixed number of 64-bit sums per column of
 * time, to which requests are added as they come. When a new time would need more columns than the
 * bound, neighbours are summed and the columns become wider, along a ladder of round widths, each
 * of which divides the next: 1, 5, 10, 50, 100, 500 ms, 1, 5, 10, 30 s, 1, 5, 10, 30 min, 1, 6, 24
 * h, and so on by doubling. Columns begin at whole multiples of their width, so that the grids of
 * several hosts on one clock agree. Sums wrap at 2^64 and none is ever lost: the total of a row is
 * the same at every width.
 *
 * Memory: columns * rows * 8 bytes, grown on demand up to the bound. Not thread-safe.
 */
#ifndef ANALYZER_REPORT_DRAW_TIMEGRID_H
#define ANALYZER_REPORT_DRAW_TIMEGRID_H

#include <stddef.h>
#include <stdint.h>

struct timegrid {
	uint64_t *cells;  /* owned; nr * rows, column by column */
	uint64_t first;	  /* index of column 0 since time 0, in steps */
	uint64_t step_ns; /* width of a column */
	size_t rows, nr, cap, max;
};

/* Makes an empty grid of rows (> 0) sums and at most max_columns (> 1) columns of 1 ms or more. */
void timegrid_init(struct timegrid *g, size_t rows, size_t max_columns);
void timegrid_release(struct timegrid *g);

/*
 * Returns the sums of the column that holds t_ns, which is made where it does not exist; they are
 * valid until the next call. Returns NULL where memory is short; the grid is then unchanged.
 * Amortized O(1) for ascending times; a time before the first column moves the columns.
 */
uint64_t *timegrid_at(struct timegrid *g, uint64_t t_ns);

/*
 * Adds amounts[row] to the columns of [begin_ns, end_ns), in proportion to the time that each
 * column has of it; the sum over the columns is exact. end_ns > begin_ns. Returns 0 or -ENOMEM.
 */
int timegrid_spread(struct timegrid *g, uint64_t begin_ns, uint64_t end_ns,
		    const uint64_t *amounts);
/*
 * Returns the narrowest multiple of the widest round width up to width_ns that is not below
 * width_ns.
 */
uint64_t timegrid_round_ns(uint64_t width_ns);

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
 * Copies a grid to wider columns: step_ns is a multiple of the source's. dst is initialized here
 * and released by the caller. Returns 0, -EINVAL or -ENOMEM.
 */
int timegrid_widen(const struct timegrid *src, uint64_t step_ns, struct timegrid *dst);

/*
 * Returns the narrowest round width, a multiple of the grid's own, that gives at most max_columns.
 */
uint64_t timegrid_step_for(const struct timegrid *g, size_t max_columns);

#endif
