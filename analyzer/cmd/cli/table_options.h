/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_options: the tables that commands read by their options, and print with what a model says
 * of each row.
 */
#ifndef ANALYZER_CMD_CLI_TABLE_OPTIONS_H
#define ANALYZER_CMD_CLI_TABLE_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/models/storage/net/storage_predict.h"
#include "base/data/table.h"

/*
 * Makes a table of one row from the values of --set, each NAME=VALUE. Returns 0, -ENOMEM, or
 * -EINVAL where a value has another form. The caller releases the table.
 */
int set_table(struct table *t, const struct word_list *set, struct err *err);
/*
 * Reads a table by table_read() and returns what that returns. Where the cells or the lines of the
 * file are separated in another way than in usual CSV, a note on standard error says so. The caller
 * releases the table.
 */
int table_read_said(struct table *t, const char *path, const struct cli *cli, struct err *err);

/* A table and, beside each of its rows, what a model says of it. All is borrowed. */
struct rows_output {
	const struct table *table;
	const char *const *names; /* of the values */
	size_t nr_names;
	const double *values; /* row by row; NaN: unknown */
	const bool *outside;  /* by row: outside of what the model learned from */
	int digits;	      /* of the numbers in CSV */
	bool json;
};

/* Prints the rows to standard output, as CSV or as a list in JSON. Returns 0, -ENOMEM or -EIO. */
int rows_output_print(const struct rows_output *o);

/* storage_rows: a table of configurations with the predictions of a storage model. */

/* A zeroed struct is empty. The caller fills table and storage. */
struct storage_rows {
	struct table table;
	struct storage_table storage;
	struct storage_answer *answers;	      /* owned; one per storage.rows */
	const struct storage_answer **by_row; /* owned; one per row of the table */
};

/* Asks the model about every row of storage. Returns 0, -ENOMEM, or what storage_predict() does. */
int storage_rows_predict(struct storage_rows *r, const struct storage_model *m,
			 const struct storage_ask *ask, struct err *err);
/*
 * Reports how many rows lie outside of the training range. strict: returns -ERANGE for the first.
 */
int storage_rows_check(const struct storage_rows *r, const struct cli *cli, bool strict,
		       struct err *err);
/*
 * Prints the table with predicted, lower, upper (of the simulation, at 95 %) and outside; all adds
 * p50_s, p95_s, p99_s and predicted_per_s. Returns 0, -ENOMEM or -EIO.
 */
int storage_rows_print(const struct storage_rows *r, bool all, bool json);
void storage_rows_release(struct storage_rows *r);

#endif
