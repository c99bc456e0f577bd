/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_windows: what blkcast-agent saw while a load ran, from the profiles it printed, one
 * blkcast.profile/1 a line, one window each.
 */
#ifndef ANALYZER_MEASURE_AGENT_WINDOWS_H
#define ANALYZER_MEASURE_AGENT_WINDOWS_H

#include <stddef.h>

#include "analyzer/measure/readings.h"
#include "base/err.h"

/*
 * Adds agent_read_s, agent_read_requests, agent_read_bytes, the same for writes, and agent_lost:
 * sums over windows whose middle lies in [begin_s, end_s + one interval], and each window by
 * itself. -EINVAL for a line that is no profile, or where no window is left.
 */
int agent_windows_take(const char *text, size_t len, double begin_s, double end_s,
		       double interval_s, struct readings *r, struct err *err);

#endif
