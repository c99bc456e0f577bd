// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/server.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/serve/http/server_listen.h"
#include "analyzer/serve/http/server_reply.h"
#include "analyzer/serve/http/server_state.h"
#include "analyzer/serve/http/server_trim.h"
#include "base/system/clock.h"

#define NR_CONNECTIONS	  256
#define BODY_BYTES	  (256ull << 20)
#define CONNECTION_BYTES  (4u << 10) /* the head of a request, or a part of its body; and a reply */
#define PER_ADDRESS	  64
#define RATE_PER_S	  200
#define CLIENT_UPLOADS	  8
#define CLIENT_BODY_BYTES (2ull * SEGMENT_MAX_BYTES + (64u << 10))
#define REQUEST_S	  60
#define ADMIT_PER_S	  1000
#define ADMIT_BURST_S	  1
#define ADMIT_OWED	  64	  /* handshakes that wait for a processor; no more begin above it */
#define ADMIT_WAIT_NS	  2000000 /* time until the waiting handshakes are counted again */
#define ADMIT_WAITS	  500	  /* number of such waits for one connection, at most */
#define HOST_SEGMENTS_PER_DAY \
	1000000			 /* 750 000 requests a second; 86 400 of a second each are usual */
#define OPEN_S	    10		 /* at most, for a handshake and the first head */
#define STACK_BYTES (512u << 10) /* A batch of decoded requests is kept on the stack. */
#define DRAIN_S	    30		 /* requests under way at SIGTERM */

static const char *server_argument(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

/*
 * A query of streams is limited like an upload, because it takes a lock that acknowledgements wait
 * for.
 */
static enum MHD_Result answer_streams(struct server *s, struct MHD_Connection *c,
				      struct exchange *x, const char *host)
{
	struct head_streams asked;
	int ret = 0;

	if (head_streams(host, server_argument(c, "boot_id"), server_argument(c, "epoch"),
			 server_argument(c, "from_boot_id"), server_argument(c, "from_epoch"),
			 &asked, &x->why) < 0)
		ret = MHD_HTTP_BAD_REQUEST;
	if (ret == 0)
		ret = server_check_access(s, c, asked.from.host, &x->why);
	if (ret)
		return server_refuse(s, c, ret, &x->why, 0);
	x->name = asked.from;
	server_admit(s, c, x);
	if (x->refusal)
		return server_refuse(s, c, x->refusal, &x->why, x->retry_after_s);
	return server_reply_streams(c, s->ingest, &asked);
}

/*
 * Answers known senders, and any program on this machine. The answer to a sender hides the hosts of
 * other tenants.
 */
static enum MHD_Result answer_metrics(struct server *s, struct MHD_Connection *c)
{
	const struct sockaddr *address = server_address(c);
	struct err why = { 0 };
	bool is_here = address && server_is_loopback(address);
	int ret = is_here ? 0 : server_check_access(s, c, NULL, &why);
	struct server_gauges gauges = {
		.body_bytes = __atomic_load_n(&s->body_bytes, __ATOMIC_RELAXED),
		.nr_active = __atomic_load_n(&s->nr_active, __ATOMIC_RELAXED),
		.nr_shut = guard_nr_shut(s->guard),
		.nr_delayed = __atomic_load_n(&s->admission.nr_delayed, __ATOMIC_RELAXED),
		.nr_policies = ask_watch_nr_policies(s->asks),
		.kept_back = is_here || !access_has_tenants(s->access) ? s->kept_back : NULL,
		.retention = s->config.retention,
	};
	struct ingest_counts counts = ingest_counted(s->ingest);

	if (ret)
		return server_refuse(s, c, ret, &why, 0);
	return server_reply_metrics(c, &s->stats, &counts, &gauges);
}

/* Returns the method that a path of this server takes, or NULL if there is no such path. */
static const char *method_of(const char *url)
{
	if (strncmp(url, SEGMENTS_PREFIX, strlen(SEGMENTS_PREFIX)) == 0)
		return "PUT";
	if (strncmp(url, STREAMS_PREFIX, strlen(STREAMS_PREFIX)) == 0 ||
	    strcmp(url, "/metrics") == 0 || strcmp(url, "/healthz") == 0)
		return "GET";
	return NULL;
}

static enum MHD_Result server_answer(struct server *s, struct MHD_Connection *c, struct exchange *x,
				     const char *url, const char *method)
{
	const char *allowed = method_of(url);
	struct err why = { 0 };

	if (!allowed) {
		err_set(&why, ENOENT,
			"path: expected " SEGMENTS_PREFIX "..., " STREAMS_PREFIX
			"HOST, /metrics or /healthz");
		return server_refuse(s, c, MHD_HTTP_NOT_FOUND, &why, 0);
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
	return answer_streams(s, c, x, url + strlen(STREAMS_PREFIX));
}

/* Called once per request before its body, then with parts of the body, then once at its end. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *nr_data, void **state)
{
	struct server *s = ctx;
	struct exchange *x = *state;
	enum MHD_Result result;

	if (!x) {
		x = calloc(1, sizeof(*x));
		if (!x)
			return MHD_NO;
		*state = x;
		__atomic_add_fetch(&s->nr_active, 1, __ATOMIC_RELAXED);
		guard_enter(s->guard, server_connection(c), GUARD_BODY);
		if (server_reply_wrong_head(c, version, &result)) {
			server_stats_refused(&s->stats, MHD_HTTP_BAD_REQUEST);
			return result;
		}
		if (strcmp(method, "PUT") == 0 &&
		    strncmp(url, SEGMENTS_PREFIX, strlen(SEGMENTS_PREFIX)) == 0)
			return upload_begin(s, c, url, x);
		return MHD_YES;
	}
	if (*nr_data) {
		if (x->is_upload)
			upload_take(s, x, data, *nr_data);
		*nr_data = 0;
		return MHD_YES;
	}
	guard_enter(s->guard, server_connection(c), GUARD_WORK);
	result = x->is_upload ? upload_end(s, c, x) : server_answer(s, c, x, url, method);
	guard_enter(s->guard, server_connection(c), GUARD_REPLY);
	return result;
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct server *s = ctx;
	struct exchange *x = *state;

	(void)code;
	guard_enter(s->guard, server_connection(c), GUARD_IDLE);
	if (!x)
		return;
	upload_release(s, x);
	free(x);
	*state = NULL;
	__atomic_sub_fetch(&s->nr_active, 1, __ATOMIC_RELAXED);
	server_trim_thread(server_connection(c));
}

/*
 * Waits while the processors do not keep up with the handshakes that have begun. Each of many that
 * share a processor would take longer than the guard and its client allow, so that none would come
 * to its end.
 */
static void server_wait_for_handshakes(struct server *s)
{
	const struct timespec wait = { .tv_nsec = ADMIT_WAIT_NS };
	unsigned int nr = 0;

	while (nr < ADMIT_WAITS && guard_owes(s->guard, ADMIT_OWED)) {
		nanosleep(&wait, NULL);
		nr++;
	}
	if (nr)
		__atomic_add_fetch(&s->admission.nr_delayed, 1, __ATOMIC_RELAXED);
}

/*
 * libmicrohttpd asks before it accepts a connection, in the one thread that accepts. Above the rate
 * that thread waits: the kernel's queue holds the connections of a storm, and the processors remain
 * for those that were admitted. A thousand connections more a second would cost a processor in
 * handshakes alone.
 */
static enum MHD_Result on_accept(void *ctx, const struct sockaddr *address, socklen_t len)
{
	struct server *s = ctx;
	struct admission *a = &s->admission;
	const double rate = s->config.admit_per_s, most = rate * ADMIT_BURST_S;
	uint64_t now;

	(void)address, (void)len;
	server_wait_for_handshakes(s);
	now = clock_monotonic_ns();
	a->credit += a->at_ns ? (double)(now - a->at_ns) / 1e9 * rate : most;
	if (a->credit > most)
		a->credit = most;
	a->at_ns = now;
	if (a->credit < 1) {
		double wait_s = (1 - a->credit) / rate;
		const struct timespec wait = { (time_t)wait_s,
					       (long)((wait_s - (double)(time_t)wait_s) * 1e9) };

		__atomic_add_fetch(&a->nr_delayed, 1, __ATOMIC_RELAXED);
		nanosleep(&wait, NULL);
	}
	a->credit -= 1;
	return MHD_YES;
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	struct server *s = ctx;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		guard_remove(s->guard, *context);
		*context = NULL;
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	*context = info ? guard_add(s->guard, info->connect_fd, s) : NULL;
}

/* GnuTLS calls this for the certificate to show. MHD has stored its connection in the session. */
static int on_certificate(gnutls_session_t session, const gnutls_datum_t *names, int nr_names,
			  const gnutls_pk_algorithm_t *algorithms, int nr_algorithms,
			  gnutls_pcert_st **chain, unsigned int *nr_chain, gnutls_privkey_t *key)
{
	struct MHD_Connection *c = gnutls_session_get_ptr(session);
	struct connection *connection = c ? server_connection(c) : NULL;
	struct server *s = connection ? connection->owner : NULL;

	(void)names, (void)nr_names, (void)algorithms, (void)nr_algorithms;
	return s ? access_certificate(s->access, chain, nr_chain, key) : -1;
}

static void server_note(struct server *s, const char *line)
{
	if (s->config.note)
		s->config.note(s->config.ctx, line);
}

static void reload(struct server *s, bool all)
{
	struct err err = { 0 };
	char line[ERR_LINE_BYTES + 64];
	int status = access_reload(s->access, all, &err);

	if (status) {
		snprintf(line, sizeof(line), "%s%s%s",
			 status < 0 ? "certificates and tokens stay as they were"
				    : "certificates and tokens read again",
			 err.line[0] ? ": " : "", err.line);
		server_note(s, line);
	}
	if (access_tell_lists_over(s->access, &err))
		server_note(s, err.line);
}

static void on_tick(void *ctx)
{
	reload(ctx, false);
}

void server_reload(struct server *s)
{
	reload(s, true);
}

/* Reads the file as a string: MHD asks clients for certificates if it is given a CA. */
static int read_ca(struct server *s, struct err *err)
{
	const char *path = s->config.access.client_ca;
	gnutls_datum_t data;

	if (!path)
		return 0;
	if (gnutls_load_file(path, &data) < 0)
		return err_set(err, EINVAL, "%s: cannot be read", path);
	s->client_ca = strndup((const char *)data.data, data.size);
	gnutls_free(data.data);
	return s->client_ca ? 0 : err_set(err, ENOMEM, "no memory");
}

static int check_config(const struct server_config *config, struct err *err)
{
	const struct access_config *a = &config->access;

	if (!a->cert != !a->key)
		return err_set(err, EINVAL, "certificate and key: expected both or none");
	if (a->client_ca && !a->cert)
		return err_set(err, EINVAL,
			       "authority of clients: expected a certificate of the server");
	if (a->client_crl && !a->client_ca)
		return err_set(err, EINVAL,
			       "revoked certificates: expected the authority of clients");
	return 0;
}

static int start_daemon(struct server *s, int fd, struct err *err)
{
	const struct server_config *config = &s->config;
	bool has_tls = access_has_tls(s->access);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SERVER_TLS_PRIORITIES },
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)on_certificate },
		{ s->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, s->client_ca },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	s->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC | (has_tls ? MHD_USE_TLS : 0),
		0, on_accept, s, on_request, s, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT,
		config->nr_connections ? config->nr_connections : NR_CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		config->nr_per_address ? config->nr_per_address : PER_ADDRESS,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, config->request_s,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_ARRAY,
		has_tls ? tls : none, MHD_OPTION_END);
	return s->daemon ? 0
			 : err_set(err, EIO, "listen %s: the HTTP server does not start",
				   config->listen);
}

static void server_free(struct server *s)
{
	guard_free(s->guard);
	ask_watch_free(s->asks);
	kept_back_free(s->kept_back);
	clients_free(s->clients);
	clients_free(s->tenants);
	access_free(s->access);
	ingest_free(s->ingest);
	free(s->client_ca);
	free(s);
}

/*
 * No host can fill the store alone: by default a host may use half of the file system. A store that
 * does not count inodes (btrfs) or bytes (a cluster) reports 0; then they are not limited.
 */
static void server_limit_hosts(struct server *s, const struct store *store)
{
	struct ingest_quota quota = s->config.host;
	uint64_t nr_inodes, bytes;

	store_space(store, &nr_inodes, &bytes);
	if (!quota.nr_inodes)
		quota.nr_inodes = nr_inodes / 2;
	if (!quota.bytes)
		quota.bytes = bytes / 2;
	if (!quota.nr_segments_per_day)
		quota.nr_segments_per_day = HOST_SEGMENTS_PER_DAY;
	ingest_limit_hosts(s->ingest, &quota);
}

/* Prepares everything that the daemon needs before it is started. */
static int server_prepare(struct server *s, struct store *store, struct err *err)
{
	const unsigned int open_s = s->config.request_s / 2 ? s->config.request_s / 2 : 1;
	const unsigned int limits[NR_GUARD_PHASES] = {
		[GUARD_OPEN] = open_s < OPEN_S ? open_s : OPEN_S,
		[GUARD_IDLE] = s->config.request_s,
		[GUARD_BODY] = s->config.request_s,
		[GUARD_REPLY] = s->config.request_s,
	};
	const struct client_limits client = { s->config.rate_per_s, CLIENT_UPLOADS,
					      CLIENT_BODY_BYTES };
	const struct client_limits tenant = { 0, UINT32_MAX, s->config.tenant_bytes };
	int token, ret = check_config(&s->config, err);

	if (ret == 0)
		ret = store_lock(store, STORE_LOCK_SERVE, &token, err);
	if (ret == 0)
		ret = access_new(&s->access, &s->config.access, err);
	if (ret == 0)
		ret = read_ca(s, err);
	if (ret == 0)
		ret = ingest_new_in(&s->ingest, store, err);
	if (ret == 0)
		ret = ingest_retire_beside(s->ingest);
	if (ret == 0)
		server_limit_hosts(s, store);
	if (ret == 0)
		ret = clients_new(&s->clients, &client);
	if (ret == 0)
		ret = clients_new(&s->tenants, &tenant);
	if (ret == 0)
		ret = guard_new(&s->guard, limits, on_tick, s);
	if (ret == 0)
		ret = kept_back_new(&s->kept_back);
	if (ret == 0)
		ret = ask_watch_new(&s->asks, store_dir(store), s->config.note, s->config.ctx, err);
	if (ret == 0)
		guard_limit(s->guard,
			    s->config.nr_connections ? s->config.nr_connections : NR_CONNECTIONS);
	return ret;
}

int server_start(struct server **out, struct store *store, const struct server_config *config,
		 struct err *err)
{
	struct server *s = calloc(1, sizeof(*s));
	const char *only_loopback = NULL;
	int fd, ret;

	if (!s)
		return -ENOMEM;
	s->config = *config;
	s->config.request_s = config->request_s ? config->request_s : REQUEST_S;
	s->config.rate_per_s = config->rate_per_s > 0 ? config->rate_per_s : RATE_PER_S;
	s->config.admit_per_s = config->admit_per_s > 0 ? config->admit_per_s : ADMIT_PER_S;
	s->body_limit = config->body_bytes ? config->body_bytes : BODY_BYTES;
	if (!s->config.tenant_bytes)
		s->config.tenant_bytes = s->body_limit / 2;
	ret = server_prepare(s, store, err);
	if (ret < 0)
		goto fail;
	if (!config->insecure && !access_has_tls(s->access))
		only_loopback = "the connection is not encrypted";
	else if (!config->insecure && !access_asks(s->access))
		only_loopback = "anybody could write";
	fd = ret = server_listen("listen", config->listen, only_loopback, &s->port, err);
	if (ret < 0)
		goto fail;
	ret = start_daemon(s, fd, err);
	if (ret < 0) {
		close(fd);
		goto fail;
	}
	*out = s;
	return 0;
fail:
	server_free(s);
	return ret;
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
	server_free(s);
}
