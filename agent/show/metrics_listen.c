/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/show/metrics.h"

#define MAX_CONNECTIONS 32
#define TIMEOUT_S	10
#define START_S		10 /* time limit for the server's first connection */

struct metrics {
	struct MHD_Daemon *daemon;
	struct board *board;
	int fd; /* belongs to the server once it runs, and is -1 then */
	unsigned int port;
	sem_t runs; /* each connection posts it */
};

static const char root_page[] = "blkcast-agent: the metrics are at /metrics\n";

static enum MHD_Result metrics_listen_answer(struct MHD_Connection *connection, unsigned int status,
					     struct MHD_Response *response, const char *type)
{
	enum MHD_Result ret;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
				   const char *text)
{
	return metrics_listen_answer(connection, status,
				     MHD_create_response_from_buffer(strlen(text), (void *)text,
								     MHD_RESPMEM_PERSISTENT),
				     "text/plain; charset=utf-8");
}

static enum MHD_Result answer_metrics(struct metrics *m, struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool open = metrics_accepts_open(accept);
	struct MHD_Response *response;
	struct buf page;

	buf_init(&page);
	if (metrics_print(m->board, BLKCAST_VERSION, open, &page)) {
		buf_release(&page);
		return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
	}
	/* The library frees the page, also where it cannot make the response. */
	response = MHD_create_response_from_buffer(page.len, page.data, MHD_RESPMEM_MUST_FREE);
	if (!response)
		buf_release(&page);
	return metrics_listen_answer(connection, MHD_HTTP_OK, response,
				     open ? METRICS_OPEN_TYPE : METRICS_CLASSIC_TYPE);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **request)
{
	struct metrics *m = ctx;

	(void)version, (void)upload;
	if (!*request) { /* only the headers have been read; a body may follow */
		*request = m;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET\n");
	if (!strcmp(url, "/metrics"))
		return answer_metrics(m, connection);
	if (!strcmp(url, "/"))
		return answer_text(connection, MHD_HTTP_OK, root_page);
	return answer_text(connection, MHD_HTTP_NOT_FOUND, root_page);
}

/* Splits [ADDR:]PORT into its parts. */
static int split_address(const char *address, char *host, size_t host_bytes, char *port,
			 size_t port_bytes, struct err *err)
{
	const char *colon = strrchr(address, ':');
	const char *digits = colon ? colon + 1 : address;
	size_t len = colon ? (size_t)(colon - address) : 0;
	unsigned long number;
	char *end = NULL;

	number = *digits >= '0' && *digits <= '9' ? strtoul(digits, &end, 10) : 65536;
	if (number > 65535 || *end)
		return err_set(err, EINVAL,
			       "listen: %s: expected [ADDR:]PORT with a port up to 65535", address);
	snprintf(port, port_bytes, "%lu", number);
	if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
		address++;
		len -= 2;
	}
	if (len >= host_bytes)
		return err_set(err, EINVAL, "listen: %s: expected [ADDR:]PORT", address);
	memcpy(host, len ? address : "127.0.0.1", len ? len : sizeof("127.0.0.1"));
	if (len)
		host[len] = 0;
	return 0;
}

/* Opens a socket that is bound and listens. */
static int open_socket(const char *address, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *found;
	char host[256], port[8];
	int ret = split_address(address, host, sizeof(host), port, sizeof(port), err);
	int fd, one = 1;

	if (ret)
		return ret;
	ret = getaddrinfo(host, port, &hints, &found);
	if (ret)
		return err_set(err, EINVAL, "listen: %s: %s", address, gai_strerror(ret));
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 16)) {
		ret = err_set(err, errno, "listen: %s: %s", address, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = ret;
	}
	freeaddrinfo(found);
	return fd;
}

static unsigned int port_of(int fd)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);

	if (getsockname(fd, (struct sockaddr *)&at, &len))
		return 0;
	return ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port
					      : ((struct sockaddr_in *)&at)->sin_port);
}

int metrics_listen(struct metrics **out, const char *address, struct board *b, struct err *err)
{
	struct metrics *m;
	int fd = open_socket(address, err);

	if (fd < 0)
		return fd;
	m = calloc(1, sizeof(*m));
	if (!m) {
		close(fd);
		return err_set(err, ENOMEM, "no memory to listen");
	}
	m->board = b;
	m->port = port_of(fd);
	sem_init(&m->runs, 0, 0);
	m->fd = fd;
	*out = m;
	return 0;
}

static enum MHD_Result on_connection(void *ctx, const struct sockaddr *from, socklen_t len)
{
	struct metrics *m = ctx;

	(void)from, (void)len;
	sem_post(&m->runs);
	return MHD_YES;
}

/*
 * Waits until the library's thread has taken a connection, which this function makes if no other
 * does. A thread that has just been created makes system calls that the filter forbids later
 * (thread.h). Where no connection to the own address is possible, the thread had enough time
 * meanwhile.
 */
static void wait_until_it_runs(struct metrics *m, int listening)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	struct timespec end;
	int fd = -1;

	if (!getsockname(listening, (struct sockaddr *)&at, &len))
		fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		connect(fd, (struct sockaddr *)&at, len);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += START_S;
	while (sem_clockwait(&m->runs, CLOCK_MONOTONIC, &end) && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
}

/*
 * The server uses poll(2), which needs one system call where epoll needs three; few clients
 * connect. With the last two flags the library never calls shutdown(2), so that the filter need not
 * allow it: a connection is only closed, and the end wakes the thread through a descriptor.
 */
int metrics_start(struct metrics *m, struct err *err)
{
	int fd = m->fd;

	m->daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_TURBO | MHD_USE_ITC, 0,
				     on_connection, m, on_request, m, MHD_OPTION_LISTEN_SOCKET,
				     m->fd, MHD_OPTION_CONNECTION_LIMIT,
				     (unsigned int)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
				     (unsigned int)TIMEOUT_S, MHD_OPTION_END);
	if (!m->daemon)
		return err_set(err, EIO, "listen: cannot start the listener");
	m->fd = -1;
	wait_until_it_runs(m, fd);
	return 0;
}

unsigned int metrics_port(const struct metrics *m)
{
	return m->port;
}

void metrics_free(struct metrics *m)
{
	if (!m)
		return;
	if (m->daemon)
		MHD_stop_daemon(m->daemon);
	if (m->fd >= 0)
		close(m->fd);
	sem_destroy(&m->runs);
	free(m);
}
