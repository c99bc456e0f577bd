/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_answer: the techniques that were fitted to a table, as an answer that can be shown, and the log of
 * the search for their parameters.
 */
#ifndef ANALYZER_FIT_ANSWER_H
#define ANALYZER_FIT_ANSWER_H

#include <stdio.h>

#include "analyzer/answer/answer.h"
#include "analyzer/models/regression/select.h"

struct fit_summary {
	const struct candidate *candidates;
	size_t nr, best;
	const struct schema *schema;
	const struct dataset *data;
	const char *output; /* may be NULL */
};

/* The answer "blkcast.fit/1" without pictures; m is the selected model. NULL where memory is out. */
struct answer *fit_answer(const struct fit_summary *s, const struct model *m);
/* CSV: technique, evaluation, iteration, parameters, cv_rmse. */
void fit_log(const struct candidate *c, size_t nr, FILE *out);

#endif
