/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/upload.h"
#include "formats/buf.h"
#include "formats/segment.h"

#define CONNECT_TIMEOUT_S 5L
#define TOTAL_TIMEOUT_S	  60L
#define MAX_ANSWER_BYTES  65536

struct upload {
	CURL *curl;
	char *base; /* without a final slash */
	const atomic_bool *abort_flag;
	struct cursor body;
	struct buf answer;
};

static size_t give_body(char *out, size_t size, size_t nr, void *ctx)
{
	struct upload *u = ctx;
	size_t want = size * nr, left = cursor_left(&u->body);

	if (want > left)
		want = left;
	return cursor_get(&u->body, out, want) ? CURL_READFUNC_ABORT : want;
}

/* curl rewinds the body when a kept connection turns out dead. */
static int seek_body(void *ctx, curl_off_t offset, int origin)
{
	struct upload *u = ctx;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > u->body.len)
		return CURL_SEEKFUNC_FAIL;
	u->body.at = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t take_answer(char *data, size_t size, size_t nr, void *ctx)
{
	struct upload *u = ctx;

	if (u->answer.len + size * nr > MAX_ANSWER_BYTES)
		return 0;
	return buf_put(&u->answer, data, size * nr) ? 0 : size * nr;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct upload *u = ctx;

	(void)a, (void)b, (void)c, (void)d;
	return atomic_load(u->abort_flag);
}

static bool is_plain_url(const char *url)
{
	CURLU *parts = curl_url();
	char *host = NULL, *query = NULL;
	bool plain = parts && !curl_url_set(parts, CURLUPART_URL, url, 0) &&
		     !curl_url_get(parts, CURLUPART_HOST, &host, 0) && *host &&
		     curl_url_get(parts, CURLUPART_QUERY, &query, 0);

	curl_free(host);
	curl_free(query);
	curl_url_cleanup(parts);
	return plain;
}

static int set_options(struct upload *u)
{
	CURL *c = u->curl;
	CURLcode bad = CURLE_OK;

	bad |= curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
	bad |= curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	bad |= curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	bad |= curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	bad |= curl_easy_setopt(c, CURLOPT_TIMEOUT, TOTAL_TIMEOUT_S);
	bad |= curl_easy_setopt(c, CURLOPT_USERAGENT, "blkcast-agent/" BLKCAST_VERSION);
	bad |= curl_easy_setopt(c, CURLOPT_READFUNCTION, give_body);
	bad |= curl_easy_setopt(c, CURLOPT_READDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, seek_body);
	bad |= curl_easy_setopt(c, CURLOPT_SEEKDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_answer);
	bad |= curl_easy_setopt(c, CURLOPT_WRITEDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	bad |= curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	bad |= curl_easy_setopt(c, CURLOPT_XFERINFODATA, u);
	return bad ? -ENOMEM : 0;
}

int upload_new(struct upload **out, const char *url, const atomic_bool *abort_flag, struct err *err)
{
	struct upload *u;
	size_t len = strlen(url);

	if (!is_plain_url(url))
		return err_set(err, EINVAL, "sink: %s: expected http(s)://HOST:PORT", url);
	u = calloc(1, sizeof(*u));
	if (!u)
		return err_set(err, ENOMEM, "no memory for the HTTP sink");
	u->abort_flag = abort_flag;
	while (len && url[len - 1] == '/')
		len--;
	u->base = strndup(url, len);
	u->curl = curl_easy_init();
	if (!u->base || !u->curl || set_options(u)) {
		upload_free(u);
		return err_set(err, ENOMEM, "no memory for the HTTP sink");
	}
	*out = u;
	return 0;
}

void upload_free(struct upload *u)
{
	if (!u)
		return;
	curl_easy_cleanup(u->curl);
	buf_release(&u->answer);
	free(u->base);
	free(u);
}

static bool names(const json_t *object, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && !strcmp(value, text);
}

static bool counts(const json_t *object, const char *key, uint64_t number)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && (uint64_t)json_integer_value(value) == number;
}

/* Whether the body acknowledges exactly this segment. */
static bool acknowledges(const struct buf *body, const struct segment_header *h, const char *hash)
{
	json_t *answer = json_loadb((const char *)body->data, body->len, 0, NULL);
	bool same = names(answer, "host", h->host) && names(answer, "boot_id", h->boot_id) &&
		    counts(answer, "epoch", h->epoch) && counts(answer, "sequence", h->sequence) &&
		    names(answer, "hash", hash);

	json_decref(answer);
	return same;
}

static void judge_status(struct upload *u, long status, struct upload_answer *answer)
{
	curl_off_t retry_after_s = 0;

	snprintf(answer->why, sizeof(answer->why), "status %ld", status);
	if (status == 400 || status == 413 || status == 422) {
		answer->verdict = UPLOAD_REFUSED;
	} else if (status == 401 || status == 403) {
		answer->verdict = UPLOAD_DENIED;
	} else if (status == 429 || status == 503) {
		answer->verdict = UPLOAD_LATER;
		curl_easy_getinfo(u->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
		answer->retry_after_s = (double)retry_after_s;
	} else {
		answer->verdict = UPLOAD_RETRY;
	}
}

static void put(struct upload *u, const struct segment_header *h, const char *hash,
		struct upload_answer *answer)
{
	long status = 0;
	CURLcode code = curl_easy_perform(u->curl);

	/* A final status counts even where the transfer broke after it (413 while sending). */
	curl_easy_getinfo(u->curl, CURLINFO_RESPONSE_CODE, &status);
	if ((code || status < 200) && status < 400) {
		answer->verdict = UPLOAD_RETRY;
		snprintf(answer->why, sizeof(answer->why), "%s", curl_easy_strerror(code));
	} else if ((status == 200 || status == 201) && acknowledges(&u->answer, h, hash)) {
		answer->verdict = UPLOAD_DONE;
	} else if (status == 200 || status == 201) {
		answer->verdict = UPLOAD_RETRY;
		snprintf(answer->why, sizeof(answer->why),
			 "status %ld, but the answer does not name the segment", status);
	} else {
		judge_status(u, status, answer);
	}
}

/* URL and headers of one segment; NULL without memory. */
static struct curl_slist *address(struct upload *u, const struct segment_header *h,
				  const char *hash)
{
	char *host = curl_easy_escape(u->curl, h->host, 0);
	char *boot_id = curl_easy_escape(u->curl, h->boot_id, 0);
	struct curl_slist *headers = NULL, *more;
	struct buf text;

	buf_init(&text);
	buf_printf(&text, "Blkcast-Hash: %s", hash);
	if (host && boot_id && !text.error)
		headers = curl_slist_append(NULL, (char *)text.data);
	/* No 100-continue round trip; the type says that nothing is to be guessed. */
	more = headers ? curl_slist_append(headers, "Expect:") : NULL;
	more = more ? curl_slist_append(headers, "Content-Type: application/octet-stream") : NULL;
	buf_clear(&text);
	buf_printf(&text, "%s/v1/segments/%s/%s/%" PRIu64 "/%" PRIu64, u->base, host ? host : "",
		   boot_id ? boot_id : "", h->epoch, h->sequence);
	if (!more || text.error || curl_easy_setopt(u->curl, CURLOPT_URL, (char *)text.data) ||
	    curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, headers)) {
		curl_slist_free_all(headers);
		headers = NULL;
	}
	buf_release(&text);
	curl_free(host);
	curl_free(boot_id);
	return headers;
}

void upload_segment(struct upload *u, const void *data, size_t len, struct upload_answer *answer)
{
	struct segment_reader *reader;
	struct segment_hash hash = segment_hash_of(data, len);
	char hash_text[SEGMENT_HASH_TEXT];
	struct curl_slist *headers;
	struct err err = { 0 };
	int ret;

	*answer = (struct upload_answer){ .verdict = UPLOAD_RETRY };
	ret = segment_reader_new(&reader, data, len, &err);
	if (ret) {
		if (ret != -ENOMEM)
			answer->verdict = UPLOAD_DAMAGED;
		snprintf(answer->why, sizeof(answer->why), "%.150s", err.line);
		return;
	}
	segment_hash_text(&hash, hash_text);
	u->body = cursor_make(data, len);
	buf_clear(&u->answer);
	curl_easy_setopt(u->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)len);
	headers = address(u, segment_reader_header(reader), hash_text);
	if (headers)
		put(u, segment_reader_header(reader), hash_text, answer);
	else
		snprintf(answer->why, sizeof(answer->why), "no memory");
	curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	segment_reader_free(reader);
}
