/* SPDX-License-Identifier: Apache-2.0 */
/* server_stats: the counters of the server. Any thread may call any function. */
#ifndef ANALYZER_SERVER_STATS_H
#define ANALYZER_SERVER_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/intake/ingest.h"
#include "base/memory/buf.h"

/* Refusals are counted by HTTP status: 400 401 403 404 405 409 413 422 429 503, and any other. */
#define SERVER_NR_REFUSALS 12
/*
 * The buckets of the time until an acknowledgement: up to 2^-12 s, 2^-11 s, ... 2^5 s, and longer.
 */
#define SERVER_NR_BUCKETS   19
#define SERVER_FIRST_BUCKET (-12)

struct server_stats { /* zeroed: nothing was counted yet */
	uint64_t refused[SERVER_NR_REFUSALS];
	uint64_t acknowledge_ns;
	uint64_t acknowledged[SERVER_NR_BUCKETS];
};

struct server_retention;
struct kept_back;

struct server_gauges {
	uint64_t body_bytes, nr_active, nr_shut, nr_delayed;
	uint64_t nr_policies;			  /* tenants with a policy */
	struct kept_back *kept_back;		  /* NULL: not counted */
	const struct server_retention *retention; /* NULL: retention does not run */
};

void server_stats_refused(struct server_stats *s, int http_status);
/* Counts a segment that was acknowledged duration_ns after its last byte came. */
void server_stats_acknowledged(struct server_stats *s, uint64_t duration_ns);
/*
 * Prints the page of /metrics as OpenMetrics text with its end mark; out->error reports a failure.
 */
void server_stats_print(const struct server_stats *s, const struct ingest_counts *counts,
			const struct server_gauges *gauges, struct buf *out);

#endif
