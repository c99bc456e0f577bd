// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "analyzer/serve/http/server_listen.h"
#include "analyzer/serve/http/server_reply.h"
#include "analyzer/serve/http/server_state.h"
#include "base/system/clock.h"

#define CHUNK_BYTES	   (64u << 10)	  /* first memory for a body of unknown length */
#define LOOK_UP_NS	   60000000000ull /* a certificate can expire while its connection lasts */
#define RETRY_AFTER_MEMORY 1
#define RETRY_AFTER_DISK   5
#define RETRY_AFTER_QUOTA  300 /* retention has to make room */

/* Gives back the memory that the node, the tenant and the client reserved for the body. */
static void server_upload_return(struct server *s, struct exchange *x, uint64_t bytes)
{
	__atomic_sub_fetch(&s->body_bytes, bytes, __ATOMIC_RELAXED);
	clients_return(s->tenants, x->tenant, bytes);
	clients_return(s->clients, x->client, bytes);
}

/*
 * Reserves memory for the body. Returns 0, else the HTTP status with a line in x->why: 429 where
 * the client or its tenant has used up its share, 503 where the node has no more.
 */
static int server_upload_reserve(struct server *s, struct exchange *x, size_t cap)
{
	uint64_t more = cap - x->cap;
	uint8_t *body = NULL;

	if (x->client && clients_reserve(s->clients, x->client, more) < 0) {
		err_set(&x->why, EAGAIN, "body: too many bytes of host %s are under way",
			x->name.host);
		return MHD_HTTP_TOO_MANY_REQUESTS;
	}
	if (x->tenant && clients_reserve(s->tenants, x->tenant, more) < 0) {
		clients_return(s->clients, x->client, more);
		err_set(&x->why, EAGAIN,
			"body: too many bytes of the tenant of host %s are under way",
			x->name.host);
		return MHD_HTTP_TOO_MANY_REQUESTS;
	}
	if (__atomic_add_fetch(&s->body_bytes, more, __ATOMIC_RELAXED) <= s->body_limit)
		body = realloc(x->body, cap);
	if (!body) {
		server_upload_return(s, x, more);
		err_set(&x->why, ENOMEM, "body: too many bytes are under way here");
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	}
	x->body = body;
	x->cap = cap;
	return 0;
}

void upload_release(struct server *s, struct exchange *x)
{
	free(x->body);
	__atomic_sub_fetch(&s->body_bytes, x->cap, __ATOMIC_RELAXED);
	clients_leave(s->tenants, x->tenant, x->cap);
	clients_leave(s->clients, x->client, x->cap);
	x->client = x->tenant = NULL;
	x->body = NULL;
	x->len = x->cap = 0;
}

/* The rest of the body is read and discarded, so that the sender reads the reply. */
static void refuse_later(struct server *s, struct exchange *x, int status, int retry_after_s)
{
	x->refusal = status;
	x->retry_after_s = retry_after_s;
	upload_release(s, x);
}

enum MHD_Result server_refuse(struct server *s, struct MHD_Connection *c, int status,
			      const struct err *why, int retry_after_s)
{
	server_stats_refused(&s->stats, status);
	/*
	 * The wait grows by up to its own length, at most a minute, and differs between refusals.
	 */
	if (retry_after_s > 0)
		retry_after_s += (int)(__atomic_add_fetch(&s->nr_retries, 1, __ATOMIC_RELAXED) *
				       2654435761u % 4294967296u %
				       (uint64_t)(retry_after_s < 60 ? retry_after_s + 1 : 60));
	return server_reply_error(c, status, why->line, retry_after_s);
}

struct connection *server_connection(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

const struct sockaddr *server_address(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

/* Returns the hosts of the connection's certificate, looked up again when that is due. */
static const struct access_identity *certificate_of(struct server *s, struct MHD_Connection *c)
{
	static const struct access_identity nobody;
	struct connection *connection = server_connection(c);
	const union MHD_ConnectionInfo *info;

	if (!access_asks_certificate(s->access) || !connection)
		return &nobody;
	if (connection->certificate &&
	    connection->certificate->generation == access_generation(s->access) &&
	    clock_monotonic_ns() - connection->looked_up_ns < LOOK_UP_NS)
		return connection->certificate;
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info || !info->tls_session)
		return &nobody;
	if (!connection->certificate)
		connection->certificate = calloc(1, sizeof(*connection->certificate));
	if (!connection->certificate)
		return &nobody;
	access_by_certificate(s->access, info->tls_session, connection->certificate);
	connection->looked_up_ns = clock_monotonic_ns();
	return connection->certificate;
}

int server_check_access(struct server *s, struct MHD_Connection *c, const char *host,
			struct err *err)
{
	const struct access_identity *by_certificate;
	struct access_identity by_token;
	char tenant[SEGMENT_NAME_BYTES];

	if (!access_asks(s->access))
		return 0;
	by_certificate = certificate_of(s, c);
	access_by_token(s->access,
			MHD_lookup_connection_value(c, MHD_HEADER_KIND,
						    MHD_HTTP_HEADER_AUTHORIZATION),
			&by_token);
	if (!by_certificate->nr && !by_token.nr) {
		if (access_lists_over(s->access))
			err_set(err, EACCES,
				"credential: client certificates are refused, as the revocation list "
				"here is past its nextUpdate");
		else
			err_set(err, EACCES,
				"credential: expected a client certificate or a token that is known "
				"here");
		return MHD_HTTP_UNAUTHORIZED;
	}
	guard_know(s->guard, server_connection(c));
	if (!host)
		return 0;
	if (!access_permits(by_certificate, host) && !access_permits(&by_token, host)) {
		err_set(err, EACCES, "credential: it is not of host %s", host);
		return MHD_HTTP_FORBIDDEN;
	}
	if (!access_tenant_of(s->access, host, tenant)) {
		err_set(err, EACCES, "host %s: it belongs to no tenant", host);
		return MHD_HTTP_FORBIDDEN;
	}
	return 0;
}

void server_admit(struct server *s, struct MHD_Connection *c, struct exchange *x)
{
	const struct sockaddr *address = server_address(c);
	char name[CLIENT_NAME_BYTES], tenant[SEGMENT_NAME_BYTES];
	uint32_t wait_s;
	int status;

	if (access_asks(s->access))
		snprintf(name, sizeof(name), "%s", x->name.host);
	else if (!address || !server_is_loopback(address))
		server_address_text(address, name, sizeof(name));
	else
		return;
	status = clients_enter(s->clients, name, clock_monotonic_ns(), &x->client, &wait_s);
	if (status == -EAGAIN) {
		err_set(&x->why, EAGAIN, "rate: too many requests of %s", name);
		refuse_later(s, x, MHD_HTTP_TOO_MANY_REQUESTS, (int)wait_s);
	} else if (status < 0) {
		err_set(&x->why, EAGAIN, "too many clients");
		refuse_later(s, x, MHD_HTTP_SERVICE_UNAVAILABLE, RETRY_AFTER_MEMORY);
	} else if (access_tenant_of(s->access, x->name.host, tenant) && tenant[0] &&
		   clients_enter(s->tenants, tenant, clock_monotonic_ns(), &x->tenant, &wait_s) <
			   0) {
		err_set(&x->why, EAGAIN, "too many tenants");
		refuse_later(s, x, MHD_HTTP_SERVICE_UNAVAILABLE, RETRY_AFTER_MEMORY);
	}
}

static bool waits_to_send(struct MHD_Connection *c)
{
	const char *expect = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Expect");

	return expect && strcasecmp(expect, "100-continue") == 0;
}

/* Returns whether the sender waits for 100-continue although the segment is stored already. */
static bool is_here(struct server *s, struct MHD_Connection *c, const struct exchange *x,
		    struct ingest_result *result)
{
	return waits_to_send(c) && ingest_find(s->ingest, &x->name, x->hash, result) == 1;
}

/* Acknowledges the segment, and tells its agent which requests are wanted. */
static enum MHD_Result server_upload_ack(struct server *s, struct MHD_Connection *c,
					 const struct ingest_result *result)
{
	char text[ASK_FIELD_BYTES];
	char policy[POLICY_FIELD_BYTES];
	bool is_asked = ask_watch_field(s->asks, result->name.host, text);
	bool is_told = ask_watch_policy(s->asks, result->name.host, policy);

	return server_reply_ack(c, result, is_asked ? text : NULL, is_told ? policy : NULL);
}

enum MHD_Result upload_begin(struct server *s, struct MHD_Connection *c, const char *url,
			     struct exchange *x)
{
	const char *text = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Length");
	uint64_t length = text ? strtoull(text, NULL, 10) : 0;
	struct ingest_result here;
	int status;

	x->is_upload = true;
	if (length > SEGMENT_MAX_BYTES) {
		err_set(&x->why, EFBIG, "Content-Length: expected at most %u", SEGMENT_MAX_BYTES);
		refuse_later(s, x, MHD_HTTP_CONTENT_TOO_LARGE, 0);
		/*
		 * A sender that is still sending its body would miss a reply that comes before the
		 * end of the body.
		 */
		return waits_to_send(c) ? server_refuse(s, c, x->refusal, &x->why, 0) : MHD_YES;
	}
	status = server_check_access(s, c, NULL, &x->why);
	if (status == 0 &&
	    (head_segment_path(url + strlen(SEGMENTS_PREFIX), &x->name, &x->why) < 0 ||
	     head_segment_hash(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Blkcast-Hash"),
			       x->hash, &x->why) < 0))
		status = MHD_HTTP_BAD_REQUEST;
	if (status == 0)
		status = server_check_access(s, c, x->name.host, &x->why);
	if (status) {
		refuse_later(s, x, status, 0);
		return MHD_YES;
	}
	server_admit(s, c, x);
	if (x->refusal)
		return MHD_YES;
	if (is_here(s, c, x, &here)) {
		x->refusal = MHD_HTTP_OK;
		return server_upload_ack(s, c, &here);
	}
	status = server_upload_reserve(s, x, text ? (size_t)length + 1 : CHUNK_BYTES);
	if (status)
		refuse_later(s, x, status, RETRY_AFTER_MEMORY);
	return MHD_YES;
}

void upload_take(struct server *s, struct exchange *x, const char *data, size_t nr)
{
	size_t cap = x->cap;
	int status;

	if (x->refusal)
		return;
	if (nr > SEGMENT_MAX_BYTES - x->len) {
		err_set(&x->why, EFBIG, "body: expected at most %u bytes", SEGMENT_MAX_BYTES);
		refuse_later(s, x, MHD_HTTP_CONTENT_TOO_LARGE, 0);
		return;
	}
	while (cap < x->len + nr)
		cap *= 2;
	status = cap > x->cap ? server_upload_reserve(s, x, cap) : 0;
	if (status) {
		refuse_later(s, x, status, RETRY_AFTER_MEMORY);
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
	case -EILSEQ:
		return MHD_HTTP_UNPROCESSABLE_CONTENT;
	case -EFBIG:
		return MHD_HTTP_CONTENT_TOO_LARGE;
	case -EEXIST:
		return MHD_HTTP_CONFLICT;
	case -EUSERS:
		return MHD_HTTP_TOO_MANY_REQUESTS;
	case -EDQUOT:
		return MHD_HTTP_INSUFFICIENT_STORAGE;
	default:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	}
}

/*
 * Returns the seconds after which a sender may try again; 0: the same request will never succeed.
 */
static int retry_after_s(int http_status)
{
	const int64_t day_s = 86400;

	switch (http_status) {
	/* the quota of the day, which is renewed when the day ends */
	case MHD_HTTP_TOO_MANY_REQUESTS:
		return (int)(day_s - (int64_t)time(NULL) % day_s);
	case MHD_HTTP_INSUFFICIENT_STORAGE:
		return RETRY_AFTER_QUOTA;
	case MHD_HTTP_SERVICE_UNAVAILABLE:
		return RETRY_AFTER_DISK;
	default:
		return 0;
	}
}

enum MHD_Result upload_end(struct server *s, struct MHD_Connection *c, struct exchange *x)
{
	struct ingest_result result;
	struct segment_hash got;
	char text[SEGMENT_HASH_TEXT];
	uint64_t begin_ns = clock_monotonic_ns();
	int ret;

	if (x->refusal)
		return server_refuse(s, c, x->refusal, &x->why, x->retry_after_s);
	/* The credential may have been revoked since the body began. */
	ret = server_check_access(s, c, x->name.host, &x->why);
	if (ret)
		return server_refuse(s, c, ret, &x->why, 0);
	got = segment_hash_of(x->body, x->len);
	segment_hash_text(&got, text);
	if (strcmp(text, x->hash) != 0) {
		err_set(&x->why, EINVAL, "Blkcast-Hash: expected %s, got %s of %zu bytes", x->hash,
			text, x->len);
		return server_refuse(s, c, MHD_HTTP_BAD_REQUEST, &x->why, 0);
	}
	ret = ingest_put(s->ingest, &x->name, x->body, x->len, &result, &x->why);
	if (ret < 0) {
		int code = http_status_of(ret);

		if (!x->why.line[0])
			err_set(&x->why, -ret, "%s", strerror(-ret));
		return server_refuse(s, c, code, &x->why, retry_after_s(code));
	}
	server_stats_acknowledged(&s->stats, clock_monotonic_ns() - begin_ns);
	kept_back_count(s->kept_back, result.name.host, result.nr_kept_back);
	if (s->config.stored)
		s->config.stored(s->config.stored_ctx, &x->name);
	return server_upload_ack(s, c, &result);
}
