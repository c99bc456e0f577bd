/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_run: fits models of one or several responses to a table: what was chosen, the table, and the
 * candidates that are fitted to it. Each technique's parameters are searched (S3) on the same
 * folds, and the simplest technique near the best is fitted to all rows and written.
 *
 *	struct fit *f = fit_new(teller);
 *
 *	f->o.response = ...;
 *	ret = fit_responses(f, "table.csv", answers);	on failure f->err says why
 *	fit_free(f);
 */
#ifndef ANALYZER_LEARN_FIT_RUN_H
#define ANALYZER_LEARN_FIT_RUN_H

#include "analyzer/answer/answer.h"
#include "analyzer/answer/progress.h"
#include "analyzer/answer/teller.h"
#include "analyzer/models/regression/choice/select.h"
#include "base/text/word_list.h"

#define CANDIDATES_MAX 16

struct fit_options {
	const char *db, *campaign, *response, *weight, *fold_column, *output, *report, *s3, *s3_log,
		*objective, *offset, *checkpoint;
	struct word_list predictors, factors, techniques, set, responses;
	const char *where;
	bool standard, log;
	const char *quantile;
	uint64_t folds, seed;
	unsigned int threads, simplicity;
	double within, budget_s;
};

struct fit {
	const struct teller *teller;
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

struct fit *fit_new(const struct teller *teller);
/*
 * Fits the responses. path is the path of the table; NULL means a measurement store. answers
 * receives one answer for each response, which the caller frees, also on failure. Returns 0, or
 * -errno with the reason in f->err.
 */
int fit_responses(struct fit *f, const char *path, struct answer **answers);
void fit_free(struct fit *f);

#endif
