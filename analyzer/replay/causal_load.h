/* SPDX-License-Identifier: Apache-2.0 */
/* causal_load: the plan (causal.h) of a scan's requests. */
#ifndef ANALYZER_CAUSAL_LOAD_H
#define ANALYZER_CAUSAL_LOAD_H

#include "analyzer/replay/causal.h"
#include "analyzer/store/scan.h"

/*
 * Reads the scan to its end, or until duration_s after its first request (0: all). One device and one
 * host must be left by its filter: -EINVAL otherwise. Release the plan whatever this returns. 0,
 * -ENOMEM, or the scan's error. Memory: up to 232 bytes a request and what qsort(3) takes meanwhile, 56
 * afterwards.
 */
int causal_load(struct causal_plan *plan, struct scan *scan, double duration_s, struct err *err);

#endif
