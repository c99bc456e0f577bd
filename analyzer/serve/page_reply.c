// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page_reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define ETAG_BYTES 40

#define POLICY                                                                            \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* Of a page that holds its own styles and pictures. */
#define PAGE_POLICY                                                                       \
	"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'; sandbox"

static const char *const page_fields[][2] = {
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Permissions-Policy", "camera=(), microphone=(), geolocation=()" },
};

static enum MHD_Result page_reply_guard_by(struct MHD_Response *reply, const char *policy)
{
	if (MHD_add_response_header(reply, "Content-Security-Policy", policy) != MHD_YES)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(page_fields) / sizeof(page_fields[0]); i++)
		if (MHD_add_response_header(reply, page_fields[i][0], page_fields[i][1]) != MHD_YES)
			return MHD_NO;
	return MHD_YES;
}

enum MHD_Result page_reply_guard(struct MHD_Response *reply)
{
	return page_reply_guard_by(reply, POLICY);
}

enum MHD_Result page_reply_page(struct MHD_Connection *c, const char *html, size_t len)
{
	struct MHD_Response *reply = MHD_create_response_from_buffer(len, (void *)(uintptr_t)html,
								     MHD_RESPMEM_MUST_COPY);
	enum MHD_Result queued = MHD_NO;

	if (!reply)
		return MHD_NO;
	if (page_reply_guard_by(reply, PAGE_POLICY) == MHD_YES &&
	    MHD_add_response_header(reply, "Content-Type", "text/html; charset=utf-8") == MHD_YES &&
	    MHD_add_response_header(reply, "Cache-Control", "no-store") == MHD_YES)
		queued = MHD_queue_response(c, MHD_HTTP_OK, reply);
	MHD_destroy_response(reply);
	return queued;
}

/*
 * Queues a reply of a type with an ETag made from its content, or 304 without content if the
 * request names that ETag.
 */
static enum MHD_Result page_reply_send(struct MHD_Connection *c, int status, const char *type,
				       const char *caching, struct MHD_Response *reply,
				       const char *etag)
{
	const char *known = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-None-Match");
	enum MHD_Result queued = MHD_NO;

	if (!reply)
		return MHD_NO;
	if (etag && known && strcmp(known, etag) == 0) {
		MHD_destroy_response(reply);
		reply = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
		status = MHD_HTTP_NOT_MODIFIED;
		if (!reply)
			return MHD_NO;
	}
	if (page_reply_guard(reply) == MHD_YES &&
	    MHD_add_response_header(reply, "Content-Type", type) == MHD_YES &&
	    MHD_add_response_header(reply, "Cache-Control", caching) == MHD_YES &&
	    (!etag || MHD_add_response_header(reply, "ETag", etag) == MHD_YES))
		queued = MHD_queue_response(c, (unsigned int)status, reply);
	MHD_destroy_response(reply);
	return queued;
}

static void page_etag(char out[ETAG_BYTES], const void *data, size_t len)
{
	XXH128_hash_t hash = XXH3_128bits(data, len);

	snprintf(out, ETAG_BYTES, "\"%016llx%016llx\"", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
}

enum MHD_Result page_reply_error(struct MHD_Connection *c, int status, const char *line)
{
	json_t *object = json_pack("{s:s}", "error", line);
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	if (!text)
		return MHD_NO;
	return page_reply_send(
		c, status, "application/json", "no-store",
		MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE), NULL);
}

static enum MHD_Result page_reply_json_by(struct MHD_Connection *c, json_t *object,
					  size_t precision)
{
	char *text = object ? json_dumps(object, JSON_COMPACT | precision) : NULL;
	char etag[ETAG_BYTES];

	json_decref(object);
	if (!text)
		return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
					"memory is out; ask again");
	page_etag(etag, text, strlen(text));
	return page_reply_send(
		c, MHD_HTTP_OK, "application/json", "no-cache",
		MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE), etag);
}

enum MHD_Result page_reply_json(struct MHD_Connection *c, json_t *object)
{
	return page_reply_json_by(c, object, JSON_REAL_PRECISION(10));
}

enum MHD_Result page_reply_json_exact(struct MHD_Connection *c, json_t *object)
{
	return page_reply_json_by(c, object, 0);
}

enum MHD_Result page_reply_cookie(struct MHD_Connection *c, const char *cookie)
{
	struct MHD_Response *reply =
		MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result queued = MHD_NO;

	if (!reply)
		return MHD_NO;
	if (page_reply_guard(reply) == MHD_YES &&
	    MHD_add_response_header(reply, "Cache-Control", "no-store") == MHD_YES &&
	    MHD_add_response_header(reply, "Set-Cookie", cookie) == MHD_YES)
		queued = MHD_queue_response(c, MHD_HTTP_NO_CONTENT, reply);
	MHD_destroy_response(reply);
	return queued;
}

enum MHD_Result page_reply_asset(struct MHD_Connection *c, const struct page_asset *asset)
{
	char etag[ETAG_BYTES];

	page_etag(etag, asset->data, asset->len);
	return page_reply_send(c, MHD_HTTP_OK, asset->type, "no-cache",
			       MHD_create_response_from_buffer(asset->len,
							       (void *)(uintptr_t)asset->data,
							       MHD_RESPMEM_PERSISTENT),
			       etag);
}
