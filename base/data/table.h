/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: a measurement table that is read from CSV (RFC 4180: quotes, doubled quotes, line breaks
 * within quotes; a header line with distinct names). Cells remain text until they are asked for, so
 * an unused column may hold anything. Errors name file, line, row and column. Where the header has
 * semicolons or tabs and no comma, these separate the cells; lines may end with LF, CR LF or CR.
 */
#ifndef BASE_DATA_TABLE_H
#define BASE_DATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define TABLE_COLUMNS_MAX 4096
/*
 * Squares and products of values must stay finite. A larger value is refused; its unit is probably
 * wrong.
 */
#define TABLE_VALUE_MAX 1e100
#define TABLE_VALUE_MIN 1e-100 /* of values that are not 0 */

struct table_column {
	const char *name;   /* borrowed from the table's text */
	const char **cells; /* owned array of borrowed strings */
};

/* A zeroed struct is an empty table. */
struct table {
	/* the separator of cells: ',', or ';' or a tab where the header has these and no comma */
	char separator;
	bool cr_lines; /* lines end with CR alone */
	char *source;  /* owned; the path, for messages */
	char *text;    /* owned; all cells point into it */
	size_t nr_rows, nr_columns;
	struct table_column *columns; /* owned */
	uint64_t *lines;	      /* owned; the line of the file on which each row begins */
};

/*
 * Reads a file ("-": standard input). Returns 0; -ENOMEM; -EINVAL where the text is invalid; or the
 * -errno of the file.
 */
int table_read(struct table *t, const char *path, struct err *err);
/* Does the same from memory, which is copied. source is used in messages. */
int table_parse(struct table *t, const char *source, const char *text, size_t len, struct err *err);
void table_release(struct table *t);

/* Returns the index of the column, or -ENOENT with a line that lists the existing columns. */
int table_find(const struct table *t, const char *name, struct err *err);
/* Returns true where the cell is empty or NA. */
bool table_missing(const struct table *t, size_t column, size_t row);
/*
 * Reads a finite number within TABLE_VALUE_MAX. Returns 0, or -EINVAL with row and column in err.
 */
int table_number(const struct table *t, size_t column, size_t row, double *out, struct err *err);
/* Returns true where every cell of the column is a number. */
bool table_numeric(const struct table *t, size_t column);
/* Appends a cell in CSV form (RFC 4180), with quotes where they are needed. */
void table_put_cell(struct buf *out, const char *cell);
/*
 * Appends a text that somebody else chose, such as the name of a host, for readers who may open the
 * table in a spreadsheet. A text that a spreadsheet would run as a formula (it begins with =, +, -,
 * @, a tab or an end of line, or with one of these signs in full width) gets a ' before it, as does
 * one that begins with ' itself: removing one ' from the beginning of a cell restores the text.
 */
void table_put_text(struct buf *out, const char *text);
/*
 * Appends a number with all digits that a double has, so that reading it gives the same number
 * again. A number that is not finite is unknown and leaves the cell empty.
 */
void table_put_number(struct buf *out, double value);

#endif
