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
 * Width is counted in UTF-8 characters. Failures are kept and told by grid_print().
 */
#ifndef ANALYZER_GRID_H
#define ANALYZER_GRID_H

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"

#define GRID_COLUMNS 24

struct grid {
	unsigned int nr_columns;
	bool right[GRID_COLUMNS];
	unsigned int width[GRID_COLUMNS];
	struct buf text; /* cells, each ended by a 0 byte, in order of rows; the titles first */
	size_t nr_cells;
};

void grid_init(struct grid *g, const char *titles);
void grid_release(struct grid *g);
void grid_cell(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0, or the first -errno met. No trailing blanks. */
int grid_print(const struct grid *g, FILE *out);

#endif
