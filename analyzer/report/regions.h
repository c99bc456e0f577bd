/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions: how unevenly the address range is used: regions from the busiest to the least, their
 * accesses summed up, beside the law that the profile was fitted with.
 */
#ifndef ANALYZER_REPORT_REGIONS_H
#define ANALYZER_REPORT_REGIONS_H

#include "analyzer/report/frame.h"
#include "formats/profile/profile.h"
#include "workload/hotspot_fit.h"

#define REGIONS_MAX 4096

/*
 * counts: accesses of each of nr (<= REGIONS_MAX) equal regions; d may be of unknown kind. law: the fitted
 * law, over regions of its own; nr 0 where there is none. 0, -ENODATA without accesses, -ENOMEM.
 */
int regions_draw(const uint64_t *counts, size_t nr, const struct access_distribution *d,
		 const struct hotspot_law *law, const struct view *v, struct buf *out);
int regions_csv(const uint64_t *counts, size_t nr, const struct hotspot_law *law, struct buf *out);

#endif
