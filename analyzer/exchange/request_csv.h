/* SPDX-License-Identifier: Apache-2.0 */
/* request_csv: a request as a line of CSV, which `dump` and `export` write and `import` reads. */
#ifndef ANALYZER_REQUEST_CSV_H
#define ANALYZER_REQUEST_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/store/scan/scan.h"

/* Return whether the stage of the request is known. */
bool request_queue_known(const struct request *r);
bool request_device_known(const struct request *r);
bool request_total_known(const struct request *r);

/* Returns the name of the request's operation, or "unknown". */
const char *request_operation_text(const struct request *r);

/* Prints a duration in seconds with all its nanoseconds, or the text unknown. */
const char *request_csv_seconds(char out[32], bool known, uint64_t ns, const char *unknown);

void request_csv_head(FILE *out);
void request_csv_print(FILE *out, const struct scan_request *q, const struct scan_stream *st);

#endif
