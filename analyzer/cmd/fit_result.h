/* SPDX-License-Identifier: Apache-2.0 */
/* fit_result: what `blkcast fit` says: blkcast.fit/1 for machines, a table for people, the S3 log. */
#ifndef ANALYZER_FIT_RESULT_H
#define ANALYZER_FIT_RESULT_H

#include <stdio.h>

#include "analyzer/models/regression/select.h"

struct fit_summary {
	const struct candidate *candidates;
	size_t nr, best;
	const struct schema *schema;
	const struct dataset *data;
	const char *output; /* may be NULL */
};

int fit_print_json(const struct fit_summary *s, struct err *err);
int fit_print_text(const struct fit_summary *s, const struct model *m);
/* CSV: technique, evaluation, iteration, parameters, cv_rmse. */
void fit_log(const struct candidate *c, size_t nr, FILE *out);

#endif
