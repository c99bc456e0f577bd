/* SPDX-License-Identifier: Apache-2.0 */
/* server_reply: the replies of server.c, which are queued on a connection. */
#ifndef ANALYZER_SERVER_REPLY_H
#define ANALYZER_SERVER_REPLY_H

#include <microhttpd.h>

#include "analyzer/serve/http/server_head.h"
#include "analyzer/serve/http/server_stats.h"
#include "analyzer/store/intake/ingest.h"

/* Replies with {"error": line}, and with a Retry-After field if retry_after_s > 0. */
enum MHD_Result server_reply_error(struct MHD_Connection *c, int status, const char *line,
				   int retry_after_s);
/* Replies with {"error": line} and closes the connection afterwards. */
enum MHD_Result server_reply_last(struct MHD_Connection *c, int status, const char *line);
/*
 * Refuses a request whose head does not say unambiguously where it ends (server_head.h), and closes
 * the connection: the bytes behind such a head must not be read as a request. Call it once the head
 * is there. Returns whether the request was refused; *result is then what the library gets.
 */
bool server_reply_wrong_head(struct MHD_Connection *c, const char *version,
			     enum MHD_Result *result);
/* Replies with 405 and the method that is allowed. */
enum MHD_Result server_reply_not_allowed(struct MHD_Connection *c, const char *allowed);
/*
 * Acknowledges a segment. ask and policy (may be NULL) are the fields Blkcast-Ask and
 * Blkcast-Policy, which say which requests the agent sends.
 */
enum MHD_Result server_reply_ack(struct MHD_Connection *c, const struct ingest_result *result,
				 const char *ask, const char *policy);
/*
 * Replies with {"host": ..., "streams": [{"boot_id", "epoch", "highest_sequence"}], "next": query
 * or null}.
 */
#define STREAMS_PAGE 100
enum MHD_Result server_reply_streams(struct MHD_Connection *c, struct ingest *ingest,
				     const struct head_streams *asked);
enum MHD_Result server_reply_metrics(struct MHD_Connection *c, const struct server_stats *stats,
				     const struct ingest_counts *counts,
				     const struct server_gauges *gauges);
enum MHD_Result server_reply_text(struct MHD_Connection *c, const char *text);

#endif
