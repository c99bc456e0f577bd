/* SPDX-License-Identifier: Apache-2.0 */
/* causal_load: makes the plan (causal.h) from the requests of a scan. */
#ifndef ANALYZER_CAUSAL_LOAD_H
#define ANALYZER_CAUSAL_LOAD_H

#include "analyzer/replay/causal.h"
#include "analyzer/store/scan/scan.h"

/*
 * Reads the scan to its end, or until duration_s after its first request (0 means all). The scan's
 * filter must leave one device and one host, otherwise the result is -ENOTUNIQ. Release the plan
 * whatever this function returns. Returns 0, -ENOMEM, or the scan's error. While it reads, the plan
 * needs up to 232 bytes per request and what qsort(3) needs; afterwards it needs 64 bytes per
 * request.
 */
int causal_load(struct causal_plan *plan, struct scan *scan, double duration_s, struct err *err);

#endif
