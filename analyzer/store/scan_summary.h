/* SPDX-License-Identifier: Apache-2.0 */
/* scan_summary: the summaries of a store that a scan's filter touches; for scan.c. */
#ifndef ANALYZER_SCAN_SUMMARY_H
#define ANALYZER_SCAN_SUMMARY_H

#include "analyzer/store/scan.h"
#include "analyzer/store/scan_piece.h"

/* Hands them to the hook, if there is one, and counts them. Segments that they stand for are not
 * missing between the pieces, which are of the same store. 0, what the hook returned, -errno. */
int scan_summaries(struct store *store, const struct scan_filter *filter,
		   const struct scan_hooks *hooks, struct scan_pieces *pieces,
		   struct scan_retained *out, struct err *err);

#endif
