/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/engine/object_store.h"

#include <curl/curl.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/engine/object_list.h"

#define CONNECT_TIMEOUT_MS 5000l
#define TIMEOUT_MS	   60000l
#define SLOWEST_PER_MS	   2048u      /* bytes; a large request may last longer */
#define REPLY_MAX_BYTES	   (4u << 20) /* of an error or of one page of a list */
#define LIST_MAX_PAGES	   1000000
#define URL_BYTES	   2048
#define EMPTY_SHA256	   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct object_store {
	pthread_mutex_t lock;
	CURL *curl;
	char *url, *access_key, *secret_key, *ca, *sigv4;
	size_t base_len; /* length of url before the slash of the bucket's prefix */
	long timeout_ms;
};

/* One request under way. */
struct object_request {
	const struct iovec *parts;
	int nr_parts, part;
	size_t part_offset;
	struct buf *reply;
	uint64_t reply_limit;
	uint64_t bytes; /* bytes of the body in either direction, as far as known */
	struct curl_slist *headers;
	char url[URL_BYTES];
};

void object_sha256(const struct iovec *parts, int nr, char out[OBJECT_SHA256_HEX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	for (int i = 0; i < nr; i++)
		sha256_update(&ctx, parts[i].iov_len, parts[i].iov_base);
	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* The bucket ends at the second slash behind the scheme, or at the end. */
static size_t object_store_bucket_len(const char *url)
{
	const char *rest = strstr(url, "://"), *slash;

	rest = rest ? strchr(rest + 3, '/') : NULL;
	slash = rest ? strchr(rest + 1, '/') : NULL;
	return slash ? (size_t)(slash - url) : strlen(url);
}

int object_store_new(struct object_store **out, const struct object_store_config *config,
		     struct err *err)
{
	struct object_store *o = calloc(1, sizeof(*o));
	int len;

	if (!o)
		return err_set(err, ENOMEM, "out of memory");
	pthread_mutex_init(&o->lock, NULL);
	o->curl = curl_easy_init();
	o->url = strdup(config->url);
	o->access_key = strdup(config->access_key);
	o->secret_key = strdup(config->secret_key);
	o->ca = config->ca ? strdup(config->ca) : NULL;
	o->timeout_ms = config->timeout_ms ? config->timeout_ms : TIMEOUT_MS;
	o->base_len = object_store_bucket_len(config->url);
	len = asprintf(&o->sigv4, "aws:amz:%s:s3", config->region ? config->region : "us-east-1");
	if (len < 0)
		o->sigv4 = NULL;
	if (!o->curl || !o->url || !o->access_key || !o->secret_key || !o->sigv4 ||
	    (config->ca && !o->ca)) {
		object_store_free(o);
		return err_set(err, ENOMEM, "out of memory");
	}
	*out = o;
	return 0;
}

void object_store_free(struct object_store *o)
{
	if (!o)
		return;
	if (o->curl)
		curl_easy_cleanup(o->curl);
	if (o->secret_key)
		explicit_bzero(o->secret_key, strlen(o->secret_key));
	free(o->url);
	free(o->access_key);
	free(o->secret_key);
	free(o->ca);
	free(o->sigv4);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

static size_t object_take(char *data, size_t size, size_t nr, void *ctx)
{
	struct object_request *r = ctx;

	if (r->reply->len + size * nr > r->reply_limit)
		return 0;
	return buf_put(r->reply, data, size * nr) == 0 ? size * nr : 0;
}

static size_t object_send(char *out, size_t size, size_t nr, void *ctx)
{
	struct object_request *r = ctx;
	size_t room = size * nr, done = 0;

	while (done < room && r->part < r->nr_parts) {
		const struct iovec *p = &r->parts[r->part];
		size_t left = p->iov_len - r->part_offset;
		size_t take = left < room - done ? left : room - done;

		memcpy(out + done, (const char *)p->iov_base + r->part_offset, take);
		done += take;
		r->part_offset += take;
		if (r->part_offset == p->iov_len) {
			r->part++;
			r->part_offset = 0;
		}
	}
	return done;
}

/* libcurl calls this when it must send the body again over another connection. */
static int object_rewind(void *ctx, curl_off_t offset, int origin)
{
	struct object_request *r = ctx;

	if (offset != 0 || origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	r->part = 0;
	r->part_offset = 0;
	return CURL_SEEKFUNC_OK;
}

static int object_header(struct object_request *r, const char *name, const char *value)
{
	struct curl_slist *more;
	char line[256];

	snprintf(line, sizeof(line), "%s: %s", name, value);
	more = curl_slist_append(r->headers, line);
	if (!more)
		return -ENOMEM;
	r->headers = more;
	return 0;
}

static int object_prepare(struct object_store *o, struct object_request *r, const char *sha256,
			  struct err *err)
{
	CURL *c = o->curl;

	curl_easy_reset(c);
	if (object_header(r, "x-amz-content-sha256", sha256) < 0)
		return err_set(err, ENOMEM, "out of memory");
	curl_easy_setopt(c, CURLOPT_URL, r->url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(c, CURLOPT_AWS_SIGV4, o->sigv4);
	curl_easy_setopt(c, CURLOPT_USERNAME, o->access_key);
	curl_easy_setopt(c, CURLOPT_PASSWORD, o->secret_key);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1l);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, o->timeout_ms + (long)(r->bytes / SLOWEST_PER_MS));
	curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1l);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, object_take);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, r);
	if (o->ca)
		curl_easy_setopt(c, CURLOPT_CAINFO, o->ca);
	if (r->parts) {
		curl_easy_setopt(c, CURLOPT_UPLOAD, 1l);
		curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->bytes);
		curl_easy_setopt(c, CURLOPT_READFUNCTION, object_send);
		curl_easy_setopt(c, CURLOPT_READDATA, r);
		curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, object_rewind);
		curl_easy_setopt(c, CURLOPT_SEEKDATA, r);
	}
	return 0;
}

static int object_errno_of(CURLcode code)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return ETIMEDOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
		return ECONNREFUSED;
	case CURLE_OUT_OF_MEMORY:
		return ENOMEM;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return EPERM;
	default:
		return EREMOTEIO;
	}
}

static int object_http_errno(long status)
{
	switch (status) {
	case 401:
	case 403:
		return EPERM; /* not EACCES, which tells of one damaged file */
	case 404:
		return ENOENT;
	case 400: /* the bytes of a put arrived otherwise */
	case 416: /* the object is shorter than the range */
		return EBADMSG;
	case 507:
		return ENOSPC;
	default:
		return EREMOTEIO;
	}
}

/* Reports the code and the text of an error, if the store sent them as XML. */
static int object_refused(const struct object_request *r, long status, struct err *err)
{
	char code[80] = "";
	const char *from = NULL;
	int nr = object_http_errno(status);

	if (buf_put_u8(r->reply, 0) == 0)
		from = strstr((const char *)r->reply->data, "<Code>");
	if (from)
		sscanf(from, "<Code>%79[^<]", code);
	if (strcmp(code, "QuotaExceeded") == 0)
		nr = ENOSPC;
	if (strcmp(code, "NoSuchBucket") == 0)
		return err_set(err, ENXIO, "%s: the object store has no such bucket; make it first",
			       r->url);
	if (strcmp(code, "RequestTimeTooSkewed") == 0)
		return err_set(
			err, nr,
			"%s: the clock of this machine and that of the object store differ by "
			"more than 15 minutes; set the clock",
			r->url);
	if (nr == EPERM)
		return err_set(err, nr,
			       "%s: the object store refuses the keys (HTTP %ld%s%s); see keys= in "
			       "the URL of the store, or AWS_ACCESS_KEY_ID",
			       r->url, status, *code ? ", " : "", code);
	if (nr == ENOENT)
		return err_set(err, nr, "%s: the object is missing in the object store", r->url);
	return err_set(err, nr, "%s: the object store answered HTTP %ld%s%s", r->url, status,
		       *code ? ", " : "", code);
}

/* Performs a prepared request; the lock is held. */
static int object_perform(struct object_store *o, struct object_request *r, struct err *err)
{
	CURLcode code = curl_easy_perform(o->curl);
	long status = 0;

	curl_easy_getinfo(o->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK && (code != CURLE_WRITE_ERROR || status < 300))
		return err_set(err, object_errno_of(code), "%s: %s", r->url,
			       curl_easy_strerror(code));
	if (status >= 200 && status < 300)
		return 0;
	return object_refused(r, status, err);
}

static int object_url(const struct object_store *o, const char *key, struct object_request *r,
		      struct err *err)
{
	if (snprintf(r->url, sizeof(r->url), "%s/%s", o->url, key) < (int)sizeof(r->url))
		return 0;
	return err_set(err, ENAMETOOLONG, "%.80s...: too long a URL", o->url);
}

int object_put(struct object_store *o, const char *key, const struct iovec *parts, int nr,
	       char sha256[OBJECT_SHA256_HEX], struct err *err)
{
	struct object_request r = { .parts = parts,
				    .nr_parts = nr,
				    .reply_limit = REPLY_MAX_BYTES };
	struct buf reply;
	int ret = object_url(o, key, &r, err);

	if (ret < 0)
		return ret;
	object_sha256(parts, nr, sha256);
	for (int i = 0; i < nr; i++)
		r.bytes += parts[i].iov_len;
	buf_init(&reply);
	r.reply = &reply;
	pthread_mutex_lock(&o->lock);
	ret = object_prepare(o, &r, sha256, err);
	if (ret == 0)
		ret = object_perform(o, &r, err);
	pthread_mutex_unlock(&o->lock);
	curl_slist_free_all(r.headers);
	buf_release(&reply);
	return ret;
}

int object_get(struct object_store *o, const char *key, uint64_t offset, uint64_t nr, struct buf *b,
	       struct err *err)
{
	struct object_request r = { .reply = b,
				    .bytes = nr,
				    .reply_limit = nr > REPLY_MAX_BYTES ? nr : REPLY_MAX_BYTES };
	char range[64];
	int ret = object_url(o, key, &r, err);

	buf_clear(b);
	if (ret < 0 || nr == 0)
		return ret;
	snprintf(range, sizeof(range), "%llu-%llu", (unsigned long long)offset,
		 (unsigned long long)(offset + nr - 1));
	pthread_mutex_lock(&o->lock);
	ret = object_prepare(o, &r, EMPTY_SHA256, err);
	if (ret == 0) {
		curl_easy_setopt(o->curl, CURLOPT_RANGE, range);
		ret = object_perform(o, &r, err);
	}
	pthread_mutex_unlock(&o->lock);
	curl_slist_free_all(r.headers);
	if (ret == 0 && b->len != nr)
		ret = err_set(err, EBADMSG, "%s: expected %llu bytes at offset %llu, got %zu",
			      r.url, (unsigned long long)nr, (unsigned long long)offset, b->len);
	return ret;
}

int object_delete(struct object_store *o, const char *key, struct err *err)
{
	struct object_request r = { .reply_limit = REPLY_MAX_BYTES };
	struct buf reply;
	int ret = object_url(o, key, &r, err);

	if (ret < 0)
		return ret;
	buf_init(&reply);
	r.reply = &reply;
	pthread_mutex_lock(&o->lock);
	ret = object_prepare(o, &r, EMPTY_SHA256, err);
	if (ret == 0) {
		curl_easy_setopt(o->curl, CURLOPT_CUSTOMREQUEST, "DELETE");
		ret = object_perform(o, &r, err);
	}
	pthread_mutex_unlock(&o->lock);
	curl_slist_free_all(r.headers);
	buf_release(&reply);
	return ret == -ENOENT ? 0 : ret;
}

/* The query's names are in order and its values encoded, since libcurl signs them as they are. */
static int object_list_url(const struct object_store *o, const char *prefix, const char *token,
			   struct object_request *r)
{
	const char *below = o->url[o->base_len] ? o->url + o->base_len + 1 : "";
	char full[512];
	char *coded_token = token ? curl_easy_escape(o->curl, token, 0) : NULL;
	char *coded;
	int len;

	snprintf(full, sizeof(full), "%s%s%s", below, *below ? "/" : "", prefix);
	coded = curl_easy_escape(o->curl, full, 0);
	len = snprintf(r->url, sizeof(r->url), "%.*s?%s%s%slist-type=2&prefix=%s", (int)o->base_len,
		       o->url, coded_token ? "continuation-token=" : "",
		       coded_token ? coded_token : "", coded_token ? "&" : "", coded ? coded : "");
	curl_free(coded_token);
	curl_free(coded);
	return len < (int)sizeof(r->url) ? 0 : -ENAMETOOLONG;
}

static int object_list_page(struct object_store *o, const char *prefix, const char *token,
			    struct object_page *page, time_t *now_s, struct err *err)
{
	struct curl_header *date;
	struct object_request r = { .reply_limit = REPLY_MAX_BYTES };
	struct buf reply;
	int ret;

	buf_init(&reply);
	r.reply = &reply;
	pthread_mutex_lock(&o->lock);
	ret = object_list_url(o, prefix, token, &r);
	if (ret < 0)
		err_set(err, -ret, "%.80s...: too long a URL", o->url);
	if (ret == 0)
		ret = object_prepare(o, &r, EMPTY_SHA256, err);
	if (ret == 0)
		ret = object_perform(o, &r, err);
	if (ret == 0 && curl_easy_header(o->curl, "Date", 0, CURLH_HEADER, -1, &date) == CURLHE_OK)
		*now_s = curl_getdate(date->value, NULL);
	pthread_mutex_unlock(&o->lock);
	curl_slist_free_all(r.headers);
	if (ret == 0)
		ret = object_page_read(page, reply.data, reply.len, err);
	buf_release(&reply);
	return ret;
}

/* Both times are those of the object store's clock. */
static double object_age_s(const char *modified, time_t now_s)
{
	struct tm tm = { 0 };

	if (now_s < 0 || !modified || !strptime(modified, "%Y-%m-%dT%H:%M:%S", &tm))
		return 0;
	return difftime(now_s, timegm(&tm));
}

int object_list(struct object_store *o, const char *prefix,
		int (*visit)(void *ctx, const char *key, uint64_t bytes, double age_s), void *ctx,
		struct err *err)
{
	const char *below = o->url[o->base_len] ? o->url + o->base_len + 1 : "";
	size_t strip = *below ? strlen(below) + 1 : 0;
	char *token = NULL;
	int ret = 0;

	for (int pages = 0; ret == 0 && pages < LIST_MAX_PAGES; pages++) {
		struct object_page page = { 0 };
		time_t now_s = -1;

		ret = object_list_page(o, prefix, token, &page, &now_s, err);
		for (size_t i = 0; i < page.nr && ret == 0; i++)
			if (strlen(page.items[i].key) > strip)
				ret = visit(ctx, page.items[i].key + strip, page.items[i].bytes,
					    object_age_s(page.items[i].modified, now_s));
		free(token);
		token = page.next;
		page.next = NULL;
		object_page_release(&page);
		if (!token)
			break;
	}
	free(token);
	return ret;
}
