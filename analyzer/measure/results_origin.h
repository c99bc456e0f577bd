/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results_origin: says in words on what a campaign was measured: its name, its number of runs, its
 * period, and for each target the device, the file system, the scheduler and the free space, as its
 * first run found them.
 */
#ifndef ANALYZER_MEASURE_RESULTS_ORIGIN_H
#define ANALYZER_MEASURE_RESULTS_ORIGIN_H

#include "base/memory/buf.h"
#include "base/text/err.h"

/*
 * Appends the words and a 0, all times in UTC. campaign may be NULL where the store has only one.
 * Returns 0 or -errno.
 */
int results_origin(const char *db, const char *campaign, struct buf *out, struct err *err);

#endif
