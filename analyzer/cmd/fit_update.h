/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_update: blkcast fit --update: tests whether new rows fit a saved model, and fits the model to
 * all rows.
 */
#ifndef ANALYZER_CMD_FIT_UPDATE_H
#define ANALYZER_CMD_FIT_UPDATE_H

#include "analyzer/cmd/cli.h"
#include "base/err.h"

struct fit_update {
	const struct cli *cli;
	const char *model; /* path of the model file to read */
	const char *table; /* path of the rows; NULL: the rows of db */
	const char *db, *campaign;
	const char *weight;	     /* column of the weights; may be NULL */
	const char *where;	     /* which rows to take; may be NULL */
	const char *output, *report; /* files to write; may be NULL */
};

/* Prints what the new rows show. Returns 0, or -errno with a message. */
int fit_update(const struct fit_update *u, struct err *err);

#endif
