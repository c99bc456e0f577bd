/* SPDX-License-Identifier: Apache-2.0 */
/* fit_update: blkcast fit --update: new rows for a saved model, whether they fit it, and the model of all rows. */
#ifndef ANALYZER_CMD_FIT_UPDATE_H
#define ANALYZER_CMD_FIT_UPDATE_H

#include "analyzer/cmd/cli.h"
#include "base/err.h"

struct fit_update {
	const struct cli *cli;
	const char *model; /* the file to read */
	const char *table; /* the rows; NULL: those of db */
	const char *db, *campaign;
	const char *weight;	     /* column of the weights; may be NULL */
	const char *where;	     /* which rows to take; may be NULL */
	const char *output, *report; /* files to write; may be NULL */
};

/* Prints what the new rows tell. 0 or -errno with its message. */
int fit_update(const struct fit_update *u, struct err *err);

#endif
