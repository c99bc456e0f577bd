// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/http/server_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool server_is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	if (a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
	return false;
}

/* Converts "ADDR:PORT" to an address that the caller frees. */
static int parse_listen(const char *what, const char *listen, struct addrinfo **out,
			struct err *err)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	const char *colon = strrchr(listen, ':');
	char host[256];
	size_t len;
	int code;

	/* getaddrinfo() takes a larger port modulo 65536. */
	if (!colon || colon == listen || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
	    !colon[1] || strtoul(colon + 1, NULL, 10) > 65535)
		return err_set(err, EINVAL,
			       "%s: expected ADDR:PORT with a port up to 65535, got '%s'", what,
			       listen);
	len = (size_t)(colon - listen);
	if (listen[0] == '[' && colon[-1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)len - 2, listen + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)len, listen);
	code = getaddrinfo(host, colon + 1, &hints, out);
	if (code)
		return err_set(err, EINVAL, "%s %s: %s", what, listen, gai_strerror(code));
	return 0;
}

int server_listen(const char *what, const char *listen_at, const char *only_loopback,
		  uint16_t *port, struct err *err)
{
	struct sockaddr_storage bound;
	socklen_t bound_bytes = sizeof(bound);
	struct addrinfo *address;
	int fd, one = 1;
	int ret = parse_listen(what, listen_at, &address, err);

	if (ret < 0)
		return ret;
	if (only_loopback && !server_is_loopback(address->ai_addr)) {
		freeaddrinfo(address);
		return err_set(err, ENOKEY, "%s %s: not a loopback address, and %s", what,
			       listen_at, only_loopback);
	}
	fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, address->ai_addr, address->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0 ||
	    getsockname(fd, (struct sockaddr *)&bound, &bound_bytes) < 0) {
		ret = err_set(err, errno, "%s %s: %s", what, listen_at, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = ret;
	} else {
		/* sin_port and sin6_port have the same offset. */
		*port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
	}
	freeaddrinfo(address);
	return fd;
}

void server_address_text(const struct sockaddr *a, char *out, unsigned int cap)
{
	if (a && a->sa_family == AF_INET6) {
		struct in6_addr net = ((const struct sockaddr_in6 *)a)->sin6_addr;

		if (!IN6_IS_ADDR_V4MAPPED(&net))
			memset(net.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &net, out, cap);
	} else if (a && a->sa_family == AF_INET) {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)a)->sin_addr, out, cap);
	} else {
		snprintf(out, cap, "unknown");
	}
}
