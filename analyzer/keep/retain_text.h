/* SPDX-License-Identifier: Apache-2.0 */
/* retain_text: describes the result of a pass of retention and compaction, in words or as JSON. */
#ifndef ANALYZER_RETAIN_TEXT_H
#define ANALYZER_RETAIN_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/keep/retain.h"

#define RETAIN_LINE_BYTES 320
/* Both functions write one line. */
void retain_compaction_text(const struct compact_counts *c, char out[RETAIN_LINE_BYTES]);
void retain_counts_text(const struct retain_counts *c, char out[RETAIN_LINE_BYTES]);

json_t *retain_compaction_json(const struct compact_counts *c);

/* The result for the store in dir, in lines and as "blkcast.retain/1" (NULL: memory is out). */
void retain_print(const char *dir, const struct retain_counts *c, FILE *out);
json_t *retain_json(const char *dir, const struct retain_counts *c);

#endif
