/* SPDX-License-Identifier: Apache-2.0 */
/* study_text: what `blkcast study` prints: rows of its cases as a table, JSON and a page. */
#ifndef ANALYZER_STUDY_TEXT_H
#define ANALYZER_STUDY_TEXT_H

#include <jansson.h>

#include "analyzer/whatif/study.h"

#define STUDY_WORDS_BYTES 1024

struct study_result {
	const char *verb, *how; /* how: "models", "net", "relative", "run" or "replay" */
	const struct study *study;
	const struct study_case *cases;
	size_t nr_cases;
	size_t *baseline; /* owned by the caller: per case, the case its loads compare with, or itself */
	const double (
		*measured)[2]; /* per load: response times measured in its last case; NaN none */
	bool has_peak;
	struct align_sum peak;
	/* results of study_conclude() */
	char conclusion[STUDY_WORDS_BYTES];
	bool cannot_tell;	/* the conclusion is that nothing can be concluded */
	const char *limited_by; /* "storage", "clients"; NULL unknown */
};

/* "host device", in out. */
void study_name(const struct study *s, size_t load, char out[128]);
/* Fills the results. */
void study_conclude(struct study_result *r);
/* 0, -ENOMEM, -EIO. */
int study_print(const struct study_result *r, bool utc);
int study_json(const struct study_result *r);
int study_page(const struct study_result *r, bool utc, struct buf *out);

#endif
