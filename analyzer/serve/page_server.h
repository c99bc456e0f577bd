/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_server: the live page of a store, on a listener of its own.
 *
 *   GET /                  the page, which asks for the others; no file comes from another place
 *   GET /assets/NAME       its style, scripts and words, with an ETag
 *   GET /api/v1/fleet      hosts and devices now and in the last hour
 *   GET /api/v1/device     one device over a period
 *   GET /api/v1/who        the processes and control groups that made its requests
 *   GET /api/v1/live       server-sent events: one line whenever something changed, at most one a second
 *
 *   POST, DELETE /api/v1/session   exchanges a token for a cookie, and ends that (page_login.h)
 *
 * docs/api.md describes the answers. Another address than loopback is refused without TLS and without a login.
 * Without a login the page is for this machine alone, and a request whose Host is not this machine's loopback is
 * refused, so that a page of another place that a browser shows cannot read it by a name that leads here.
 *
 * Cost: a thread for each open connection, PAGE_CONNECTIONS at most, of which PAGE_STREAMS may wait for
 * events; pages beyond that ask every other second. Two questions of a device are answered at a time.
 */
#ifndef ANALYZER_SERVE_PAGE_SERVER_H
#define ANALYZER_SERVE_PAGE_SERVER_H

#include <stdint.h>

#include "analyzer/serve/access.h"
#include "analyzer/serve/page_fleet.h"
#include "base/err.h"

#define PAGE_CONNECTIONS 192
#define PAGE_STREAMS	 64
#define PAGE_QUESTIONS	 2

struct page_config {
	const char *listen;	     /* "ADDR:PORT"; port 0: any free one */
	struct access_config access; /* of readers; the server's certificate */
};

struct page_server;

/* Opens the store in dir once more, and starts. 0, -EINVAL, -EADDRINUSE, -EACCES, -ENOMEM, ... */
int page_server_start(struct page_server **out, const char *dir, const struct page_config *config,
		      struct err *err);
void page_server_stop(struct page_server *p);
uint16_t page_server_port(const struct page_server *p);
/* serve has stored a segment. Any thread. ctx: the struct page_server. */
void page_server_stored(void *ctx, const struct segment_name *n);

#endif
