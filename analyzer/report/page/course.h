/* SPDX-License-Identifier: Apache-2.0 */
/* course: describes in words how the load went: its phases, its busiest and its slowest moment. */
#ifndef ANALYZER_REPORT_PAGE_COURSE_H
#define ANALYZER_REPORT_PAGE_COURSE_H

#include "analyzer/report/collect/report.h"

#define COURSE_PHASES 4 /* If there are more phases, only the longest are named. */

/*
 * Appends one to three sentences without markup. A trace that is too short for phases has none
 * named, and a trace without response times no slowest moment. Returns 0 or -ENOMEM.
 */
int course_words(const struct report *r, struct buf *out);

#endif
