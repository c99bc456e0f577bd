/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results_sql: gives the files of the measurement store their access to SQLite. All others use
 * results.h.
 */
#ifndef ANALYZER_MEASURE_RESULTS_SQL_H
#define ANALYZER_MEASURE_RESULTS_SQL_H

#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>

#include "analyzer/measure/results.h"

struct results {
	sqlite3 *db;
	char *path;
	int lock; /* file descriptor, or -1 */
};

/* Fills err with the last error message of SQLite. */
int results_fail(struct results *r, struct err *err);
int results_exec(struct results *r, const char *sql, struct err *err);
/*
 * Prepares a statement and binds its values. Each letter of types stands for one value: i
 * (int64_t), d (double, NaN becomes NULL), t (text, may be NULL).
 */
int results_prepare(struct results *r, sqlite3_stmt **s, struct err *err, const char *sql,
		    const char *types, ...);
/* Runs the statement once and finalizes it. */
int results_finish(struct results *r, sqlite3_stmt *s, struct err *err);
/*
 * Prepares and runs a statement that returns no rows. *id, unless NULL, becomes that of the new
 * row.
 */
int results_insert(struct results *r, int64_t *id, struct err *err, const char *sql,
		   const char *types, ...);
/* Commits a transaction if ret is 0, and otherwise rolls it back. Returns ret, or the error. */
int results_end(struct results *r, int ret, struct err *err);
int64_t results_number(struct results *r, const char *sql, int64_t otherwise);

#endif
