// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/page/page_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "analyzer/serve/http/server_listen.h"
#include "analyzer/serve/http/server_reply.h"
#include "analyzer/serve/page/page_reply.h"
#include "analyzer/serve/page/page_server_state.h"

#define IDLE_S	    60
#define HEAD_S	    10 /* for the handshake and the first head */
#define HEAD_BYTES  (16u << 10)
#define STACK_BYTES (512u << 10)
#define HOST_BYTES  256

static struct connection *page_connection(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Gives a Host field without its port: "[::1]:7119" becomes "[::1]". */
static void page_host_name(const char *field, char out[HOST_BYTES])
{
	const char *end = field[0] == '[' ? strchr(field, ']') : strchr(field, ':');
	size_t len = end ? (size_t)(end - field) + (field[0] == '[') : strlen(field);

	len = len < HOST_BYTES ? len : HOST_BYTES - 1;
	memcpy(out, field, len);
	out[len] = '\0';
}

/*
 * Returns whether the request names this machine. Another site can let its own DNS name resolve to
 * the loopback address of this machine (DNS rebinding). The browser then sends that name, and would
 * let that site read the answer.
 */
static bool page_host_ok(struct MHD_Connection *c)
{
	const char *field = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
	char name[HOST_BYTES];
	struct in_addr address;

	if (!field)
		return false;
	page_host_name(field, name);
	if (strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* A browser reports which site a request comes from. Requests from other sites are refused. */
static bool page_site_ok(struct MHD_Connection *c)
{
	const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
	const char *mode = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Mode");

	if (!site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0)
		return true;
	return mode && strcmp(mode, "navigate") == 0; /* A person follows a link. */
}

#define READS "GET, HEAD"

/*
 * A path has one of the two functions; `change` is told the method. words: the names of its
 * arguments. Both lists have commas.
 */
static const struct page_path {
	const char *path, *methods, *words;
	enum MHD_Result (*answer)(struct page_server *p, struct MHD_Connection *c,
				  const struct page_reader *reader);
	enum MHD_Result (*change)(struct page_server *p, struct MHD_Connection *c,
				  const struct page_reader *reader, const char *method);
} page_paths[] = {
	{ "/api/v1/fleet", READS, "sort,order,q,group,host,from,limit", page_answer_fleet, NULL },
	{ "/api/v1/device", READS, "host,device,begin_s,end_s,step_s", page_answer_device, NULL },
	{ "/api/v1/who", READS, "host,device,begin_s,end_s", page_answer_who, NULL },
	{ "/api/v1/access", READS, "host,device,begin_s,end_s", page_answer_access, NULL },
	{ "/api/v1/live", READS, "", page_answer_live, NULL },
	{ "/api/v1/objectives", READS, "", page_answer_objectives, NULL },
	{ "/api/v1/models", READS, "", page_answer_models, NULL },
	{ "/api/v1/question/page", READS, "id", page_answer_question_page, NULL },
	{ "/api/v1/question", READS ", POST, DELETE",
	  "id,ask,host,device,begin_s,end_s,model,scenario,slo,size,hits,hit_time,miss_time", NULL,
	  page_answer_question },
	{ "/api/v1/saved", READS ", POST, DELETE", "id,question,name", NULL, page_answer_saved },
	{ "/api/v1/keep", "POST", "host,begin_s,end_s", NULL, page_answer_keep },
};

static bool page_list_has(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (; *list; list += strcspn(list, ", "), list += strspn(list, ", "))
		if (strcspn(list, ", ") == len && strncmp(list, word, len) == 0)
			return true;
	return false;
}

struct page_words {
	const struct page_path *path;
	char wrong[160]; /* what is wrong with a word, or "" */
};

static enum MHD_Result page_word_check(void *ctx, enum MHD_ValueKind kind, const char *key,
				       size_t key_size, const char *value, size_t value_size)
{
	struct page_words *w = ctx;

	(void)kind;
	if (strlen(key) != key_size || !page_list_has(w->path->words, key))
		snprintf(w->wrong, sizeof(w->wrong),
			 "a word of this request is unknown; expected %s",
			 w->path->words[0] ? w->path->words : "none");
	else if (value && strlen(value) != value_size)
		snprintf(w->wrong, sizeof(w->wrong), "%s: expected text without a zero byte", key);
	return w->wrong[0] ? MHD_NO : MHD_YES;
}

/*
 * Opens or ends a session. Only a script of this origin can send the field X-Blkcast; a form of
 * another site cannot.
 */
static enum MHD_Result page_answer_session(struct page_server *p, struct MHD_Connection *c,
					   const char *method)
{
	char cookie[PAGE_COOKIE_BYTES];
	int ret = 0;

	if (strcmp(method, "POST") != 0 && strcmp(method, "DELETE") != 0)
		return page_reply_method(c, "POST, DELETE");
	if (!MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-Blkcast"))
		return page_reply_error(c, MHD_HTTP_FORBIDDEN,
					"X-Blkcast: expected this field with a change");
	if (method[0] == 'D')
		page_login_close(p->login, c, cookie);
	else
		ret = page_login_open(p->login, c, cookie);
	if (ret == -EACCES)
		return page_reply_error(c, MHD_HTTP_UNAUTHORIZED,
					"Authorization: this token is not known here");
	if (ret < 0)
		return page_reply_error(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no session can be made");
	return page_reply_cookie(c, cookie);
}

static const struct page_path *page_path_find(const char *url)
{
	for (size_t i = 0; i < sizeof(page_paths) / sizeof(page_paths[0]); i++)
		if (strcmp(url, page_paths[i].path) == 0)
			return &page_paths[i];
	return NULL;
}

static enum MHD_Result page_answer_data(struct page_server *p, struct MHD_Connection *c,
					const char *url, const char *method)
{
	const struct page_path *path = page_path_find(url);
	struct page_words words = { .path = path };
	struct page_reader reader;
	const char *methods = path ? path->methods : READS;

	if (!page_list_has(methods, method))
		return page_reply_method(c, methods);
	if (!page_list_has(READS, method) &&
	    !MHD_lookup_connection_value(c, MHD_HEADER_KIND, "X-Blkcast"))
		return page_reply_error(c, MHD_HTTP_FORBIDDEN,
					"X-Blkcast: expected this field with a change");

	if (page_login_who(p->login, c, &reader) < 0)
		return page_reply_error(
			c, MHD_HTTP_UNAUTHORIZED,
			"Authorization: expected a login, a token or a certificate");
	if (page_login_asks(p->login))
		guard_know(p->guard, page_connection(c));
	if (path) {
		MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, page_word_check, &words);
		if (words.wrong[0])
			return page_reply_error(c, MHD_HTTP_BAD_REQUEST, words.wrong);
		return path->change ? path->change(p, c, &reader, method)
				    : path->answer(p, c, &reader);
	}
	return page_reply_error(
		c, MHD_HTTP_NOT_FOUND,
		"path: expected /, /assets/..., /api/v1/fleet, /api/v1/device, "
		"/api/v1/who, /api/v1/access, /api/v1/live, /api/v1/objectives, /api/v1/models, /api/v1/question, "
		"/api/v1/saved, /api/v1/keep or /api/v1/session");
}

static enum MHD_Result page_answer(struct page_server *p, struct MHD_Connection *c, const char *url,
				   const char *method)
{
	enum MHD_Result result;

	if (!page_login_asks(p->login) && !page_host_ok(c))
		return page_reply_error(
			c, MHD_HTTP_MISDIRECTED_REQUEST,
			"Host: expected the name or address of this machine's loopback");
	if (!page_site_ok(c))
		return page_reply_error(c, MHD_HTTP_FORBIDDEN,
					"Sec-Fetch-Site: a page of another place may not ask");
	if (strcmp(url, "/api/v1/session") == 0)
		return page_answer_session(p, c, method);
	if (page_list_has(READS, method) && page_reply_file(p->packed, c, url, &result))
		return result;
	return page_answer_data(p, c, url, method);
}

/*
 * MHD calls this once before the body, then with parts of the body, which is not expected, and once
 * at the end.
 */
static enum MHD_Result page_on_request(void *ctx, struct MHD_Connection *c, const char *url,
				       const char *method, const char *version, const char *data,
				       size_t *nr_data, void **state)
{
	static const char begun;
	struct page_server *p = ctx;
	enum MHD_Result result;

	(void)data;
	if (!*state) {
		*state = (void *)(uintptr_t)&begun;
		guard_enter(p->guard, page_connection(c), GUARD_WORK);
		return server_reply_wrong_head(c, version, &result) ? result : MHD_YES;
	}
	if (*nr_data)
		return MHD_NO; /* No request to this server has a body; the connection is closed. */
	result = page_answer(p, c, url, method);
	/* A page that waits for events takes its reply for hours; their number has a limit. */
	if (strcmp(url, "/api/v1/live") != 0)
		guard_enter(p->guard, page_connection(c), GUARD_REPLY);
	return result;
}

static void page_on_completed(void *ctx, struct MHD_Connection *c, void **state,
			      enum MHD_RequestTerminationCode code)
{
	struct page_server *p = ctx;

	(void)state, (void)code;
	guard_enter(p->guard, page_connection(c), GUARD_IDLE);
}

/*
 * MHD stores its connection in the TLS session, and the connection stores the guard's, which knows
 * the page's server.
 */
static void page_on_connection(void *ctx, struct MHD_Connection *c, void **context,
			       enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	struct page_server *p = ctx;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		guard_remove(p->guard, *context);
		*context = NULL;
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	*context = info ? guard_add(p->guard, info->connect_fd, p) : NULL;
}

static int page_on_certificate(gnutls_session_t session, const gnutls_datum_t *names, int nr_names,
			       const gnutls_pk_algorithm_t *algorithms, int nr_algorithms,
			       gnutls_pcert_st **chain, unsigned int *nr_chain,
			       gnutls_privkey_t *key)
{
	struct MHD_Connection *c = gnutls_session_get_ptr(session);
	struct connection *connection = c ? page_connection(c) : NULL;
	struct page_server *p = connection ? connection->owner : NULL;

	(void)names, (void)nr_names, (void)algorithms, (void)nr_algorithms;
	return p ? access_certificate(page_login_access(p->login), chain, nr_chain, key) : -1;
}

static int page_start_daemon(struct page_server *p, int fd, struct err *err)
{
	bool has_tls = access_has_tls(page_login_access(p->login));
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)SERVER_TLS_PRIORITIES },
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)page_on_certificate },
		{ p->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0, p->client_ca },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	p->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ITC | (has_tls ? MHD_USE_TLS : 0),
		0, NULL, NULL, page_on_request, p, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)PAGE_CONNECTIONS,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HEAD_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S,
		MHD_OPTION_NOTIFY_COMPLETED, page_on_completed, p, MHD_OPTION_NOTIFY_CONNECTION,
		page_on_connection, p, MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES,
		MHD_OPTION_ARRAY, has_tls ? tls : none, MHD_OPTION_END);
	return p->daemon ? 0
			 : err_set(err, EIO, "page %s: the HTTP server does not start", p->listen);
}

static int page_read_ca(struct page_server *p, const char *path, struct err *err)
{
	gnutls_datum_t data;

	if (!path)
		return 0;
	if (gnutls_load_file(path, &data) < 0)
		return err_set(err, EINVAL, "%s: cannot be read", path);
	p->client_ca = strndup((const char *)data.data, data.size);
	gnutls_free(data.data);
	return p->client_ca ? 0 : err_set(err, ENOMEM, "no memory");
}

/* Says why an address other than loopback is refused; NULL if it is allowed. */
static const char *page_only_loopback(struct page_server *p)
{
	if (!access_has_tls(page_login_access(p->login)))
		return "the connection is not encrypted";
	return page_login_asks(p->login) ? NULL : "anybody could look";
}

static int page_read_labels(struct page_server *p, struct err *err)
{
	struct page_labels *labels = NULL;
	int ret = p->labels ? page_labels_read(&labels, p->labels, err) : 0;

	if (ret == 0 && labels)
		page_fleet_set_labels(p->fleet, labels);
	return ret;
}

void page_server_reload(struct page_server *p)
{
	struct err err = { 0 };

	if (p && page_read_labels(p, &err) < 0)
		fprintf(stderr, "blkcast serve: %s; the labels that were read before stay\n",
			err.line);
}

static int page_start_guard(struct page_server *p, struct err *err)
{
	static const unsigned int limits[NR_GUARD_PHASES] = {
		[GUARD_OPEN] = HEAD_S, [GUARD_IDLE] = IDLE_S, [GUARD_REPLY] = IDLE_S
	};
	int ret = guard_new(&p->guard, limits, NULL, NULL);

	if (ret < 0)
		return err_set(err, -ret, "page %s: no thread can be started", p->listen);
	guard_limit(p->guard, PAGE_CONNECTIONS);
	return 0;
}

/* A file of saved answers that cannot be used is no reason not to serve. */
static int page_open_saved(struct page_server *p)
{
	struct err err = { 0 };
	int ret = page_saved_open(&p->saved, page_store_dir(p->store), &err);

	if (ret == 0 && err.line[0])
		fprintf(stderr, "blkcast serve: %s; the page saves no answers\n", err.line);
	return ret;
}

int page_server_start(struct page_server **out, const char *dir, const struct page_config *config,
		      struct err *err)
{
	struct page_server *p = calloc(1, sizeof(*p));
	pthread_condattr_t clock;
	int fd = -1, ret;

	if (!p)
		return err_set(err, ENOMEM, "no memory for the page");
	p->listen = config->listen;
	p->labels = config->labels;
	pthread_mutex_init(&p->lock, NULL);
	/* Setting the machine's clock must not change how long a question waits. */
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&p->answered, &clock);
	pthread_condattr_destroy(&clock);
	ret = page_login_new(&p->login, &config->access, err);
	if (ret == 0)
		ret = page_read_ca(p, config->access.client_ca, err);
	if (ret < 0)
		goto out;
	fd = ret = server_listen("page", config->listen, page_only_loopback(p), &p->port, err);
	if (ret < 0)
		goto out;
	ret = page_store_open(&p->store, dir, err);
	if (ret < 0)
		goto out;
	ret = page_questions_new(&p->questions, config->helper, page_store_dir(p->store),
				 config->models);
	if (ret < 0)
		goto out;
	ret = page_open_saved(p);
	if (ret == 0)
		ret = page_packed_new(&p->packed);
	if (ret == 0 && config->objectives)
		ret = page_objectives_read(&p->objectives, config->objectives, err);
	if (ret < 0)
		goto out;
	ret = page_fleet_start(&p->fleet, p->store, p->objectives, err);
	if (ret < 0)
		goto out;
	ret = page_read_labels(p, err);
	if (ret == 0 && page_warm_start(&p->warm, p->store, p->fleet) < 0)
		ret = err_set(err, ENOMEM, "no thread for the page");
	if (ret < 0)
		goto out;
	ret = page_start_guard(p, err);
	if (ret < 0)
		goto out;
	ret = page_start_daemon(p, fd, err);
out:
	if (ret < 0) {
		if (fd >= 0)
			close(fd);
		page_server_stop(p);
		return ret;
	}
	*out = p;
	return 0;
}

void page_server_stop(struct page_server *p)
{
	if (!p)
		return;
	atomic_store(&p->stop, true);
	if (p->fleet)
		page_fleet_wake(p->fleet);
	if (p->daemon)
		MHD_stop_daemon(p->daemon);
	guard_free(p->guard);
	page_questions_free(p->questions);
	page_warm_stop(p->warm);
	page_fleet_stop(p->fleet);
	page_objectives_free(p->objectives);
	page_saved_close(p->saved);
	page_packed_free(p->packed);
	page_store_close(p->store);
	page_login_free(p->login);
	free(p->client_ca);
	pthread_cond_destroy(&p->answered);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

uint16_t page_server_port(const struct page_server *p)
{
	return p->port;
}

void page_server_stored(void *ctx, const struct segment_name *n)
{
	struct page_server *p = ctx;

	page_fleet_stored(p->fleet, n);
}
