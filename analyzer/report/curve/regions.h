/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions: how unevenly the address range is used: the cumulative accesses of the regions from the
 * busiest to the least busy, beside the distribution that the profile was fitted with.
 */
#ifndef ANALYZER_REPORT_CURVE_REGIONS_H
#define ANALYZER_REPORT_CURVE_REGIONS_H

#include "analyzer/report/draw/frame.h"
#include "formats/profile/profile.h"
#include "workload/hotspot_fit.h"

/*
 * counts are the accesses of each of nr equal regions; the kind of d may be unknown. law is the
 * fitted distribution over the same regions; its nr is 0 where there is none. Returns 0, -ENODATA
 * without accesses, or -ENOMEM.
 */
int regions_draw(const uint64_t *counts, size_t nr, const struct access_distribution *d,
		 const struct hotspot_law *law, const struct view *v, struct buf *out);
int regions_csv(const uint64_t *counts, size_t nr, const struct hotspot_law *law, struct buf *out);

#endif
