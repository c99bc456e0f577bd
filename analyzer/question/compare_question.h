/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_question: compares the devices of two profiles or traces, dimension by dimension
 * (characterize/compare.h), and writes a table for each pair. compare_question_ask() comes first;
 * if a page was asked for, compare_question_save() then writes the page.
 */
#ifndef ANALYZER_QUESTION_COMPARE_QUESTION_H
#define ANALYZER_QUESTION_COMPARE_QUESTION_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/answer/answer.h"
#include "analyzer/characterize/compare.h"
#include "analyzer/store/scan/selection_told.h"

struct compare_question {
	const struct teller *teller;
	char **paths; /* the files of A and B */
	double tolerance_ratio;
	bool json;
	FILE *out;	     /* receives the tables, where json is not set */
	json_t *pairs;	     /* an empty array of the caller */
	struct answer *page; /* receives the pairs; NULL: no page was asked for */
	/* The members below are results. */
	json_t *answer; /* owned by the caller, where json is set */
	size_t verdicts[NR_VERDICTS];
	size_t nr_pairs;
	bool is_single; /* there is one pair alone */
};

/* Returns 0, or -errno with one line in err. */
int compare_question_ask(struct compare_question *q, const struct selection *sel, struct err *err);
/* Writes the page, with what was compared at its end. Returns 0 or -errno. */
int compare_question_save(struct compare_question *q, const char *path, struct err *err);

#endif
