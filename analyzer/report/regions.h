/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions: how unevenly the address range is used: regions from the busiest to the least, their
 * accesses summed up, beside the law that the profile was fitted with.
 */
#ifndef ANALYZER_REPORT_REGIONS_H
#define ANALYZER_REPORT_REGIONS_H

#include "analyzer/report/frame.h"
#include "formats/profile/profile.h"

#define REGIONS_MAX 4096

/*
 * weights[0..nr-1] (nr > 0) of the fitted law over nr equal regions, largest first, their sum 1.
 * -ENODATA for DISTRIBUTION_UNKNOWN.
 */
int regions_law(const struct access_distribution *d, size_t nr, double *weights);

/*
 * counts: accesses of each of nr (<= REGIONS_MAX) equal regions; d may be of unknown kind. 0,
 * -ENODATA without accesses, -ENOMEM.
 */
int regions_draw(const uint64_t *counts, size_t nr, const struct access_distribution *d,
		 const struct view *v, struct buf *out);
int regions_csv(const uint64_t *counts, size_t nr, const struct access_distribution *d,
		struct buf *out);

#endif
