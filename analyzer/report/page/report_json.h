/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json: makes the JSON that `report --json` prints about a page, a blkcast.report/1
 * (docs/blkcast.1).
 */
#ifndef ANALYZER_REPORT_PAGE_REPORT_JSON_H
#define ANALYZER_REPORT_PAGE_REPORT_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "analyzer/report/collect/report.h"

/* Returns the facts of a page of that many bytes at output, or NULL where memory is out. */
json_t *report_json(const struct report *r, const char *output, size_t bytes);

#endif
