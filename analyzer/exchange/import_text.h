/* SPDX-License-Identifier: Apache-2.0 */
/* import_text: writes the result of an import as JSON and as a table for people. */
#ifndef ANALYZER_IMPORT_TEXT_H
#define ANALYZER_IMPORT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "analyzer/answer/teller.h"
#include "analyzer/exchange/import.h"

/* Returns a new reference, or NULL where memory is out. */
json_t *import_json(const struct import_result *r);
/* Prints a row for each device; utc: instants are in UTC, not local. Returns 0 or -ENOMEM. */
int import_print(const struct import_result *r, bool utc, FILE *out);
/* Tells what a person should know beside the table: what was skipped, and what a format lacks. */
void import_tell(const struct import_result *r, const struct teller *teller);
/*
 * Tells, of an import that failed, why records were skipped. The message of the failure has the
 * first reason of each trace, so that the others follow here.
 */
void import_tell_skipped(const struct import_result *r, const struct teller *teller);
/* Returns whether none of the traces has a clock, so that lengths and instants have no meaning. */
bool import_is_timeless(const struct import_result *r);

#endif
