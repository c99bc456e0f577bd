// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page/page_reply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>
#include <zlib.h>

#include "base/data/json_writer.h"

#define ETAG_BYTES	 40
#define DIGITS		 13	   /* A time of today to the millisecond has as many. */
#define GZIP_LEAST_BYTES 1024	   /* gzip saves too little on shorter content */
#define GZIP_WINDOW_BITS (15 + 16) /* 16 asks zlib for the gzip format (zlib.h, deflateInit2) */
#define GZIP_MEMORY	 8

#define POLICY                                                                            \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* The policy of a page that holds its own styles and pictures. */
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
 * Returns whether the request accepts gzip: the list of Accept-Encoding has "gzip" or "*" with a
 * quality above 0 (RFC 9110, 12.5.3).
 */
static bool page_accepts_gzip(struct MHD_Connection *c)
{
	const char *at = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept-Encoding");

	while (at && *at) {
		size_t len, name;
		const char *quality;

		at += strspn(at, ", \t");
		len = strcspn(at, ",");
		name = strcspn(at, ",; \t");
		quality = at + strcspn(at, ",=");
		if ((name == 4 && strncasecmp(at, "gzip", 4) == 0) || (name == 1 && *at == '*'))
			return *quality != '=' || strtod(quality + 1, NULL) > 0;
		at += len;
	}
	return false;
}

/* Returns data as gzip, which the caller frees, or NULL: then data is sent as it is. */
static void *page_gzip(const void *data, size_t len, int level, size_t *gzip_len)
{
	z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len };
	void *out = NULL;
	size_t most;

	if (len < GZIP_LEAST_BYTES || len > UINT32_MAX / 2 ||
	    deflateInit2(&z, level, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&z, (uLong)len);
	out = malloc(most);
	z.next_out = out;
	z.avail_out = (uInt)most;
	if (out && deflate(&z, Z_FINISH) != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
	*gzip_len = z.total_out;
	deflateEnd(&z);
	return out;
}

/* The two forms of a content are two representations, so each has an ETag of its own. */
static void page_etag(char out[ETAG_BYTES], const void *data, size_t len, bool gzip)
{
	XXH128_hash_t hash = XXH3_128bits(data, len);

	snprintf(out, ETAG_BYTES, "\"%016llx%016llx%s\"", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64, gzip ? "-gz" : "");
}

/* Queues a reply and releases it. etag and encoding may be NULL. */
static enum MHD_Result page_reply_queue(struct MHD_Connection *c, int status, const char *type,
					struct MHD_Response *reply, const char *etag,
					const char *encoding)
{
	enum MHD_Result queued = MHD_NO;

	if (!reply)
		return MHD_NO;
	if (page_reply_guard(reply) == MHD_YES &&
	    MHD_add_response_header(reply, "Content-Type", type) == MHD_YES &&
	    MHD_add_response_header(reply, "Cache-Control", etag ? "no-cache" : "no-store") ==
		    MHD_YES &&
	    (!etag || (MHD_add_response_header(reply, "ETag", etag) == MHD_YES &&
		       MHD_add_response_header(reply, "Vary", "Accept-Encoding") == MHD_YES)) &&
	    (!encoding || MHD_add_response_header(reply, "Content-Encoding", encoding) == MHD_YES))
		queued = MHD_queue_response(c, (unsigned int)status, reply);
	MHD_destroy_response(reply);
	return queued;
}

/*
 * Returns whether the request names the ETag: the list of If-None-Match has it, weak or strong, or
 * is "*" (RFC 9110, 13.1.2).
 */
static bool page_knows(struct MHD_Connection *c, const char *etag)
{
	const char *at = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "If-None-Match");

	while (at && *at) {
		size_t len;

		at += strspn(at, ", \t");
		if (*at == '*')
			return true;
		at += strncmp(at, "W/", 2) == 0 ? 2 : 0;
		len = *at == '"' ? 1 + strcspn(at + 1, "\"") : strcspn(at, ",");
		len += at[len] == '"';
		if (len == strlen(etag) && strncmp(at, etag, len) == 0)
			return true;
		at += len;
	}
	return false;
}

static enum MHD_Result page_reply_known(struct MHD_Connection *c, const char *type,
					const char *etag)
{
	return page_reply_queue(c, MHD_HTTP_NOT_MODIFIED, type,
				MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT),
				etag, NULL);
}

/*
 * Queues a content with an ETag made from it, as gzip if the request accepts that, or 304 without
 * content if the request names that ETag. The content is copied. No reply holds a secret beside
 * text that somebody else can choose, so the compressed length reveals nothing.
 */
static enum MHD_Result page_reply_content(struct MHD_Connection *c, const char *type,
					  const void *data, size_t len)
{
	bool gzip = len >= GZIP_LEAST_BYTES && page_accepts_gzip(c);
	size_t gzip_len = 0;
	char etag[ETAG_BYTES];
	void *packed;

	page_etag(etag, data, len, gzip);
	if (page_knows(c, etag))
		return page_reply_known(c, type, etag);
	/*
	 * An answer is made once and read once. Of one about ten minutes of a busy device zlib's
	 * default makes 35 KB in 8 ms, its fastest level 37 KB in 1 ms.
	 */
	packed = gzip ? page_gzip(data, len, Z_BEST_SPEED, &gzip_len) : NULL;
	if (packed)
		return page_reply_queue(c, MHD_HTTP_OK, type,
					MHD_create_response_from_buffer(gzip_len, packed,
									MHD_RESPMEM_MUST_FREE),
					etag, "gzip");
	page_etag(etag, data, len, false);
	return page_reply_queue(c, MHD_HTTP_OK, type,
				MHD_create_response_from_buffer(len, (void *)(uintptr_t)data,
								MHD_RESPMEM_MUST_COPY),
				etag, NULL);
}

/* Returns {"error": line}, or NULL. */
static struct MHD_Response *page_error(const char *line)
{
	json_t *object = json_pack("{s:s}", "error", line);
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

	json_decref(object);
	return text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE)
		    : NULL;
}

enum MHD_Result page_reply_error(struct MHD_Connection *c, int status, const char *line)
{
	return page_reply_queue(c, status, "application/json", page_error(line), NULL, NULL);
}

enum MHD_Result page_reply_method(struct MHD_Connection *c, const char *allowed)
{
	struct MHD_Response *reply;
	char line[64];

	snprintf(line, sizeof(line), "method: expected %s", allowed);
	reply = page_error(line);
	if (reply && MHD_add_response_header(reply, "Allow", allowed) != MHD_YES) {
		MHD_destroy_response(reply);
		return MHD_NO;
	}
	return page_reply_queue(c, MHD_HTTP_METHOD_NOT_ALLOWED, "application/json", reply, NULL,
				NULL);
}

static enum MHD_Result page_reply_json_by(struct MHD_Connection *c, json_t *object, int digits)
{
	enum MHD_Result queued;
	struct buf text;
	bool is_whole;
	struct json_writer w = { .out = &text, .digits = digits };

	buf_init(&text);
	if (object)
		json_writer_value(&w, object);
	is_whole = object && !text.error;
	json_decref(object);
	queued = is_whole ? page_reply_content(c, "application/json", text.data, text.len)
			  : page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE,
					     "memory is out; ask again");
	buf_release(&text);
	return queued;
}

enum MHD_Result page_reply_json(struct MHD_Connection *c, json_t *object)
{
	return page_reply_json_by(c, object, DIGITS);
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

struct page_packed {
	struct page_packed_file {
		struct page_asset asset;
		void *gzip; /* owned; NULL: the file is always sent as it is */
		size_t gzip_len;
		char etag[ETAG_BYTES], gzip_etag[ETAG_BYTES];
	} files[PAGE_FILES_MAX];
	size_t nr;
};

int page_packed_new(struct page_packed **out)
{
	struct page_packed *packed = calloc(1, sizeof(*packed));
	struct page_packed_file *f;

	if (!packed)
		return -ENOMEM;
	for (; page_asset_at(packed->nr, &packed->files[packed->nr].asset); packed->nr++) {
		f = &packed->files[packed->nr];
		f->gzip = page_gzip(f->asset.data, f->asset.len, Z_BEST_COMPRESSION, &f->gzip_len);
		page_etag(f->etag, f->asset.data, f->asset.len, false);
		page_etag(f->gzip_etag, f->asset.data, f->asset.len, true);
	}
	*out = packed;
	return 0;
}

void page_packed_free(struct page_packed *packed)
{
	for (size_t i = 0; packed && i < packed->nr; i++)
		free(packed->files[i].gzip);
	free(packed);
}

static enum MHD_Result page_reply_packed(struct MHD_Connection *c, const struct page_packed_file *f)
{
	bool gzip = f->gzip && page_accepts_gzip(c);
	const char *etag = gzip ? f->gzip_etag : f->etag;
	const void *data = gzip ? f->gzip : f->asset.data;

	if (page_knows(c, etag))
		return page_reply_known(c, f->asset.type, etag);
	return page_reply_queue(c, MHD_HTTP_OK, f->asset.type,
				MHD_create_response_from_buffer(gzip ? f->gzip_len : f->asset.len,
								(void *)(uintptr_t)data,
								MHD_RESPMEM_PERSISTENT),
				etag, gzip ? "gzip" : NULL);
}

bool page_reply_file(const struct page_packed *packed, struct MHD_Connection *c, const char *path,
		     enum MHD_Result *result)
{
	for (size_t i = 0; i < packed->nr; i++)
		if (strcmp(packed->files[i].asset.path, path) == 0) {
			*result = page_reply_packed(c, &packed->files[i]);
			return true;
		}
	return false;
}
