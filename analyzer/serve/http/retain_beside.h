/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_beside: this module runs retention in a thread of its own, while a server puts segments
 * into the same store. The thread opens the store itself; both share only the catalog.
 */
#ifndef ANALYZER_RETAIN_BESIDE_H
#define ANALYZER_RETAIN_BESIDE_H

#include <stdatomic.h>

#include "analyzer/keep/retain.h"
#include "analyzer/serve/http/server.h"

struct retain_beside;

struct retain_beside_config {
	struct retain_limits limits;
	struct server_retention *totals; /* counters that the passes increase; may be NULL */
	/* Called from the thread with one line that says what a pass did or why it failed. */
	void (*note)(void *ctx, const char *line);
	void *ctx;
};

/*
 * Returns the seconds between passes: a quarter of the shortest limit of time or of the window,
 * from 1 to 60.
 */
unsigned int retain_beside_interval_s(const struct retain_limits *limits);

/*
 * Starts the thread; the first pass begins at once. The store must exist. Returns 0, or -EACCES,
 * -EIO, -ENOMEM, ... with one line.
 */
int retain_beside_start(struct retain_beside **out, const char *dir,
			const struct retain_beside_config *config, struct err *err);
/* Ends the current step without a change, waits for the thread and frees it. NULL is legal. */
void retain_beside_stop(struct retain_beside *r);

#endif
