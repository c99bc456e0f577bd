/* SPDX-License-Identifier: Apache-2.0 */
/* csv_table: shows the CSV of a picture as an HTML table, and as a link to save it. */
#ifndef ANALYZER_REPORT_DRAW_CSV_TABLE_H
#define ANALYZER_REPORT_DRAW_CSV_TABLE_H

#include <stdbool.h>

#include "base/memory/buf.h"

/*
 * Writes a table with readable numbers: columns whose name ends in _s are durations, in _bytes
 * sizes, in _ratio shares, and in _at_s instants. csv is text as the figures write it: only a field
 * with a comma or a quote has quotes.
 */
void csv_table(struct buf *out, const struct buf *csv, bool utc);

/* Writes a link that saves the CSV under that name; the data is inside the link. */
void csv_link(struct buf *out, const struct buf *csv, const char *name);

#endif
