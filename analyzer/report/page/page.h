/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page: a report as one self-contained HTML page: style, script, pictures and data are inside, and
 * nothing is loaded from anywhere. The same report gives the same bytes.
 */
#ifndef ANALYZER_REPORT_PAGE_PAGE_H
#define ANALYZER_REPORT_PAGE_PAGE_H

#include "analyzer/answer/page_shell.h"
#include "analyzer/report/page/figures.h"

/*
 * Only the busiest devices get an access map, a miss-ratio curve and a distribution of their own.
 * The others are named with the command that draws theirs.
 */
#define PAGE_PAUSES  8 /* number of pauses named at the foot */
#define PAGE_DEVICES 3

/* Appends the whole page. Returns 0 or -ENOMEM. */
int page_write(const struct report *r, struct buf *out);
/* Writes one picture as an SVG file with its style inside. Returns 0, -ENODATA or -ENOMEM. */
int page_picture(const struct report *r, const struct figure *f, size_t device, struct buf *out);

#endif
