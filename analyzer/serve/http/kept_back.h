/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept_back: counts the requests that agents keep back, by host, for /metrics.
 *
 * The first KEPT_BACK_HOSTS hosts that keep requests back have counts of their own, and all others
 * share one, so that a fleet of any size gives a bounded number of series. Any thread may call any
 * function.
 */
#ifndef ANALYZER_SERVE_HTTP_KEPT_BACK_H
#define ANALYZER_SERVE_HTTP_KEPT_BACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory/buf.h"

#define KEPT_BACK_HOSTS 100

struct kept_back;

/* Returns 0 or -ENOMEM. */
int kept_back_new(struct kept_back **out);
void kept_back_free(struct kept_back *k);
/*
 * Counts a segment of the host that came without this number of its requests; does nothing if the
 * number is 0.
 */
void kept_back_count(struct kept_back *k, const char *host, uint64_t nr_requests);
/*
 * Appends both counters as OpenMetrics text. The hosts that share a count appear with an empty
 * name; this entry is left out if there are none.
 */
void kept_back_print(struct kept_back *k, struct buf *out);

#endif
