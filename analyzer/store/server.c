// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/store/ingest.h"
#include "analyzer/store/server_reply.h"
#include "analyzer/store/server_stats.h"

#define NR_CONNECTIONS	   256
#define BODY_BYTES	   (256ull << 20)
#define CONNECTION_BYTES   (32u << 10)
#define IDLE_S		   60		/* a connection that says nothing for so long is closed */
#define STACK_BYTES	   (512u << 10) /* a batch of decoded requests lies on it */
#define DRAIN_S		   30		/* requests under way at SIGTERM */
#define CHUNK_BYTES	   (64u << 10)	/* first memory for a body of unknown length */
#define SEGMENTS_PREFIX	   "/v1/segments/"
#define STREAMS_PREFIX	   "/v1/streams/"
#define RETRY_AFTER_MEMORY 1
#define RETRY_AFTER_DISK   5

struct server {
	struct MHD_Daemon *daemon;
	struct ingest *ingest;
	struct server_stats stats;
	uint64_t body_bytes, body_limit; /* atomic: memory of bodies under way */
	uint64_t nr_active;		 /* atomic: requests under way */
	uint16_t port;
};

/* One request under way. */
struct exchange {
	struct segment_name name;
	char hash[SEGMENT_HASH_TEXT];
	bool is_upload;
	uint8_t *body;
	size_t len, cap; /* cap is what it holds of body_bytes */
	int refusal;	 /* HTTP status decided before the body was read to its end; 0: none */
	struct err why;
};

static bool reserve(struct server *s, struct exchange *x, size_t cap)
{
	uint64_t more = cap - x->cap;
	uint8_t *body;

	if (__atomic_add_fetch(&s->body_bytes, more, __ATOMIC_RELAXED) > s->body_limit) {
		__atomic_sub_fetch(&s->body_bytes, more, __ATOMIC_RELAXED);
		return false;
	}
	body = realloc(x->body, cap);
	if (!body) {
		__atomic_sub_fetch(&s->body_bytes, more, __ATOMIC_RELAXED);
		return false;
	}
	x->body = body;
	x->cap = cap;
	return true;
}

static void release_body(struct server *s, struct exchange *x)
{
	free(x->body);
	__atomic_sub_fetch(&s->body_bytes, x->cap, __ATOMIC_RELAXED);
	x->body = NULL;
	x->len = x->cap = 0;
}

/* The rest of the body is read and thrown away, so that the sender gets to read the reply. */
static void refuse_later(struct server *s, struct exchange *x, int status)
{
	x->refusal = status;
	release_body(s, x);
}

static enum MHD_Result refuse(struct server *s, struct MHD_Connection *c, int status,
			      const struct err *why, int retry_after_s)
{
	server_stats_refused(&s->stats, status);
	return server_reply_error(c, status, why->line, retry_after_s);
}

/* "<host>/<boot_id>/<epoch>/<sequence>" after the prefix. */
static int parse_url(const char *url, struct segment_name *name, struct err *err)
{
	char copy[SEGMENT_PATH_MAX];
	char *part[4];
	char *at = copy;

	if (snprintf(copy, sizeof(copy), "%s", url) >= (int)sizeof(copy))
		return err_set(err, EINVAL, "path: too long");
	for (int i = 0; i < 4; i++) {
		part[i] = at ? strsep(&at, "/") : NULL;
		if (!part[i])
			break;
	}
	if (at || !part[3])
		return err_set(err, EINVAL,
			       "path: expected " SEGMENTS_PREFIX "HOST/BOOT_ID/EPOCH/SEQUENCE");
	return segment_name_parse(name, part[0], part[1], part[2], part[3], err);
}

static int parse_hash(struct MHD_Connection *c, char out[SEGMENT_HASH_TEXT], struct err *err)
{
	const char *text = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Blkcast-Hash");

	if (!text || strlen(text) != SEGMENT_HASH_TEXT - 1 ||
	    strspn(text, "0123456789abcdefABCDEF") != SEGMENT_HASH_TEXT - 1)
		return err_set(err, EINVAL, "Blkcast-Hash: expected 32 hexadecimal digits");
	for (int i = 0; i < SEGMENT_HASH_TEXT; i++)
		out[i] = (char)(text[i] >= 'A' && text[i] <= 'F' ? text[i] + 32 : text[i]);
	return 0;
}

/* Before the body: what can be refused already is. */
static enum MHD_Result begin_upload(struct server *s, struct MHD_Connection *c, const char *url,
				    struct exchange *x)
{
	const char *text = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
	uint64_t length = text ? strtoull(text, NULL, 10) : 0;

	x->is_upload = true;
	if (length > SEGMENT_MAX_BYTES) {
		err_set(&x->why, EFBIG, "Content-Length: expected at most %u", SEGMENT_MAX_BYTES);
		x->refusal = MHD_HTTP_CONTENT_TOO_LARGE;
		return refuse(s, c, x->refusal, &x->why, 0);
	}
	if (parse_url(url + strlen(SEGMENTS_PREFIX), &x->name, &x->why) < 0 ||
	    parse_hash(c, x->hash, &x->why) < 0) {
		refuse_later(s, x, MHD_HTTP_BAD_REQUEST);
		return MHD_YES;
	}
	if (!reserve(s, x, text ? (size_t)length + 1 : CHUNK_BYTES)) {
		err_set(&x->why, ENOMEM, "too many bodies under way");
		refuse_later(s, x, MHD_HTTP_SERVICE_UNAVAILABLE);
	}
	return MHD_YES;
}

static void take_body(struct server *s, struct exchange *x, const char *data, size_t nr)
{
	size_t cap = x->cap;

	if (x->refusal)
		return;
	if (nr > SEGMENT_MAX_BYTES - x->len) {
		err_set(&x->why, EFBIG, "body: expected at most %u bytes", SEGMENT_MAX_BYTES);
		refuse_later(s, x, MHD_HTTP_CONTENT_TOO_LARGE);
		return;
	}
	while (cap < x->len + nr)
		cap *= 2;
	if (cap > x->cap && !reserve(s, x, cap)) {
		err_set(&x->why, ENOMEM, "too many bodies under way");
		refuse_later(s, x, MHD_HTTP_SERVICE_UNAVAILABLE);
		return;
	}
	memcpy(x->body + x->len, data, nr);
	x->len += nr;
}

static int http_status_of(int status)
{
	switch (status) {
	case -EBADMSG:
	case -EPROTONOSUPPORT:
	case -EINVAL:
		return MHD_HTTP_UNPROCESSABLE_CONTENT;
	case -EFBIG:
		return MHD_HTTP_CONTENT_TOO_LARGE;
	case -EEXIST:
		return MHD_HTTP_CONFLICT;
	default:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* The body is whole: store it and acknowledge, or say why not. */
static enum MHD_Result end_upload(struct server *s, struct MHD_Connection *c, struct exchange *x)
{
	struct ingest_result result;
	struct segment_hash got;
	char text[SEGMENT_HASH_TEXT];
	uint64_t begin_ns = now_ns();
	int status;

	if (x->refusal)
		return refuse(s, c, x->refusal, &x->why,
			      x->refusal == MHD_HTTP_SERVICE_UNAVAILABLE ? RETRY_AFTER_MEMORY : 0);
	got = segment_hash_of(x->body, x->len);
	segment_hash_text(&got, text);
	if (strcmp(text, x->hash) != 0) {
		err_set(&x->why, EINVAL, "Blkcast-Hash: expected %s, got %s of %zu bytes", x->hash,
			text, x->len);
		return refuse(s, c, MHD_HTTP_BAD_REQUEST, &x->why, 0);
	}
	status = ingest_put(s->ingest, &x->name, x->body, x->len, &result, &x->why);
	if (status < 0) {
		int code = http_status_of(status);

		if (!x->why.line[0])
			err_set(&x->why, -status, "%s", strerror(-status));
		return refuse(s, c, code, &x->why,
			      code == MHD_HTTP_SERVICE_UNAVAILABLE ? RETRY_AFTER_DISK : 0);
	}
	server_stats_acknowledged(&s->stats, now_ns() - begin_ns);
	return server_reply_ack(c, &result);
}

static enum MHD_Result answer_streams(struct server *s, struct MHD_Connection *c, const char *host)
{
	struct err why = { 0 };

	if (!segment_word_ok(host)) {
		err_set(&why, EINVAL, "path: expected " STREAMS_PREFIX "HOST");
		return refuse(s, c, MHD_HTTP_BAD_REQUEST, &why, 0);
	}
	return server_reply_streams(c, s->ingest, host);
}

static enum MHD_Result answer_metrics(struct server *s, struct MHD_Connection *c)
{
	struct server_gauges gauges = {
		.body_bytes = __atomic_load_n(&s->body_bytes, __ATOMIC_RELAXED),
		.nr_active = __atomic_load_n(&s->nr_active, __ATOMIC_RELAXED),
	};
	struct ingest_counts counts = ingest_counted(s->ingest);

	return server_reply_metrics(c, &s->stats, &counts, &gauges);
}

/* Whether the path is one of ours, and the method it takes. */
static const char *method_of(const char *url)
{
	if (strncmp(url, SEGMENTS_PREFIX, strlen(SEGMENTS_PREFIX)) == 0)
		return "PUT";
	if (strncmp(url, STREAMS_PREFIX, strlen(STREAMS_PREFIX)) == 0 ||
	    strcmp(url, "/metrics") == 0 || strcmp(url, "/healthz") == 0)
		return "GET";
	return NULL;
}

static enum MHD_Result answer(struct server *s, struct MHD_Connection *c, const char *url,
			      const char *method)
{
	const char *allowed = method_of(url);
	struct err why = { 0 };

	if (!allowed) {
		err_set(&why, ENOENT,
			"path: expected " SEGMENTS_PREFIX "..., " STREAMS_PREFIX
			"HOST, /metrics or /healthz");
		return refuse(s, c, MHD_HTTP_NOT_FOUND, &why, 0);
	}
	if (strcmp(method, allowed) != 0 &&
	    !(strcmp(method, "HEAD") == 0 && strcmp(allowed, "GET") == 0)) {
		server_stats_refused(&s->stats, MHD_HTTP_METHOD_NOT_ALLOWED);
		return server_reply_not_allowed(c, allowed);
	}
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(s, c);
	if (strcmp(url, "/healthz") == 0)
		return server_reply_text(c, "ok\n");
	return answer_streams(s, c, url + strlen(STREAMS_PREFIX));
}

/* Called once per request before its body, then with parts of the body, then once at its end. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *nr_data, void **state)
{
	struct server *s = ctx;
	struct exchange *x = *state;

	(void)version;
	if (!x) {
		x = calloc(1, sizeof(*x));
		if (!x)
			return MHD_NO;
		*state = x;
		__atomic_add_fetch(&s->nr_active, 1, __ATOMIC_RELAXED);
		if (strcmp(method, "PUT") == 0 &&
		    strncmp(url, SEGMENTS_PREFIX, strlen(SEGMENTS_PREFIX)) == 0)
			return begin_upload(s, c, url, x);
		return MHD_YES;
	}
	if (*nr_data) {
		if (x->is_upload)
			take_body(s, x, data, *nr_data);
		*nr_data = 0;
		return MHD_YES;
	}
	return x->is_upload ? end_upload(s, c, x) : answer(s, c, url, method);
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct server *s = ctx;
	struct exchange *x = *state;

	(void)c;
	(void)code;
	if (!x)
		return;
	release_body(s, x);
	free(x);
	*state = NULL;
	__atomic_sub_fetch(&s->nr_active, 1, __ATOMIC_RELAXED);
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	if (a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
	return false;
}

/* "ADDR:PORT" to an address; the caller frees it. */
static int parse_listen(const char *listen, struct addrinfo **out, struct err *err)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	const char *colon = strrchr(listen, ':');
	char host[256];
	size_t len;
	int code;

	if (!colon || colon == listen || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    !colon[1])
		return err_set(err, EINVAL, "--listen: expected ADDR:PORT, got '%s'", listen);
	len = (size_t)(colon - listen);
	if (listen[0] == '[' && colon[-1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)len - 2, listen + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)len, listen);
	code = getaddrinfo(host, colon + 1, &hints, out);
	if (code)
		return err_set(err, EINVAL, "--listen %s: %s", listen, gai_strerror(code));
	return 0;
}

/* A listening socket of our own, so that errors have their number and the port is known. */
static int listen_on(const struct server_config *config, uint16_t *port, struct err *err)
{
	struct sockaddr_storage bound;
	socklen_t bound_bytes = sizeof(bound);
	struct addrinfo *address;
	int fd, one = 1;
	int status = parse_listen(config->listen, &address, err);

	if (status < 0)
		return status;
	if (!config->insecure && !is_loopback(address->ai_addr)) {
		freeaddrinfo(address);
		return err_set(err, EINVAL,
			       "--listen %s: not a loopback address, and the connection is not "
			       "encrypted; --insecure allows it",
			       config->listen);
	}
	fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &bound_bytes) < 0) {
		status = err_set(err, errno, "--listen %s: %s", config->listen, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = status;
	} else {
		/* sin_port and sin6_port share their place */
		*port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
	}
	freeaddrinfo(address);
	return fd;
}

int server_start(struct server **out, struct store *store, const struct server_config *config,
		 struct err *err)
{
	struct server *s = calloc(1, sizeof(*s));
	unsigned int nr = config->nr_connections ? config->nr_connections : NR_CONNECTIONS;
	int fd, status;

	if (!s)
		return -ENOMEM;
	s->body_limit = config->body_bytes ? config->body_bytes : BODY_BYTES;
	status = ingest_new(&s->ingest, store);
	if (status < 0)
		goto out;
	fd = status = listen_on(config, &s->port, err);
	if (status < 0)
		goto out;
	s->daemon =
		MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
					 MHD_USE_POLL | MHD_USE_ITC,
				 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
				 MHD_OPTION_CONNECTION_LIMIT, nr,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S,
				 MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
				 MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_END);
	if (!s->daemon) {
		close(fd);
		status = err_set(err, EIO, "--listen %s: the HTTP server does not start",
				 config->listen);
		goto out;
	}
	status = 0;
out:
	if (status < 0) {
		ingest_free(s->ingest);
		free(s);
		return status;
	}
	*out = s;
	return 0;
}

uint16_t server_port(const struct server *s)
{
	return s->port;
}

void server_stop(struct server *s)
{
	const struct timespec tick = { .tv_nsec = 20000000 };
	MHD_socket fd;

	if (!s)
		return;
	fd = MHD_quiesce_daemon(s->daemon);
	for (int i = 0; i < DRAIN_S * 50; i++) {
		if (__atomic_load_n(&s->nr_active, __ATOMIC_RELAXED) == 0)
			break;
		nanosleep(&tick, NULL);
	}
	MHD_stop_daemon(s->daemon);
	if (fd != MHD_INVALID_SOCKET)
		close(fd);
	ingest_free(s->ingest);
	free(s);
}
