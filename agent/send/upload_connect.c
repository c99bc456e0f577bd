/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upload_connect: sets up the connection of an upload: the checks of its URL, the options of
 * libcurl, and the certificates, key and token, which are read again when their files change.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/send/upload_state.h"
#include "base/system/clock.h"
#include "formats/segment/segment.h"

#define CONNECT_TIMEOUT_S 5L
#define TOTAL_TIMEOUT_S	  60L
/*
 * The connection is given up when the other machine has not acknowledged a packet for this long.
 * The kernel sends a packet that was lost again after 0.2, 0.6, 1.4, 3, 6.2 and 12.6 s, so that a
 * network or a migrating machine may pause for twelve seconds. The kernel gives it up as well when
 * the other machine acknowledges but has had no room for more data for this long. Nothing is lost
 * when a connection is given up: the segment goes over a new connection.
 */
#define SILENT_S 15
/* An idle connection, or one that waits for an answer, is probed (TCP keepalive) this often. */
#define PROBE_S 5
/*
 * A connection that is older than this is not used for another segment. Behind a balancer a new
 * receiver thus gets its share of the agents within ten minutes; a TLS handshake in five minutes
 * costs nothing that can be measured. Up to as much again is added for each run, so that agents
 * that connected at the same moment do not all come back at the same moment.
 */
#define LIFE_S		 300
#define MAX_ANSWER_BYTES 65536
#define MAX_HEAD_BYTES	 65536
#define MAX_TOKEN_BYTES	 512

static size_t give_body(char *out, size_t size, size_t nr, void *ctx)
{
	struct upload *u = ctx;
	size_t want = size * nr, left = cursor_left(&u->body);

	if (want > left)
		want = left;
	return cursor_get(&u->body, out, want) ? CURL_READFUNC_ABORT : want;
}

/* curl calls this to rewind the body when a kept connection turns out to be closed. */
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

/* Reads the headers of all responses of one exchange, including 100 Continue. */
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

/*
 * Sets an option of a socket. A kernel that refuses the option is no error: the connection is then
 * given up only when the time for the whole transfer is over.
 */
static void set_number(curl_socket_t fd, int level, int option, int value)
{
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

/* Called by curl for each new socket: makes the kernel notice that the other machine is gone. */
static int watch_peer(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	const struct upload *u = ctx;
	int silent_s = u->access.silent_s ? u->access.silent_s : SILENT_S;

	(void)purpose;
	set_number(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_number(fd, IPPROTO_TCP, TCP_KEEPIDLE, silent_s < PROBE_S ? silent_s : PROBE_S);
	set_number(fd, IPPROTO_TCP, TCP_KEEPINTVL, silent_s < PROBE_S ? silent_s : PROBE_S);
	/* With this option the number of unanswered probes does not matter. */
	set_number(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, silent_s * 1000);
	return CURL_SOCKOPT_OK;
}

/* Returns the longest life of a connection of this run, in seconds. */
static long upload_life_s(const struct upload *u)
{
	return u->access.life_s ? u->access.life_s
				: LIFE_S + (long)(clock_monotonic_ns() / 1000 % LIFE_S);
}

/*
 * Judges by the parsed address and not by the beginning of the text, because 127.example.org is an
 * ordinary name.
 */
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
			"sink: a user in the URL: expected http(s)://HOST:PORT and a token-file");
	else if (!strcmp(scheme, "http") && !is_loopback(host) && !access->insecure)
		ret = err_set(
			err, EINVAL,
			"sink: %s: not a loopback address, and the connection is not encrypted: "
			"expected https, or insecure",
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

/* Sets an option to a path. A NULL path leaves the option as it is and returns CURLE_OK. */
static CURLcode set_path(CURL *c, CURLoption option, const char *path)
{
	return path ? curl_easy_setopt(c, option, path) : CURLE_OK;
}

/*
 * Returns the certificate bundle of the system on Debian, Red Hat, SUSE or Alpine. NULL: libcurl
 * may know another.
 */
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

	/* An empty proxy also disables the proxies that the environment names. */
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
	bad |= curl_easy_setopt(c, CURLOPT_SOCKOPTFUNCTION, watch_peer);
	bad |= curl_easy_setopt(c, CURLOPT_SOCKOPTDATA, u);
	bad |= curl_easy_setopt(c, CURLOPT_MAXLIFETIME_CONN, upload_life_s(u));
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

/* Reads the token from the file and makes the header of it. */
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

int upload_refresh(struct upload *u, bool first, struct err *err)
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
	to->silent_s = from->silent_s;
	to->life_s = from->life_s;
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
		ret = upload_refresh(u, true, err);
	if (ret)
		goto out;
	ret = reach_new(&u->reach, u->base, access->proxy, err);
	if (ret)
		goto out;
	*out = u;
	return 0;
out:
	upload_free(u);
	return ret;
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
	segment_reader_free(u->reader);
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
