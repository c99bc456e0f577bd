// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/server_stats.h"

#include <inttypes.h>
#include <math.h>

#include "analyzer/serve/http/kept_back.h"
#include "analyzer/serve/http/server.h"

static const struct {
	int status;
	const char *reason;
} refusals[SERVER_NR_REFUSALS] = {
	{ 400, "bad_request" }, { 401, "unknown" },	{ 403, "forbidden" }, { 404, "not_found" },
	{ 405, "method" },	{ 409, "conflict" },	{ 413, "too_large" }, { 422, "damaged" },
	{ 429, "rate" },	{ 503, "unavailable" }, { 507, "quota" },     { 0, "other" },
};

void server_stats_refused(struct server_stats *s, int http_status)
{
	int i = 0;

	while (i < SERVER_NR_REFUSALS - 1 && refusals[i].status != http_status)
		i++;
	__atomic_add_fetch(&s->refused[i], 1, __ATOMIC_RELAXED);
}

void server_stats_acknowledged(struct server_stats *s, uint64_t duration_ns)
{
	__atomic_add_fetch(&s->acknowledge_ns, duration_ns, __ATOMIC_RELAXED);
	int i = 0;

	while (i < SERVER_NR_BUCKETS - 1 &&
	       (double)duration_ns > ldexp(1e9, SERVER_FIRST_BUCKET + i))
		i++;
	__atomic_add_fetch(&s->acknowledged[i], 1, __ATOMIC_RELAXED);
}

static void server_stats_head(struct buf *out, const char *name, const char *type, const char *unit,
			      const char *help)
{
	buf_printf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		buf_printf(out, "# UNIT %s %s\n", name, unit);
	buf_printf(out, "# HELP %s %s\n", name, help);
}

static void print_acknowledged(const struct server_stats *s, struct buf *out)
{
	uint64_t ns = __atomic_load_n(&s->acknowledge_ns, __ATOMIC_RELAXED), sum = 0;

	server_stats_head(out, "blkcast_serve_acknowledge_seconds", "histogram", "seconds",
			  "From a segment's last byte to its acknowledgement.");
	for (int i = 0; i < SERVER_NR_BUCKETS; i++) {
		sum += __atomic_load_n(&s->acknowledged[i], __ATOMIC_RELAXED);
		buf_printf(out, "blkcast_serve_acknowledge_seconds_bucket{le=\"");
		if (i < SERVER_NR_BUCKETS - 1)
			buf_printf(out, "%.9g", ldexp(1, SERVER_FIRST_BUCKET + i));
		else
			buf_printf(out, "+Inf");
		buf_printf(out, "\"} %" PRIu64 "\n", sum);
	}
	buf_printf(out, "blkcast_serve_acknowledge_seconds_count %" PRIu64 "\n", sum);
	buf_printf(out, "blkcast_serve_acknowledge_seconds_sum %.9f\n", (double)ns / 1e9);
}

static void print_retention(const struct server_retention *r, struct buf *out)
{
	if (!r)
		return;
	server_stats_head(
		out, "blkcast_serve_retention_requests", "counter", NULL,
		"Requests that retention replaced by summaries, and those whose summaries it dropped.");
	buf_printf(out, "blkcast_serve_retention_requests_total{to=\"summarized\"} %" PRIu64 "\n",
		   r->nr_summarized);
	buf_printf(out, "blkcast_serve_retention_requests_total{to=\"dropped\"} %" PRIu64 "\n",
		   r->nr_dropped);
	server_stats_head(out, "blkcast_serve_retention_failed", "counter", NULL,
			  "Passes of retention that an error ended.");
	buf_printf(out, "blkcast_serve_retention_failed_total %" PRIu64 "\n", r->nr_failed);
}

void server_stats_print(const struct server_stats *s, const struct ingest_counts *counts,
			const struct server_gauges *gauges, struct buf *out)
{
	server_stats_head(out, "blkcast_serve_segments", "counter", NULL, "Segments acknowledged.");
	buf_printf(out, "blkcast_serve_segments_total{result=\"stored\"} %" PRIu64 "\n",
		   counts->nr_stored);
	buf_printf(out, "blkcast_serve_segments_total{result=\"repeated\"} %" PRIu64 "\n",
		   counts->nr_repeated);
	server_stats_head(out, "blkcast_serve_stored_bytes", "counter", "bytes",
			  "Bytes of segments stored.");
	buf_printf(out, "blkcast_serve_stored_bytes_total %" PRIu64 "\n", counts->stored_bytes);
	server_stats_head(out, "blkcast_serve_refused", "counter", NULL,
			  "Requests refused, by reason.");
	for (int i = 0; i < SERVER_NR_REFUSALS; i++)
		buf_printf(out, "blkcast_serve_refused_total{reason=\"%s\"} %" PRIu64 "\n",
			   refusals[i].reason, __atomic_load_n(&s->refused[i], __ATOMIC_RELAXED));
	server_stats_head(out, "blkcast_serve_disk_errors", "counter", NULL,
			  "Segments that the disk did not take.");
	buf_printf(out, "blkcast_serve_disk_errors_total %" PRIu64 "\n", counts->nr_disk_errors);
	server_stats_head(
		out, "blkcast_serve_catalog_errors", "counter", NULL,
		"Durable segments that the catalog did not take; the next start adds them.");
	buf_printf(out, "blkcast_serve_catalog_errors_total %" PRIu64 "\n",
		   counts->nr_catalog_errors);
	print_acknowledged(s, out);
	server_stats_head(out, "blkcast_serve_body_bytes", "gauge", "bytes",
			  "Memory of bodies under way.");
	buf_printf(out, "blkcast_serve_body_bytes %" PRIu64 "\n", gauges->body_bytes);
	server_stats_head(out, "blkcast_serve_requests_active", "gauge", NULL,
			  "Requests under way.");
	buf_printf(out, "blkcast_serve_requests_active %" PRIu64 "\n", gauges->nr_active);
	server_stats_head(out, "blkcast_serve_connections_shut", "counter", NULL,
			  "Connections that took too long for a head, a body or a reply.");
	buf_printf(out, "blkcast_serve_connections_shut_total %" PRIu64 "\n", gauges->nr_shut);
	server_stats_head(out, "blkcast_serve_connections_delayed", "counter", NULL,
			  "Connections that waited because many came at once.");
	buf_printf(out, "blkcast_serve_connections_delayed_total %" PRIu64 "\n",
		   gauges->nr_delayed);
	server_stats_head(out, "blkcast_serve_policies", "gauge", NULL,
			  "Tenants whose policies for requests are in force.");
	buf_printf(out, "blkcast_serve_policies %" PRIu64 "\n", gauges->nr_policies);
	if (gauges->kept_back)
		kept_back_print(gauges->kept_back, out);
	print_retention(gauges->retention, out);
	server_stats_head(out, "blkcast_build", "info", NULL, "The version that runs.");
	buf_printf(out, "blkcast_build_info{version=\"%s\"} 1\n# EOF\n", BLKCAST_VERSION);
}
