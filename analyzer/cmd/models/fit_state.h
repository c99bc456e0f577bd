/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_state: one run of blkcast fit. It consists of options, a table, and the candidates that are
 * fitted to the table.
 */
#ifndef ANALYZER_CMD_MODELS_FIT_STATE_H
#define ANALYZER_CMD_MODELS_FIT_STATE_H

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/models/regression/choice/select.h"
#include "base/text/word_list.h"

#define CANDIDATES_MAX 16

struct fit_options {
	const char *db, *campaign, *update, *response, *weight, *fold_column, *output, *report, *s3,
		*s3_log, *objective, *offset, *checkpoint;
	struct word_list predictors, factors, techniques, set, responses;
	const char *where;
	bool standard, log;
	const char *quantile;
	uint64_t folds, seed, threads, simplicity;
	double within, budget_s;
};

struct fit {
	const struct cli *cli;
	struct fit_options o;
	char response[256]; /* column of a quantile */
	struct table table; /* read from a file once, for all responses */
	char **names;	    /* owned; the factors of a measurement store */
	size_t nr_names;
	struct schema schema;
	struct dataset data;
	struct select_config config;
	struct candidate candidates[CANDIDATES_MAX];
	size_t nr;
	bool all; /* no techniques were named: filters may leave some out */
	struct progress progress;
	struct err err;
};

/*
 * Turns the options into techniques, fixed parameters and the kind of search. Returns 0 or -EINVAL.
 */
int fit_take_options(struct fit *f);
/*
 * Reads the table from path (NULL: from the measurement store of the options), chooses its rows,
 * and makes the data with their folds. A table that was read already is kept. Returns 0 or -errno.
 */
int fit_read_data(struct fit *f, const char *path);

#endif
