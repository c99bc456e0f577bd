/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/send/reach.h"
#include "agent/send/upload.h"
#include "agent/send/upload_why.h"
#include "base/buf.h"
#include "formats/segment/segment.h"

#define LOOKUP_TIMEOUT_S  5.0
#define CONNECT_TIMEOUT_S 5L
#define TOTAL_TIMEOUT_S	  60L
#define MAX_ANSWER_BYTES  65536
#define MAX_HEAD_BYTES	  65536
#define MAX_TOKEN_BYTES	  512

/* The files that say who this host is. */
enum { FILE_CA, FILE_CERT, FILE_KEY, FILE_TOKEN, NR_FILES };
struct upload_files {
	struct stat seen[NR_FILES];
};

struct upload {
	CURL *curl;
	struct reach *reach;
	const char *system_ca;	     /* a file, or NULL */
	char *base;		     /* without a final slash */
	struct upload_access access; /* its strings are owned */
	struct upload_files files;   /* as they were when the connection was set up */
	char *authorization;	     /* the header; NULL: no token */
	const atomic_bool *abort_flag;
	struct cursor body;
	struct buf answer;
	size_t head_bytes;
	char detail[CURL_ERROR_SIZE]; /* of the last failure, by libcurl */
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

/* All heads of one exchange, 100s included. */
static size_t take_head(char *data, size_t size, size_t nr, void *ctx)
{
	struct upload *u = ctx;

	(void)data;
	u->head_bytes += size * nr;
	return u->head_bytes > MAX_HEAD_BYTES ? 0 : size * nr;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct upload *u = ctx;

	(void)a, (void)b, (void)c, (void)d;
	return atomic_load(u->abort_flag);
}

/* By the whole address, not by how its text begins: 127.example.org is a name like any other. */
static bool is_loopback(const char *host)
{
	struct in_addr four;

	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return !strcmp(host, "localhost") || !strcmp(host, "[::1]");
}

static int check_url(const char *url, const struct upload_access *access, struct err *err)
{
	CURLU *parts = curl_url();
	char *host = NULL, *query = NULL, *scheme = NULL, *user = NULL;
	int ret = 0;

	if (!parts || curl_url_set(parts, CURLUPART_URL, url, 0) ||
	    curl_url_get(parts, CURLUPART_HOST, &host, 0) || !*host ||
	    curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) ||
	    !curl_url_get(parts, CURLUPART_QUERY, &query, 0))
		ret = err_set(err, EINVAL, "sink: %s: expected http(s)://HOST:PORT", url);
	else if (!curl_url_get(parts, CURLUPART_USER, &user, 0))
		ret = err_set(
			err, EINVAL,
			"sink: a user in the URL: expected http(s)://HOST:PORT and --token-file");
	else if (!strcmp(scheme, "http") && !is_loopback(host) && !access->insecure)
		ret = err_set(
			err, EINVAL,
			"sink: %s: not a loopback address, and the connection is not encrypted: "
			"expected https; --insecure allows it",
			url);
	curl_free(host);
	curl_free(query);
	curl_free(scheme);
	curl_free(user);
	curl_url_cleanup(parts);
	return ret;
}

static const char *file_of(const struct upload_access *a, int file)
{
	const char *const files[NR_FILES] = { a->ca, a->cert, a->key, a->token_file };

	return files[file];
}

/* CURLE_OK where the option is left as it is. */
static CURLcode set_path(CURL *c, CURLoption option, const char *path)
{
	return path ? curl_easy_setopt(c, option, path) : CURLE_OK;
}

/* The system's certificates on Debian, Red Hat, SUSE and Alpine; NULL: libcurl may know others. */
static const char *system_ca(void)
{
	static const char *const paths[] = { "/etc/ssl/certs/ca-certificates.crt",
					     "/etc/pki/tls/certs/ca-bundle.crt",
					     "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], R_OK))
			return paths[i];
	return NULL;
}

static int set_access(struct upload *u)
{
	const struct upload_access *a = &u->access;
	CURL *c = u->curl;
	CURLcode bad = CURLE_OK;

	/* An empty proxy also switches off those of the environment. */
	bad |= curl_easy_setopt(c, CURLOPT_PROXY, a->proxy ? a->proxy : "");
	bad |= curl_easy_setopt(c, CURLOPT_NOPROXY, a->proxy ? "" : "*");
	bad |= curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	bad |= curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L);
	bad |= curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L);
	bad |= set_path(c, CURLOPT_CAINFO, a->ca ? a->ca : u->system_ca);
	bad |= set_path(c, CURLOPT_SSLCERT, a->cert);
	bad |= set_path(c, CURLOPT_SSLKEY, a->key);
	return bad ? -ENOMEM : 0;
}

static int set_options(struct upload *u)
{
	CURL *c = u->curl;
	CURLcode bad = CURLE_OK;

	bad |= curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	bad |= curl_easy_setopt(c, CURLOPT_ERRORBUFFER, u->detail);
	bad |= curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	bad |= curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	bad |= curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
	bad |= curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	bad |= curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	bad |= curl_easy_setopt(c, CURLOPT_TIMEOUT, TOTAL_TIMEOUT_S);
	bad |= curl_easy_setopt(c, CURLOPT_USERAGENT, "blkcast-agent/" BLKCAST_VERSION);
	bad |= curl_easy_setopt(c, CURLOPT_READFUNCTION, give_body);
	bad |= curl_easy_setopt(c, CURLOPT_READDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, seek_body);
	bad |= curl_easy_setopt(c, CURLOPT_SEEKDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_answer);
	bad |= curl_easy_setopt(c, CURLOPT_WRITEDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_head);
	bad |= curl_easy_setopt(c, CURLOPT_HEADERDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
	bad |= curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
	bad |= curl_easy_setopt(c, CURLOPT_XFERINFODATA, u);
	return bad ? -ENOMEM : set_access(u);
}

/* The token of the file as a header. */
static int read_token(const char *path, char **out, struct err *err)
{
	char token[MAX_TOKEN_BYTES + 2] = "";
	FILE *f = fopen(path, "re");
	size_t len;
	char *header;

	if (!f || (!fgets(token, sizeof(token), f) && ferror(f))) {
		int ret = err_set(err, errno, "token-file: %s: %s", path, strerror(errno));

		if (f)
			fclose(f);
		return ret;
	}
	fclose(f);
	len = strcspn(token, "\r\n");
	token[len] = '\0';
	if (!len || len > MAX_TOKEN_BYTES || strpbrk(token, " \t"))
		return err_set(err, EINVAL,
			       "token-file: %s: expected a token of 1 to %d characters", path,
			       MAX_TOKEN_BYTES);
	if (asprintf(&header, "Authorization: Bearer %s", token) < 0)
		return err_set(err, ENOMEM, "no memory");
	free(*out);
	*out = header;
	return 0;
}

/*
 * Sets the connection up anew with the files as they are, where they have changed. What cannot be
 * used is told by the transfers that fail for it; a token that cannot be read stays what it was.
 */
static int take_files(struct upload *u, bool first, struct err *err)
{
	bool changed = first;
	CURL *fresh;
	int ret = 0;

	for (int i = 0; i < NR_FILES; i++) {
		const char *path = file_of(&u->access, i);
		struct stat now = { 0 }, *seen = &u->files.seen[i];

		if (!path)
			continue;
		if (stat(path, &now) && first)
			return err_set(err, errno, "%s: %s", path, strerror(errno));
		changed |= now.st_ino != seen->st_ino || now.st_size != seen->st_size ||
			   now.st_mtim.tv_sec != seen->st_mtim.tv_sec ||
			   now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec;
		*seen = now;
	}
	if (!changed)
		return 0;
	if (u->access.token_file)
		ret = read_token(u->access.token_file, &u->authorization, err);
	if (ret && first)
		return ret;
	fresh = curl_easy_init();
	if (!fresh)
		return err_set(err, ENOMEM, "no memory for the HTTP sink");
	curl_easy_cleanup(u->curl);
	u->curl = fresh;
	return set_options(u) ? err_set(err, ENOMEM, "no memory for the HTTP sink") : 0;
}

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

static int copy_access(struct upload_access *to, const struct upload_access *from)
{
	int ret = copy_text(&to->ca, from->ca) | copy_text(&to->cert, from->cert) |
		  copy_text(&to->key, from->key) | copy_text(&to->token_file, from->token_file);

	to->insecure = from->insecure;
	return ret | copy_text(&to->proxy, from->proxy) ? -ENOMEM : 0;
}

int upload_new(struct upload **out, const char *url, const struct upload_access *access,
	       const atomic_bool *abort_flag, struct err *err)
{
	size_t len = strlen(url);
	struct upload *u;
	int ret = check_url(url, access, err);

	if (ret)
		return ret;
	if (!access->cert != !access->key)
		return err_set(err, EINVAL, "tls-cert and tls-key: expected both or none");
	u = calloc(1, sizeof(*u));
	if (!u)
		return err_set(err, ENOMEM, "no memory for the HTTP sink");
	u->abort_flag = abort_flag;
	u->system_ca = system_ca();
	while (len && url[len - 1] == '/')
		len--;
	u->base = strndup(url, len);
	if (!u->base || copy_access(&u->access, access))
		ret = err_set(err, ENOMEM, "no memory for the HTTP sink");
	else
		ret = take_files(u, true, err);
	if (!ret)
		ret = reach_new(&u->reach, u->base, access->proxy, err);
	if (ret) {
		upload_free(u);
		return ret;
	}
	*out = u;
	return 0;
}

int upload_start(struct upload *u, struct err *err)
{
	return reach_start(u->reach, err);
}

void upload_free(struct upload *u)
{
	if (!u)
		return;
	curl_easy_cleanup(u->curl);
	reach_free(u->reach);
	buf_release(&u->answer);
	free(u->authorization);
	free(u->access.ca);
	free(u->access.cert);
	free(u->access.key);
	free(u->access.token_file);
	free(u->access.proxy);
	free(u->base);
	free(u);
}

static bool upload_names(const json_t *object, const char *key, const char *text)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value && !strcmp(value, text);
}

static bool upload_counts(const json_t *object, const char *key, uint64_t number)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && (uint64_t)json_integer_value(value) == number;
}

/* Whether the body acknowledges exactly this segment. */
static bool upload_is_ack(const struct buf *body, const struct segment_header *h, const char *hash)
{
	json_t *answer = json_loadb((const char *)body->data, body->len, 0, NULL);
	bool same = upload_names(answer, "host", h->host) &&
		    upload_names(answer, "boot_id", h->boot_id) &&
		    upload_counts(answer, "epoch", h->epoch) &&
		    upload_counts(answer, "sequence", h->sequence) &&
		    upload_names(answer, "hash", hash);

	json_decref(answer);
	return same;
}

/*
 * Puts the receiver's own reason behind the status: the "error" of a JSON body, or the first line
 * of any other; cut, and of printable ASCII without a quote, for it goes into a line of the log.
 */
static void add_reason(const struct buf *body, struct upload_answer *answer)
{
	json_t *object = json_loadb((const char *)body->data, body->len, 0, NULL);
	const char *text = json_string_value(json_object_get(object, "error"));
	size_t len = text ? strlen(text) : body->len;
	size_t at = strlen(answer->why), room = sizeof(answer->why) - 1;

	if (!text)
		text = (const char *)body->data;
	for (size_t i = 0; i < len && text[i] != '\n' && text[i] != '\r' && at < room; i++) {
		if (!i)
			at += (size_t)snprintf(answer->why + at, room + 1 - at, ": ");
		if (at < room)
			answer->why[at++] =
				text[i] < ' ' || text[i] > '~' || text[i] == '"' ? '?' : text[i];
	}
	answer->why[at < room ? at : room] = 0;
	json_decref(object);
}

static void judge_status(struct upload *u, long status, struct upload_answer *answer)
{
	curl_off_t retry_after_s = 0;

	snprintf(answer->why, sizeof(answer->why), "status %ld", status);
	answer->verdict = UPLOAD_RETRY;
	if (status >= 300 && status < 400) {
		snprintf(answer->why, sizeof(answer->why), "status %ld: no redirect is followed",
			 status);
	} else if (status == 400 || status == 422) {
		answer->verdict = UPLOAD_REFUSED;
	} else if (status == 409) {
		answer->verdict = UPLOAD_CONFLICT;
	} else if (status == 413) {
		answer->verdict = UPLOAD_TOO_LARGE;
	} else if (status == 401 || status == 403) {
		answer->verdict = UPLOAD_DENIED;
	} else if (status == 429 || status == 503 || status == 507) {
		answer->verdict = UPLOAD_LATER;
		curl_easy_getinfo(u->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
		answer->retry_after_s = (double)retry_after_s;
	}
}

/*
 * CURLE_OK, or what is wrong with one line in err; *status: the last that came, 0 where none did.
 */
static CURLcode upload_perform(struct upload *u, long *status, struct err *err)
{
	CURLcode code;

	*status = 0;
	if (reach_find(u->reach, u->curl, LOOKUP_TIMEOUT_S, u->abort_flag, err))
		return CURLE_COULDNT_RESOLVE_HOST;
	u->detail[0] = 0;
	code = curl_easy_perform(u->curl);
	curl_easy_getinfo(u->curl, CURLINFO_RESPONSE_CODE, status);
	if (code) {
		reach_doubt(u->reach);
		upload_why(u->curl, code, u->base, &u->access, u->detail, err);
	}
	return code;
}

static void upload_put(struct upload *u, const struct segment_header *h, const char *hash,
		       struct upload_answer *answer)
{
	struct err err = { 0 };
	long status;
	CURLcode code = upload_perform(u, &status, &err);

	/* A final status counts even where the transfer broke after it (413 while sending). */
	if ((code || status < 200) && status < 400) {
		answer->verdict = UPLOAD_RETRY;
		snprintf(answer->why, sizeof(answer->why), "%.250s", err.line);
	} else if ((status == 200 || status == 201) && upload_is_ack(&u->answer, h, hash)) {
		answer->verdict = UPLOAD_DONE;
	} else if (status == 200 || status == 201) {
		answer->verdict = UPLOAD_RETRY;
		snprintf(answer->why, sizeof(answer->why),
			 "status %ld, but the answer does not name the segment", status);
	} else {
		judge_status(u, status, answer);
		add_reason(&u->answer, answer);
	}
}

/* Appends a header; NULL without memory, the list being freed. */
static struct curl_slist *with_header(struct curl_slist *list, const char *header)
{
	struct curl_slist *more = header ? curl_slist_append(list, header) : list;

	if (!more)
		curl_slist_free_all(list);
	return more;
}

/* URL and headers of one segment; NULL without memory. */
static struct curl_slist *upload_address(struct upload *u, const struct segment_header *h,
					 const char *hash, bool ask_first)
{
	char *host = curl_easy_escape(u->curl, h->host, 0);
	char *boot_id = curl_easy_escape(u->curl, h->boot_id, 0);
	struct curl_slist *headers = NULL;
	struct buf text;

	buf_init(&text);
	buf_printf(&text, "Blkcast-Hash: %s", hash);
	if (host && boot_id && !text.error)
		headers = curl_slist_append(NULL, (char *)text.data);
	/* No wait for a 100 but where it can save the body; nothing is to be guessed of it. */
	if (headers)
		headers = with_header(headers, ask_first ? "Expect: 100-continue" : "Expect:");
	if (headers)
		headers = with_header(headers, "Content-Type: application/octet-stream");
	if (headers)
		headers = with_header(headers, u->authorization);
	buf_clear(&text);
	buf_printf(&text, "%s/v1/segments/%s/%s/%" PRIu64 "/%" PRIu64, u->base, host ? host : "",
		   boot_id ? boot_id : "", h->epoch, h->sequence);
	if (headers && (text.error || curl_easy_setopt(u->curl, CURLOPT_URL, (char *)text.data) ||
			curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, headers))) {
		curl_slist_free_all(headers);
		headers = NULL;
	}
	buf_release(&text);
	curl_free(host);
	curl_free(boot_id);
	return headers;
}

static void send_body(struct upload *u, const struct segment_header *h, const void *data,
		      size_t len, const struct upload_segment_options *options,
		      struct upload_answer *answer)
{
	struct segment_hash hash = segment_hash_of(data, len);
	char hash_text[SEGMENT_HASH_TEXT];
	struct curl_slist *headers;

	segment_hash_text(&hash, hash_text);
	u->body = cursor_make(data, len);
	buf_clear(&u->answer);
	u->head_bytes = 0;
	curl_easy_setopt(u->curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(u->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)len);
	headers = upload_address(u, h, hash_text, options->ask_first);
	if (headers)
		upload_put(u, h, hash_text, answer);
	else
		snprintf(answer->why, sizeof(answer->why), "no memory");
	curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
}

void upload_segment(struct upload *u, const void *data, size_t len,
		    const struct upload_segment_options *options, struct upload_answer *answer)
{
	struct segment_reader *reader;
	struct err err = { 0 };
	int ret = take_files(u, false, &err);

	*answer = (struct upload_answer){ .verdict = UPLOAD_RETRY };
	if (!ret) {
		ret = segment_reader_new(&reader, data, len, &err);
		if (ret && ret != -ENOMEM)
			answer->verdict = UPLOAD_DAMAGED;
	}
	if (ret) {
		snprintf(answer->why, sizeof(answer->why), "%.250s", err.line);
		return;
	}
	send_body(u, segment_reader_header(reader), data, len, options, answer);
	segment_reader_free(reader);
}

static void find_mark(const struct buf *body, const char *boot_id, struct upload_mark *mark)
{
	json_t *answer = json_loadb((const char *)body->data, body->len, 0, NULL), *stream;
	size_t i;

	json_array_foreach(json_object_get(answer, "streams"), i, stream)
	{
		const json_t *highest = json_object_get(stream, "highest_sequence");

		if (!upload_names(stream, "boot_id", boot_id) ||
		    !upload_counts(stream, "epoch", mark->epoch) || !json_is_integer(highest))
			continue;
		mark->any = true;
		mark->sequence = (uint64_t)json_integer_value(highest);
	}
	json_decref(answer);
}

int upload_ask_mark(struct upload *u, const char *host, const char *boot_id,
		    struct upload_mark *mark)
{
	char *host_text, *boot_text;
	struct curl_slist *headers = NULL;
	struct buf url;
	long status = 0;
	bool is_told = false;

	if (take_files(u, false, NULL))
		return -EIO;
	host_text = curl_easy_escape(u->curl, host, 0);
	boot_text = curl_easy_escape(u->curl, boot_id, 0);
	buf_init(&url);
	buf_clear(&u->answer);
	u->head_bytes = 0;
	buf_printf(&url, "%s/v1/streams/%s?boot_id=%s&epoch=%" PRIu64, u->base,
		   host_text ? host_text : "", boot_text ? boot_text : "", mark->epoch);
	headers = with_header(NULL, u->authorization);
	if (!url.error && host_text && boot_text && (headers || !u->authorization) &&
	    !curl_easy_setopt(u->curl, CURLOPT_HTTPGET, 1L) &&
	    !curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, headers) &&
	    !curl_easy_setopt(u->curl, CURLOPT_URL, (char *)url.data))
		is_told = !upload_perform(u, &status, NULL) && status == 200;
	if (is_told)
		find_mark(&u->answer, boot_id, mark);
	curl_easy_setopt(u->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	curl_free(host_text);
	curl_free(boot_text);
	buf_release(&url);
	return is_told ? 0 : -EIO;
}
