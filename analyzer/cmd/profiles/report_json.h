/* SPDX-License-Identifier: Apache-2.0 */
/* report_json: what `report --json` prints about a page, a blkcast.report/1 (docs/blkcast.1). */
#ifndef ANALYZER_CMD_PROFILES_REPORT_JSON_H
#define ANALYZER_CMD_PROFILES_REPORT_JSON_H

#include <stddef.h>

#include "analyzer/report/collect/report.h"

/* Prints the facts of a page of that many bytes at output. Returns 0 or -ENOMEM. */
int report_json_print(const struct report *r, const char *output, size_t bytes);

#endif
