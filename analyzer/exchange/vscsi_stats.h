/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vscsi_stats: turns the histograms that VMware's `vscsiStats -p all -c` prints into profiles, one
 * for each virtual disk, without a trace.
 *
 *   Histogram: IO lengths of Read commands,virtual machine worldGroupID,4060,virtual disk
 *   handleID,8195
 *   min,512
 *   max,65536
 *   mean,5332
 *   count,793
 *   Frequency,Histogram Bucket Limit
 *   42,512
 *   ...
 *
 * Means and counts become the fields that the profile has for them. The requests in flight follow
 * from Little's law, and the period is the count of interarrival times multiplied by their mean.
 * The buckets are coarser than those of a profile and are kept unchanged in
 * source_detail.vscsistats: [[limit, count], ...], where the last one is open (limit null).
 */
#ifndef ANALYZER_VSCSI_STATS_H
#define ANALYZER_VSCSI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"
#include "formats/foreign/foreign_input.h"
#include "formats/profile/profile.h"

/* Returns whether the input, of which nothing was taken, begins like this format. */
bool vscsi_stats_is(struct foreign_input *in);
/*
 * Reads the input to its end. host NULL: "vm-" and the number of the group. *profiles are *nr
 * profiles in order of appearance; the caller releases each and frees the array. Returns 0,
 * -EBADMSG with file:line, -EIO or -ENOMEM.
 */
int vscsi_stats_read(struct foreign_input *in, const char *host, uint64_t begin_real_ns,
		     struct profile **profiles, size_t *nr, struct err *err);

#endif
