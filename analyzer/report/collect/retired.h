/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retired: adds to a collection what a profile still says about requests that retention has removed
 * (keep/retain.h), so that their period has pictures.
 *
 * A profile has counts, sizes, sequential shares, requests in flight and the distributions of
 * response times of one period, but no times of single requests. Its numbers are spread evenly over
 * its period, so that sums stay exact and nothing within a period can be seen; windows for peaks
 * and objectives are therefore not shorter than the longest such period (struct report,
 * window_ns). What needs single requests gets nothing: positions on the device, issuers. What
 * they found when they arrived is in their profiles, which are added elsewhere (report.h).
 *
 * Cost: the columns of the grids that the period touches.
 */
#ifndef ANALYZER_REPORT_COLLECT_RETIRED_H
#define ANALYZER_REPORT_COLLECT_RETIRED_H

#include "analyzer/report/collect/collect.h"

/*
 * Returns an instant of a profile in nanoseconds. A summary file may have any number there: one
 * before 1970 or none gives 0, and one beyond the year 2116 gives that year.
 */
uint64_t retired_ns(double seconds);
/* Adds the profile of one period to a device of the collection. Returns 0 or -ENOMEM. */
int retired_add(struct collect *c, size_t device, const struct profile *p);

#endif
