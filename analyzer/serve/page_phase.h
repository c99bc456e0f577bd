/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_phase: which kinds of load followed one another in a period.
 *
 * Each column gets a kind: idle, or one of reads, writes and both, and one of sequential, random and in between.
 * Columns of one kind that follow one another are a phase. A phase that is shorter than two columns and 3 % of
 * the period belongs to the one before it. What nobody watched ends a phase. Cost: O(columns).
 */
#ifndef ANALYZER_SERVE_PAGE_PHASE_H
#define ANALYZER_SERVE_PAGE_PHASE_H

#include <jansson.h>

#include "analyzer/serve/page_column.h"

#define PAGE_PHASES 24 /* of more, the longest are told */

/* A list of {"begin_s", "end_s", "kind", "access", ...} in order of time; NULL where memory is out. */
json_t *page_phases_json(const struct page_column *columns, size_t nr);

#endif
