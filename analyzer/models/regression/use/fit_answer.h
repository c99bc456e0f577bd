/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_answer: presents the techniques that were fitted to a table as an answer that can be shown,
 * and writes the log of the search for their parameters.
 */
#ifndef ANALYZER_FIT_ANSWER_H
#define ANALYZER_FIT_ANSWER_H

#include <stdio.h>

#include "analyzer/answer/answer.h"
#include "analyzer/models/regression/choice/select.h"

struct fit_summary {
	const struct candidate *candidates;
	size_t nr, best;
	const struct schema *schema;
	const struct dataset *data;
	const char *output; /* may be NULL */
};

/*
 * Returns the answer "blkcast.fit/1" without plots, or NULL if there is no memory. m is the
 * selected model.
 */
struct answer *fit_answer(const struct fit_summary *s, const struct model *m);
/* Writes CSV with the columns technique, evaluation, iteration, parameters and cv_rmse. */
void fit_log(const struct candidate *c, size_t nr, FILE *out);

#endif
