/* SPDX-License-Identifier: Apache-2.0 */
/* results_table: a campaign of a measurement store as the table that models learn from. */
#ifndef ANALYZER_MEASURE_RESULTS_TABLE_H
#define ANALYZER_MEASURE_RESULTS_TABLE_H

#include <stddef.h>

#include "base/err.h"
#include "base/table.h"

/*
 * Reads what `measure --export` would write, see results_csv(): the same rows, columns and numbers.
 * campaign NULL: the only one; response NULL: all metrics. The names of its factors, which are what
 * one predicts from, into *factors (free with results_names_free(); may be NULL).
 */
int results_table(struct table *t, const char *db, const char *campaign, const char *response,
		  char ***factors, size_t *nr_factors, struct err *err);

#endif
