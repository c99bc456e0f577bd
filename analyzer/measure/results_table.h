/* SPDX-License-Identifier: Apache-2.0 */
/* results_table: reads a campaign of a measurement store as the table from which models learn. */
#ifndef ANALYZER_MEASURE_RESULTS_TABLE_H
#define ANALYZER_MEASURE_RESULTS_TABLE_H

#include <stddef.h>

#include "base/data/table.h"
#include "base/text/err.h"

/*
 * Reads what `measure --export` would write: the same rows, columns and numbers (results_csv()).
 * campaign may be NULL where the store has only one; response NULL means all metrics. *factors
 * receives the names of the factors, which are the predictors of a model; the caller frees it with
 * results_names_free(). factors may be NULL.
 */
int results_table(struct table *t, const char *db, const char *campaign, const char *response,
		  char ***factors, size_t *nr_factors, struct err *err);

#endif
