/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/send/upload_state.h"
#include "base/text/err.h"
#include "formats/segment/segment.h"

/*
 * upload_why: explains why a transfer failed, in a sentence that begins with the file, name or
 * address concerned.
 *
 * libcurl's own texts do not distinguish a key that cannot be read, a wrong certificate authority
 * and a name that is not in the certificate.
 */

/* Returns whether the file cannot be read now; err then says so. */
static bool why_unreadable(const char *option, const char *path, struct err *err)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : 0;

	if (!path)
		return false;
	if (fd >= 0) {
		close(fd);
		return false;
	}
	err_set(err, errno, "%s: %s: the agent cannot read this file: %s", option, path,
		strerror(errno));
	return true;
}

/* Explains a failure that concerns this host's own certificate and key. */
static void why_own_certificate(const struct upload_access *a, const char *detail, struct err *err)
{
	if (why_unreadable("tls-key", a->key, err) || why_unreadable("tls-cert", a->cert, err))
		return;
	err_set(err, EINVAL, "tls-cert %s, tls-key %s: not a certificate and its key: %s",
		a->cert ? a->cert : "(none)", a->key ? a->key : "(none)", detail);
}

/*
 * Explains a failure that concerns the receiver's certificate. libcurl checks the signature before
 * the name, and its result starts as 1 (OpenSSL's "unspecified"), which only the first check
 * overwrites.
 */
static void why_peer(CURL *handle, const char *url, const struct upload_access *a, struct err *err)
{
	long verified = 0;

	curl_easy_getinfo(handle, CURLINFO_SSL_VERIFYRESULT, &verified);
	if (verified > 1)
		err_set(err, EPERM,
			"tls-ca: %s: the certificate of %s is not signed by this authority, or is "
			"not valid now (verification code %ld)",
			a->ca ? a->ca : "the system's authorities", url, verified);
	else
		err_set(err, EPERM,
			"sink: %s: the analyzer's certificate does not have this name: expected a "
			"name that is in it",
			url);
}

static void why_network(CURL *handle, const char *url, CURLcode code, struct err *err)
{
	long number = 0;

	curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &number);
	/* A non-blocking socket returns EINPROGRESS before the reason is known. */
	if (number > 0 && number != EINPROGRESS && strerrorname_np((int)number))
		err_set(err, (int)number, "%s: %s: %s (%s)", url, curl_easy_strerror(code),
			strerror((int)number), strerrorname_np((int)number));
	else
		err_set(err, EIO, "%s: %s%s", url, curl_easy_strerror(code),
			code == CURLE_OPERATION_TIMEDOUT ? " (ETIMEDOUT)" : "");
}

/*
 * Writes one line into err for the code with which the transfer of handle to url failed. detail is
 * the text that libcurl wrote to its error buffer.
 */
static void upload_why(CURL *handle, CURLcode code, const char *url,
		       const struct upload_access *access, const char *detail, struct err *err)
{
	/*
	 * libcurl keeps the first text of an error. The system-call filter denies libcurl
	 * getsockname(), and a text about this call does not explain the failure.
	 */
	if (!*detail || !strncmp(detail, "getsockname", 11))
		detail = curl_easy_strerror(code);
	switch (code) {
	case CURLE_SSL_CERTPROBLEM:
		why_own_certificate(access, detail, err);
		break;
	case CURLE_SSL_CACERT_BADFILE:
		if (!why_unreadable("tls-ca", access->ca, err))
			err_set(err, EINVAL, "tls-ca: %s: not a file of certificates: %s",
				access->ca ? access->ca : "the system's authorities", detail);
		break;
	case CURLE_PEER_FAILED_VERIFICATION:
		why_peer(handle, url, access, err);
		break;
	default:
		why_network(handle, url, code, err);
	}
}

#define LOOKUP_TIMEOUT_S 5.0

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

/* Returns whether the body acknowledges exactly this segment. */
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
 * Appends the receiver's own reason to the status: the "error" of a JSON body, or the first line of
 * any other body. The reason is cut and reduced to printable ASCII without quotation marks, because
 * it goes into a line of the log.
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
 * Performs the transfer. Returns CURLE_OK, or another code with one line in err. *status is the
 * last HTTP status received, or 0.
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

/* Reads one number of the field and goes behind it. Returns false where there is none. */
static bool upload_ask_number(const char **text, int64_t *out)
{
	const char *digits = *text + (**text == '-');
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtoll(*text, &end, 10);
	*text = end;
	return !errno && *out >= -UPLOAD_ASK_MAX_S && *out <= UPLOAD_ASK_MAX_S;
}

/* Reads the field Blkcast-Ask. A field that is wrong, or there twice, asks for nothing. */
static void upload_read_ask(struct upload *u, struct upload_answer *answer)
{
	struct curl_header *field;
	const char *text;

	if (curl_easy_header(u->curl, "Blkcast-Ask", 0, CURLH_HEADER, -1, &field) ||
	    field->amount != 1)
		return;
	text = field->value;
	answer->is_asking = upload_ask_number(&text, &answer->ask_begin_s) && *text++ == ' ' &&
			    upload_ask_number(&text, &answer->ask_end_s) && !*text &&
			    answer->ask_begin_s <= answer->ask_end_s;
}

/* Reads the field Blkcast-Policy. */
static void upload_read_policy(struct upload *u, struct upload_answer *answer)
{
	struct curl_header *field;
	CURLHcode code = curl_easy_header(u->curl, "Blkcast-Policy", 0, CURLH_HEADER, -1, &field);

	answer->policy = POLICY_NONE;
	answer->policy_why = (struct err){ 0 };
	if (code == CURLHE_MISSING || code == CURLHE_NOHEADERS)
		return;
	if (code)
		err_set(&answer->policy_why, EINVAL, "policy: its field cannot be read");
	else if (field->amount != 1)
		err_set(&answer->policy_why, EINVAL, "policy: expected one field");
	else
		policy_parse(&answer->policy, field->value, &answer->policy_why);
}

static void upload_put(struct upload *u, const struct segment_header *h, const char *hash,
		       struct upload_answer *answer)
{
	struct err err = { 0 };
	long status;
	CURLcode code = upload_perform(u, &status, &err);

	/*
	 * A final status is valid even where the transfer broke afterwards, for example a 413 that
	 * arrives during sending.
	 */
	if ((code || status < 200) && status < 400) {
		answer->verdict = UPLOAD_RETRY;
		snprintf(answer->why, sizeof(answer->why), "%.250s", err.line);
	} else if ((status == 200 || status == 201) && upload_is_ack(&u->answer, h, hash)) {
		answer->verdict = UPLOAD_DONE;
		upload_read_ask(u, answer);
		upload_read_policy(u, answer);
	} else if (status == 200 || status == 201) {
		answer->verdict = UPLOAD_RETRY;
		snprintf(answer->why, sizeof(answer->why),
			 "status %ld, but the answer does not name the segment", status);
	} else {
		judge_status(u, status, answer);
		add_reason(&u->answer, answer);
	}
}

/* Appends a header. Returns NULL and frees the list where there is no memory. */
static struct curl_slist *with_header(struct curl_slist *list, const char *header)
{
	struct curl_slist *more = header ? curl_slist_append(list, header) : list;

	if (!more)
		curl_slist_free_all(list);
	return more;
}

/*
 * Returns the headers for one segment and sets the URL, or returns NULL where there is no memory.
 */
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
	/*
	 * The client waits for a 100 Continue only where that can save sending the body; the header
	 * states this explicitly so that curl does not decide by itself.
	 */
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
	struct err err = { 0 };
	int ret = upload_refresh(u, false, &err);

	*answer = (struct upload_answer){ .verdict = UPLOAD_RETRY };
	if (!ret) {
		ret = segment_reader_open(&u->reader, data, len, &err);
		if (ret && ret != -ENOMEM)
			answer->verdict = UPLOAD_DAMAGED;
	}
	if (ret) {
		snprintf(answer->why, sizeof(answer->why), "%.250s", err.line);
		return;
	}
	send_body(u, segment_reader_header(u->reader), data, len, options, answer);
	segment_reader_clear(u->reader);
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

	if (upload_refresh(u, false, NULL))
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
