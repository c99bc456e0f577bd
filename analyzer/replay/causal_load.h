/* SPDX-License-Identifier: Apache-2.0 */
/* causal_load: makes the plan (causal.h) from the requests of a scan. */
#ifndef ANALYZER_CAUSAL_LOAD_H
#define ANALYZER_CAUSAL_LOAD_H

#include "analyzer/replay/causal.h"
#include "analyzer/store/scan/scan.h"

/*
 * Reads the scan to its end, or until duration_s after its first request (0: all). The scan's
 * filter must leave one device and one host; else -EINVAL. Release the plan whatever this returns.
 * Returns 0, -ENOMEM, or the scan's error. Memory: up to 232 bytes per request and what qsort(3)
 * needs meanwhile, 56 bytes per request afterwards.
 */
int causal_load(struct causal_plan *plan, struct scan *scan, double duration_s, struct err *err);

#endif
