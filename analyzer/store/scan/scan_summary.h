/* SPDX-License-Identifier: Apache-2.0 */
/* scan_summary: finds the summaries of a store that a scan's filter touches. For scan.c. */
#ifndef ANALYZER_SCAN_SUMMARY_H
#define ANALYZER_SCAN_SUMMARY_H

#include "analyzer/store/scan/scan.h"
#include "analyzer/store/scan/scan_piece.h"

/*
 * Hands the summaries to the hook, if there is one, and counts them. The segments that they
 * represent are not counted as missing between the pieces, which must be of the same store. Returns
 * 0, the hook's result or -errno.
 */
int scan_summaries(struct store *store, const struct scan_filter *filter,
		   const struct scan_hooks *hooks, struct scan_pieces *pieces,
		   struct scan_retained *out, struct err *err);

#endif
