/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retain_beside: retention in a thread of its own, beside a server that takes segments into the same
 * store. It has its own view of the store; the catalog is what both share.
 */
#ifndef ANALYZER_RETAIN_BESIDE_H
#define ANALYZER_RETAIN_BESIDE_H

#include <stdatomic.h>

#include "analyzer/keep/retain.h"
#include "analyzer/serve/server.h"

struct retain_beside;

struct retain_beside_config {
	struct retain_limits limits;
	struct server_retention *totals; /* counted up; may be NULL */
	/* Told what a pass did or why it failed, one line; from the thread. */
	void (*note)(void *ctx, const char *line);
	void *ctx;
};

/* Seconds between passes: a quarter of the shortest limit of time or of the window, 1 to 60. */
unsigned int retain_beside_interval_s(const struct retain_limits *limits);

/* The store is there. Passes begin at once. -EACCES, -EIO, -ENOMEM, ... with one line. */
int retain_beside_start(struct retain_beside **out, const char *dir,
			const struct retain_beside_config *config, struct err *err);
/* Ends the step under way without a change, waits for the thread and frees it. NULL is legal. */
void retain_beside_stop(struct retain_beside *r);

#endif
