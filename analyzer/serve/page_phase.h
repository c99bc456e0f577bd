/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_phase: this module finds which kinds of load followed one another in a period.
 *
 * Each column gets a kind: idle, or one of reads, writes and both, together with one of sequential,
 * random and in between. Adjacent columns of the same kind form a phase. A phase that is shorter
 * than two columns or than 3 % of the period is joined to the phase before it. A column that was
 * not watched ends a phase. Cost: O(columns).
 */
#ifndef ANALYZER_SERVE_PAGE_PHASE_H
#define ANALYZER_SERVE_PAGE_PHASE_H

#include <jansson.h>

#include "analyzer/serve/page_column.h"

#define PAGE_PHASES 24 /* If there are more phases, only the longest are reported. */

/*
 * Returns a list of {"begin_s", "end_s", "kind", "access", ...} in order of time; NULL if memory is
 * out.
 */
json_t *page_phases_json(const struct page_column *columns, size_t nr);

#endif
