/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics: the board as OpenMetrics text, and the listener that serves it at /metrics. The names
 * are a contract: formats/metrics.md.
 */
#ifndef AGENT_METRICS_H
#define AGENT_METRICS_H

#include <stdbool.h>

#include "agent/show/board.h"
#include "base/log.h"
#include "base/buf.h"
#include "base/err.h"

#define METRICS_CLASSIC_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Appends one page. open: OpenMetrics 1.0, else the classic text format. 0 or -ENOMEM. */
int metrics_print(struct board *b, const char *version, bool open, struct buf *out);
/* Whether an Accept header (may be NULL) asks for OpenMetrics. */
bool metrics_accepts_open(const char *accept);

struct metrics;

/*
 * Takes the address; metrics_start() serves the board until metrics_free(). address: ADDR:PORT,
 * [V6]:PORT or :PORT; without an address, loopback. -errno with one line in err: bad address, port
 * in use.
 */
int metrics_listen(struct metrics **out, const char *address, struct board *b, struct err *err);
/* Starts the thread that answers. -errno with one line in err. */
int metrics_start(struct metrics *m, struct err *err);
/* The port in use: that of the address, or the one that was free where it said 0. */
unsigned int metrics_port(const struct metrics *m);
void metrics_free(struct metrics *m);

#endif
