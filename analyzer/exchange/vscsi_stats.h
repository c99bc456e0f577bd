/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscsi_stats: the histograms that VMware's `vscsiStats -p all -c` prints, as profiles: one for each
 * virtual disk, without a trace.
 *
 *   Histogram: IO lengths of Read commands,virtual machine worldGroupID,4060,virtual disk handleID,8195
 *   min,512
 *   max,65536
 *   mean,5332
 *   count,793
 *   Frequency,Histogram Bucket Limit
 *   42,512
 *   ...
 *
 * Means and counts go where the profile has them; in flight by Little's law; the period is the count
 * of interarrival times by their mean. Its buckets are coarser than ours and stay as they are in
 * source_detail.vscsistats: [[limit, count], ...], the last one open (limit null).
 */
#ifndef ANALYZER_VSCSI_STATS_H
#define ANALYZER_VSCSI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/foreign/foreign_input.h"
#include "formats/profile/profile.h"

/* Whether the input, of which nothing was taken, begins so. */
bool vscsi_stats_is(struct foreign_input *in);
/*
 * Reads it to its end. host NULL: "vm-" and the group's number. *profiles: *nr of them, in order of
 * appearance, each to be released, the array freed. -EBADMSG with file:line, -EIO, -ENOMEM.
 */
int vscsi_stats_read(struct foreign_input *in, const char *host, uint64_t begin_real_ns,
		     struct profile **profiles, size_t *nr, struct err *err);

#endif
