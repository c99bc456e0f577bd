/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page: a report as one HTML page that needs nothing else: style, script, pictures and data inside,
 * no request to anywhere. The same report gives the same bytes.
 */
#ifndef ANALYZER_REPORT_PAGE_H
#define ANALYZER_REPORT_PAGE_H

#include "analyzer/answer/page_shell.h"
#include "analyzer/report/figures.h"

/* Devices that get an access map, a miss-ratio curve and a distribution of their own: the busiest.
 * The others are named, with the command that draws theirs. */
#define PAGE_PAUSES  8 /* named in the foot */
#define PAGE_DEVICES 3

/* The whole page, appended. 0 or -ENOMEM. */
int page_write(const struct report *r, struct buf *out);
/* One picture as an SVG file with its style inside. 0, -ENODATA, -ENOMEM. */
int page_picture(const struct report *r, const struct figure *f, size_t device, struct buf *out);

#endif
