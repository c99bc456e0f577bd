/* SPDX-License-Identifier: Apache-2.0 */
/* storage_rows: a table of configurations and what a storage model says of them, printed. */
#ifndef ANALYZER_CMD_STORAGE_ROWS_H
#define ANALYZER_CMD_STORAGE_ROWS_H

#include "analyzer/cmd/cli.h"
#include "analyzer/models/storage/storage_predict.h"

/* A zeroed one is empty. table and storage are the caller's to fill. */
struct storage_rows {
	struct table table;
	struct storage_table storage;
	struct storage_answer *answers;	      /* owned: of storage.rows */
	const struct storage_answer **by_row; /* owned: of the table's rows */
};

int storage_rows_predict(struct storage_rows *r, const struct storage_model *m,
			 const struct storage_ask *ask, struct err *err);
/* Says how many rows lie outside the training range; strict: -ERANGE for the first. */
int storage_rows_check(const struct storage_rows *r, const struct cli *cli, bool strict,
		       struct err *err);
/*
 * The table with predicted, lower, upper (of the simulation, at 95 %) and outside; all: with p50_s,
 * p95_s, p99_s and predicted_per_s too. 0, -ENOMEM, -EIO.
 */
int storage_rows_csv(const struct storage_rows *r, bool all);
int storage_rows_json(const struct storage_rows *r, bool all);
void storage_rows_release(struct storage_rows *r);

#endif
