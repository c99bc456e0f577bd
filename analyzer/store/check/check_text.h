/* SPDX-License-Identifier: Apache-2.0 */
/* check_text: describes what a check of a store or of a spool found, for people or as JSON. */
#ifndef ANALYZER_STORE_CHECK_TEXT_H
#define ANALYZER_STORE_CHECK_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/store/check/store_check.h"

/* This struct says what was checked, and how. */
struct check_of {
	const char *kind; /* "store" or "spool" */
	const char *dir;
	bool repair;
};

/* Returns how many findings were not repaired. */
uint64_t check_nr_left(const struct check_report *r);
/* Writes each finding with its cure, and then the sums. */
void check_print(const struct check_report *r, const struct check_of *of, FILE *out);
/* Returns "blkcast.check/1", or NULL where memory ran out. */
json_t *check_json(const struct check_report *r, const struct check_of *of);

#endif
