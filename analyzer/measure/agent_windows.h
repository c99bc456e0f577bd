/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_windows: turns the profiles that blkcast-agent printed while a load ran into readings. The
 * agent prints one blkcast.profile/1 per line and one line per window.
 */
#ifndef ANALYZER_MEASURE_AGENT_WINDOWS_H
#define ANALYZER_MEASURE_AGENT_WINDOWS_H

#include <stddef.h>

#include "analyzer/measure/readings.h"
#include "base/err.h"

/*
 * Adds agent_read_s, agent_read_requests and agent_read_bytes, the same three for writes, and
 * agent_lost. The sums over all windows whose middle lies in [begin_s, end_s + one interval] become
 * the values of the whole run; each window of full length that ends within the load becomes the
 * value of one interval. Returns -EINVAL for a line that is no profile, or where no window lies in
 * that time.
 */
int agent_windows_take(const char *text, size_t len, double begin_s, double end_s,
		       double interval_s, struct readings *r, struct err *err);

#endif
