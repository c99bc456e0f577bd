/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet: writes rows of integers and texts as a Parquet file
 * (Apache Parquet format, https://parquet.apache.org/docs/file-format/), which DuckDB, Spark and
 * pandas read. It writes what they all understand: data pages of version 1, compressed with zstd;
 * integers PLAIN, texts with a dictionary; nulls as definition levels in runs.
 *
 *         parquet_begin(&p, out, columns, nr_columns);
 *         for each row:
 *                 for each column: parquet_put_int() or parquet_put_text() or parquet_put_null()
 *                 ret = parquet_row(&p);
 *         ret = parquet_end(&p);
 *         parquet_release(p);
 *
 * Memory: one group of PARQUET_GROUP_ROWS rows, and about 1 KiB for each group that was written.
 * Errors of the output file are the caller's to find (ferror); what the functions return is 0 or
 * -ENOMEM.
 */
#ifndef ANALYZER_PARQUET_H
#define ANALYZER_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PARQUET_GROUP_ROWS 131072u

enum parquet_kind {
	PARQUET_INT,	      /* signed, 64 bits */
	PARQUET_UNSIGNED,     /* unsigned, 64 bits */
	PARQUET_TIMESTAMP_NS, /* nanoseconds since 1970, UTC */
	PARQUET_TEXT,	      /* UTF-8 */
};

struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	bool may_be_null;
};

struct parquet;

/* The columns must outlive it. Call parquet_release() also after a failure. */
int parquet_begin(struct parquet **out, FILE *file, const struct parquet_column *columns,
		  unsigned int nr);
/* The values of the row that parquet_row() ends; each column gets exactly one. */
void parquet_put_int(struct parquet *p, unsigned int column, int64_t value);
void parquet_put_text(struct parquet *p, unsigned int column, const char *text);
void parquet_put_null(struct parquet *p, unsigned int column);
int parquet_row(struct parquet *p);
/* Writes the last group and the end of the file. */
int parquet_end(struct parquet *p);
void parquet_release(struct parquet *p);

#endif
