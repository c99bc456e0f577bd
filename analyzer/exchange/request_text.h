/* SPDX-License-Identifier: Apache-2.0 */
/* request_text: a request as a line of text for people, and as a line of JSON. */
#ifndef ANALYZER_REQUEST_TEXT_H
#define ANALYZER_REQUEST_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/store/scan/scan.h"

/*
 * Each function prints one line with its end. utc: instants are in UTC, not in local time. The
 * caller finds a failure to write in ferror(out).
 */
/* The names of the columns of request_text_print(). */
void request_text_head(FILE *out);
void request_text_print(FILE *out, const struct scan_request *q, const struct scan_stream *st,
			bool utc);
void request_jsonl_print(FILE *out, const struct scan_request *q, const struct scan_stream *st);

#endif
