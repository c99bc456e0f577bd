/* SPDX-License-Identifier: Apache-2.0 */
/* server_reply: the replies of server.c, queued on a connection. */
#ifndef ANALYZER_SERVER_REPLY_H
#define ANALYZER_SERVER_REPLY_H

#include <microhttpd.h>

#include "analyzer/store/ingest.h"
#include "analyzer/serve/server_head.h"
#include "analyzer/serve/server_stats.h"

/* {"error": line}; with a Retry-After where retry_after_s > 0. */
enum MHD_Result server_reply_error(struct MHD_Connection *c, int status, const char *line,
				   int retry_after_s);
/* {"error": line}, after which the connection is closed. */
enum MHD_Result server_reply_last(struct MHD_Connection *c, int status, const char *line);
/* 405 with the method that is allowed. */
enum MHD_Result server_reply_not_allowed(struct MHD_Connection *c, const char *allowed);
enum MHD_Result server_reply_ack(struct MHD_Connection *c, const struct ingest_result *result);
/* {"host": ..., "streams": [{"boot_id", "epoch", "highest_sequence"}], "next": query or null} */
#define STREAMS_PAGE 100
enum MHD_Result server_reply_streams(struct MHD_Connection *c, struct ingest *ingest,
				     const struct head_streams *asked);
enum MHD_Result server_reply_metrics(struct MHD_Connection *c, const struct server_stats *stats,
				     const struct ingest_counts *counts,
				     const struct server_gauges *gauges);
enum MHD_Result server_reply_text(struct MHD_Connection *c, const char *text);

#endif
