/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: a measurement table, read from CSV (RFC 4180: quotes, doubled quotes, line breaks in
 * quotes; a header line with distinct names). Cells stay text until asked for, so that a column
 * nobody uses may hold anything. Errors name file, line, row and column. A file whose header has
 * semicolons or tabs and no comma is parted by these; lines may end with LF, CR LF or CR.
 */
#ifndef FORMATS_TABLE_H
#define FORMATS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define TABLE_COLUMNS_MAX 4096
/* Squares and products of values must stay finite: larger ones are refused as a wrong unit. */
#define TABLE_VALUE_MAX 1e100

struct table_column {
	const char *name;   /* borrowed from the table's text */
	const char **cells; /* owned array of borrowed text */
};

/* A zeroed one is empty. */
struct table {
	char separator; /* of cells: ',', or ';' or a tab where the header has these and no comma */
	bool cr_lines;	/* lines end with CR alone */
	char *source;	/* owned: the path, for messages */
	char *text;	/* owned: every cell points into it */
	size_t nr_rows, nr_columns;
	struct table_column *columns; /* owned */
	uint64_t *lines;	      /* owned: line of the file on which a row begins */
};

/* Reads a file ("-": standard input). 0, -ENOMEM, -EINVAL for bad text, -errno of the file. */
int table_read(struct table *t, const char *path, struct err *err);
/* The same from memory, which is copied. source is for messages. */
int table_parse(struct table *t, const char *source, const char *text, size_t len, struct err *err);
void table_release(struct table *t);

/* Index of the column, or -ENOENT with a line that lists the columns there are. */
int table_find(const struct table *t, const char *name, struct err *err);
/* True where the cell is empty or NA. */
bool table_missing(const struct table *t, size_t column, size_t row);
/* A finite number within TABLE_VALUE_MAX, or -EINVAL naming row and column. */
int table_number(const struct table *t, size_t column, size_t row, double *out, struct err *err);
/* True where every cell of the column is a number. */
bool table_numeric(const struct table *t, size_t column);
/* A cell as CSV, quoted where it must be. */
void table_put_cell(struct buf *out, const char *cell);

#endif
