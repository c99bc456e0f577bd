/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_server: the live page of a store, on a listener of its own.
 *
 *   GET /                  the page, which requests the other paths; all files come from here
 *   GET /assets/NAME       its style, scripts and words, with an ETag
 *   GET /api/v1/fleet      hosts and devices now and in the last hour
 *   GET /api/v1/device     one device over a period
 *   GET /api/v1/who        the processes and control groups that made its requests
 *   GET /api/v1/access     where on it they began, and the miss-ratio curve
 *   GET /api/v1/live       server-sent events: a line after each change, at most one per second
 *
 *   GET /api/v1/objectives the objectives and whether devices meet them
 *   GET /api/v1/models     the models and scenarios about which questions can be asked
 *   POST, GET, DELETE /api/v1/question   asks a question, tells its state, ends it
 *   GET /api/v1/question/page            its answer as a page (page_question.h)
 *   POST, GET, DELETE /api/v1/saved      saves an answer, lists and gives them, deletes one
 *   POST /api/v1/keep      asks an agent for requests that it keeps back (store_ask.h)
 *   POST, DELETE /api/v1/session   exchanges a token for a cookie; ends the session (page_login.h)
 *
 * docs/api.md describes the answers. The server refuses to listen on another address than loopback
 * without TLS and a login. Without a login only this machine can read the page, and a request whose
 * Host field does not name this machine's loopback address is refused. Otherwise a page of another
 * site could read the answers in a browser on this machine through a DNS name that resolves to the
 * loopback address.
 *
 * Cost: one thread for each open connection, at most PAGE_CONNECTIONS. At most PAGE_STREAMS of them
 * may wait for events; further pages poll every other second. At most two queries about a device
 * are answered at the same time.
 */
#ifndef ANALYZER_SERVE_PAGE_PAGE_SERVER_H
#define ANALYZER_SERVE_PAGE_PAGE_SERVER_H

#include <stdint.h>

#include "analyzer/serve/access/access.h"
#include "analyzer/serve/fleet/page_fleet.h"
#include "analyzer/serve/question/page_child.h"
#include "base/text/err.h"

#define PAGE_CONNECTIONS 192
#define PAGE_STREAMS	 64
#define PAGE_QUESTIONS	 2

struct page_config {
	const char *listen;	     /* "ADDR:PORT"; port 0: any free port */
	const char *models;	     /* folder of models and scenarios, or NULL */
	const char *objectives;	     /* a file of page_objective.h, or NULL */
	const char *labels;	     /* a file of page_label.h, or NULL */
	struct page_helper *helper;  /* borrowed: runs the commands of questions */
	struct access_config access; /* the readers' credentials and the server's certificate */
};

struct page_server;

/*
 * Opens the store in dir a second time and starts the server. Returns 0, -EINVAL, -EADDRINUSE,
 * -EACCES, -ENOMEM, ...
 */
int page_server_start(struct page_server **out, const char *dir, const struct page_config *config,
		      struct err *err);
void page_server_stop(struct page_server *p);
/*
 * Reads the labels again. Where this fails the old ones stay, and a line on standard error says
 * why. p may be NULL.
 */
void page_server_reload(struct page_server *p);
uint16_t page_server_port(const struct page_server *p);
/*
 * Tells the page that serve has stored a segment. Any thread may call it. ctx is the struct
 * page_server.
 */
void page_server_stored(void *ctx, const struct segment_name *n);

#endif
