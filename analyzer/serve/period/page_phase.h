/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_phase: this module hands the phases of a device (analyzer/characterize/phase.h) to the live
 * page as JSON.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_PHASE_H
#define ANALYZER_SERVE_PERIOD_PAGE_PHASE_H

#include <jansson.h>

#include "analyzer/serve/period/page_column.h"

#define PAGE_PHASES 24 /* If there are more phases, only the longest are reported. */

/*
 * Returns a list of {"begin_s", "end_s", "kind", "access", ...} in order of time; NULL if memory is
 * out.
 */
json_t *page_phases_json(const struct page_column *columns, size_t nr);

#endif
