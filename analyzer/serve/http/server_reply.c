// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/server_reply.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_JSON    "application/json"
#define TYPE_METRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Queues a copy of body as the whole reply; headers whose value is NULL are left out. */
static enum MHD_Result send_with(struct MHD_Connection *c, int status, const char *type,
				 const void *body, size_t len, const char *const headers[][2],
				 size_t nr)
{
	struct MHD_Response *reply = MHD_create_response_from_buffer(len, (void *)(uintptr_t)body,
								     MHD_RESPMEM_MUST_COPY);
	enum MHD_Result queued;

	if (!reply)
		return MHD_NO;
	queued = MHD_add_response_header(reply, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < nr && queued == MHD_YES; i++)
		if (headers[i][1])
			queued = MHD_add_response_header(reply, headers[i][0], headers[i][1]);
	if (queued == MHD_YES)
		queued = MHD_queue_response(c, (unsigned int)status, reply);
	MHD_destroy_response(reply);
	return queued;
}

/* Queues a reply with one header, or with no header if it is NULL. */
static enum MHD_Result send_reply(struct MHD_Connection *c, int status, const char *type,
				  const void *body, size_t len, const char *header,
				  const char *value)
{
	const char *const headers[][2] = { { header, value } };

	return send_with(c, status, type, body, len, headers, header ? 1 : 0);
}

/* Returns {"error": line} as text that the caller frees. */
static char *error_text(const char *line)
{
	json_t *object = json_pack("{s:s}", "error", line);
	char *text;

	/* A name in a request may contain bytes that are not UTF-8, which JSON cannot hold. */
	if (!object)
		object = json_pack("{s:s}", "error", "the request is not valid UTF-8");
	text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	return text;
}

static enum MHD_Result reply_error(struct MHD_Connection *c, int status, const char *line,
				   const char *header, const char *value)
{
	char *text = error_text(line);
	enum MHD_Result queued;

	if (!text)
		return MHD_NO;
	queued = send_reply(c, status, TYPE_JSON, text, strlen(text), header, value);
	free(text);
	return queued;
}

enum MHD_Result server_reply_error(struct MHD_Connection *c, int status, const char *line,
				   int retry_after_s)
{
	char seconds[16];

	if (retry_after_s <= 0)
		return reply_error(c, status, line, NULL, NULL);
	snprintf(seconds, sizeof(seconds), "%d", retry_after_s);
	return reply_error(c, status, line, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
}

enum MHD_Result server_reply_last(struct MHD_Connection *c, int status, const char *line)
{
	return reply_error(c, status, line, MHD_HTTP_HEADER_CONNECTION, "close");
}

static enum MHD_Result take_field(void *ctx, enum MHD_ValueKind kind, const char *name,
				  size_t name_bytes, const char *value, size_t value_bytes)
{
	(void)kind;
	head_check_field(ctx, name, name_bytes, value, value_bytes);
	return MHD_YES;
}

bool server_reply_wrong_head(struct MHD_Connection *c, const char *version, enum MHD_Result *result)
{
	struct head_check check = { 0 };
	struct err why = { 0 };

	MHD_get_connection_values_n(c, MHD_HEADER_KIND, take_field, &check);
	if (!head_check_end(&check, strcmp(version, MHD_HTTP_VERSION_1_1) == 0, &why))
		return false;
	*result = server_reply_last(c, MHD_HTTP_BAD_REQUEST, why.line);
	return true;
}

enum MHD_Result server_reply_not_allowed(struct MHD_Connection *c, const char *allowed)
{
	char line[64];

	snprintf(line, sizeof(line), "method: expected %s", allowed);
	return reply_error(c, MHD_HTTP_METHOD_NOT_ALLOWED, line, MHD_HTTP_HEADER_ALLOW, allowed);
}

enum MHD_Result server_reply_ack(struct MHD_Connection *c, const struct ingest_result *result,
				 const char *ask, const char *policy)
{
	const char *const headers[][2] = { { "Blkcast-Ask", ask }, { "Blkcast-Policy", policy } };
	char hash[SEGMENT_HASH_TEXT];
	char text[512];
	int len;

	/* Names hold no character that JSON would have to escape. */
	segment_hash_text(&result->hash, hash);
	len = snprintf(text, sizeof(text),
		       "{\"host\":\"%s\",\"boot_id\":\"%s\",\"epoch\":%" PRIu64
		       ",\"sequence\":%" PRIu64 ",\"hash\":\"%s\",\"stored\":%s}\n",
		       result->name.host, result->name.boot_id, result->name.epoch,
		       result->name.sequence, hash, result->stored ? "true" : "false");
	return send_with(c, result->stored ? MHD_HTTP_CREATED : MHD_HTTP_OK, TYPE_JSON, text,
			 (size_t)len, headers, 2);
}

static void print_stream(struct buf *out, const struct segment_name *n)
{
	buf_printf(out,
		   "%s{\"boot_id\":\"%s\",\"epoch\":%" PRIu64 ",\"highest_sequence\":%" PRIu64 "}",
		   out->data[out->len - 1] == '[' ? "" : ",", n->boot_id, n->epoch, n->sequence);
}

/* Prints where the next page begins, or null if this page is the last one. */
static void print_next(struct buf *out, const struct segment_name *next)
{
	if (next)
		buf_printf(out, "],\"next\":\"?from_boot_id=%s&from_epoch=%" PRIu64 "\"}\n",
			   next->boot_id, next->epoch);
	else
		buf_printf(out, "],\"next\":null}\n");
}

/* Prints one page of the streams from `from` on. The lock is held for one stream at a time. */
static int print_page(struct buf *out, struct ingest *ingest, const struct head_streams *asked,
		      struct err *err)
{
	struct segment_name n = asked->from;
	int nr = 0, ret = 0;

	while (!out->error) {
		ret = ingest_stream(ingest, &n, asked->is_exact, err);
		if (ret <= 0 || (asked->is_boot && strcmp(n.boot_id, asked->from.boot_id) != 0))
			break;
		if (nr++ == STREAMS_PAGE) {
			print_next(out, &n);
			return 0;
		}
		print_stream(out, &n);
		if (asked->is_exact)
			break;
		catalog_pass_stream(&n);
	}
	print_next(out, NULL);
	return ret < 0 ? ret : 0;
}

enum MHD_Result server_reply_streams(struct MHD_Connection *c, struct ingest *ingest,
				     const struct head_streams *asked)
{
	enum MHD_Result queued;
	struct err why = { 0 };
	struct buf out;

	buf_init(&out);
	buf_printf(&out, "{\"host\":\"%s\",\"streams\":[", asked->from.host);
	if (out.error || print_page(&out, ingest, asked, &why) < 0)
		queued = server_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE, why.line, 1);
	else
		queued = out.error ? MHD_NO
				   : send_reply(c, MHD_HTTP_OK, TYPE_JSON, out.data, out.len, NULL,
						NULL);
	buf_release(&out);
	return queued;
}

enum MHD_Result server_reply_metrics(struct MHD_Connection *c, const struct server_stats *stats,
				     const struct ingest_counts *counts,
				     const struct server_gauges *gauges)
{
	enum MHD_Result queued = MHD_NO;
	struct buf out;

	buf_init(&out);
	server_stats_print(stats, counts, gauges, &out);
	if (!out.error)
		queued = send_reply(c, MHD_HTTP_OK, TYPE_METRICS, out.data, out.len, NULL, NULL);
	buf_release(&out);
	return queued;
}

enum MHD_Result server_reply_text(struct MHD_Connection *c, const char *text)
{
	return send_reply(c, MHD_HTTP_OK, "text/plain; charset=utf-8", text, strlen(text), NULL,
			  NULL);
}
