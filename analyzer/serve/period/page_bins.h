/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_bins: the state of a device that requests found when they arrived, summed up by the columns
 * of the live page.
 *
 * The bins are those of the report (report/curve/bins.h), so that both draw the same pictures. A
 * window adds its tallies exactly. The response times of flushes are not packed, because a column
 * has their histogram.
 */
#ifndef ANALYZER_SERVE_PERIOD_PAGE_BINS_H
#define ANALYZER_SERVE_PERIOD_PAGE_BINS_H

#include <jansson.h>

#include "analyzer/report/curve/bins.h"
#include "base/memory/buf.h"

/*
 * Adds the tallies of a window, or of its part between two shares of its length, 0 to 1. Shares
 * that follow one another add up to the window exactly.
 */
void page_bins_add(struct bins *to, const struct profile *p, double from, double until);
void page_bins_merge(struct bins *dst, const struct bins *src);
/*
 * The first appends the bins to out, the second reads them again and adds them to dst. The second
 * returns 0 or -EBADMSG.
 */
void page_bins_pack(const struct bins *b, struct buf *out);
int page_bins_merge_packed(struct bins *dst, struct cursor *from);
/*
 * Returns each distribution as a list of [label, reads, writes] without its empty ends, a new
 * reference, or NULL if memory is out.
 */
json_t *page_bins_json(const struct bins *b);

#endif
