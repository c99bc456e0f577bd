/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serving: runs the server of a store, and beside it retention, compaction and the live page, until
 * a signal ends it.
 *
 *	struct serving s = { .dir = dir, .server.listen = SERVER_LISTEN, .teller = teller };
 *
 *	ret = serving_run(&s, &err);
 *
 * It changes its user before it reads anything that others wrote. SIGHUP reads certificates, tokens
 * and labels again; SIGINT and SIGTERM end it after what is under way is finished.
 */
#ifndef ANALYZER_SERVE_PAGE_SERVING_H
#define ANALYZER_SERVE_PAGE_SERVING_H

#include "analyzer/answer/teller.h"
#include "analyzer/serve/http/retain_beside.h"
#include "analyzer/serve/http/server.h"
#include "analyzer/serve/page/page_server.h"

struct serving {
	const char *dir;  /* folder of the store, made where it is missing, or a cluster's URL */
	const char *user; /* whom to run as where root starts it, or NULL */
	struct server_config server;
	/* listen NULL: no page. Its certificate, CA and tenants are taken from server. */
	struct page_config page;
	struct retain_beside_config retention; /* the caller sets the limits alone */
	/* Answers one of the page's questions in a process of its own, as main() would. */
	int (*question)(int argc, char **argv);
	const struct teller *teller;	/* told from several threads */
	struct server_retention totals; /* set while it runs */
};

/*
 * Runs in the thread that calls it until the signal comes. To be called before other threads start,
 * because it directs signals to this thread. Returns 0, -EINVAL, -EACCES, -EADDRINUSE, -ENOMEM, ...
 */
int serving_run(struct serving *s, struct err *err);

#endif
