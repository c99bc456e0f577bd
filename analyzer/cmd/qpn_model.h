/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_model: the verbs `blkcast qpn calibrate` and `blkcast qpn predict` for storage models in
 * files.
 */
#ifndef ANALYZER_CMD_QPN_MODEL_H
#define ANALYZER_CMD_QPN_MODEL_H

#include "analyzer/cmd/cli.h"
#include "analyzer/models/storage/storage_model.h"

struct storage_task {
	const char *table, *output;	  /* table: a file of CSV; NULL where db is given */
	const char *db, *campaign;	  /* a measurement store; campaign may be NULL */
	const struct word_list *settings; /* "NAME=VALUE" for what is no factor of the campaign */
	struct row_filter where;
	enum storage_kind kind;
	enum storage_vm_rule rule; /* STORAGE_NR_RULES: the best rule is chosen */
	double saturated, precision;
	uint64_t seed, threads;
};

/*
 * Reads the table from which to calibrate. The caller releases it in every case. Returns 0 or
 * -errno.
 */
int qpn_model_table(struct cli *cli, const struct storage_task *task, struct table *t,
		    struct err *err);
/* Calibrates, writes the model and prints how well it fits. Returns the exit code. */
int qpn_model_calibrate(struct cli *cli, const struct storage_task *task);
/* The verb predict. Returns an exit code. */
int qpn_predict(struct cli *cli);

#endif
