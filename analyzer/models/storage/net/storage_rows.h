/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_rows: predicts every row of a table of configurations by a storage model, and writes the
 * table with the predictions.
 */
#ifndef ANALYZER_MODELS_STORAGE_NET_STORAGE_ROWS_H
#define ANALYZER_MODELS_STORAGE_NET_STORAGE_ROWS_H

#include <stdio.h>

#include "analyzer/answer/teller.h"
#include "analyzer/models/storage/net/storage_predict.h"
#include "base/data/table.h"

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
 * Tells how many rows lie outside of the training range. If strict is set, returns -ERANGE for the
 * first of them.
 */
int storage_rows_check(const struct storage_rows *r, const struct teller *t, bool strict,
		       struct err *err);
/*
 * Writes the table with predicted, lower, upper (of the simulation, at 95 %) and outside; all adds
 * p50_s, p95_s, p99_s and predicted_per_s. Returns 0, -ENOMEM or -EIO.
 */
int storage_rows_print(const struct storage_rows *r, bool all, bool json, FILE *out);
void storage_rows_release(struct storage_rows *r);

#endif
