/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid: a table of text for a terminal, columns as wide as their widest cell.
 *
 *	struct grid g;
 *
 *	grid_init(&g, "host|device|>requests|>bytes"); a '>' aligns right
 *	grid_cell(&g, "%s", host); ... as many cells as columns per row
 *	if (grid_print(&g, stdout) < 0) out of memory
 *	grid_release(&g);
 *
 * Titles that are not known when the program is written may hold any character; they go through
 * grid_open(), which takes the number of columns: set g.right[] for the columns that align right,
 * and give the titles as the first row of cells.
 *
 * Width is counted in UTF-8 characters. The first failure is kept, and grid_print() returns it.
 */
#ifndef ANALYZER_GRID_H
#define ANALYZER_GRID_H

#include <stdbool.h>
#include <stdio.h>

#include "base/memory/buf.h"

#define GRID_COLUMNS 24

struct grid {
	unsigned int nr_columns;
	bool right[GRID_COLUMNS];
	unsigned int width[GRID_COLUMNS];
	struct buf text; /* cells, each ended by a 0 byte, in order of rows; the titles first */
	size_t nr_cells;
};

void grid_init(struct grid *g, const char *titles);
/* nr_columns is from 1 to GRID_COLUMNS. The first cells that the caller adds are the titles. */
void grid_open(struct grid *g, unsigned int nr_columns);
void grid_release(struct grid *g);
void grid_cell(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints no trailing blanks. Returns 0, or the first -errno that occurred. */
int grid_print(const struct grid *g, FILE *out);

#endif
