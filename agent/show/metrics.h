/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics: prints the board as OpenMetrics text, and serves it at /metrics. The names of the
 * metrics are a contract: formats/metrics.md.
 */
#ifndef AGENT_METRICS_H
#define AGENT_METRICS_H

#include <stdbool.h>

#include "agent/show/board.h"
#include "base/memory/buf.h"
#include "base/system/log.h"
#include "base/text/err.h"

#define METRICS_CLASSIC_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define METRICS_OPEN_TYPE    "application/openmetrics-text; version=1.0.0; charset=utf-8"

/*
 * Appends one page to out. open chooses OpenMetrics 1.0, otherwise the classic text format. Returns
 * 0 or -ENOMEM.
 */
int metrics_print(struct board *b, const char *version, bool open, struct buf *out);
/* Returns whether an Accept header (may be NULL) asks for OpenMetrics. */
bool metrics_accepts_open(const char *accept);

struct metrics;

/*
 * Binds the address. The board is served from metrics_start() until metrics_free(). address is
 * ADDR:PORT, [V6]:PORT, :PORT or PORT; without an address the loopback address is used. Returns 0,
 * or -errno with one line in err: the address is invalid or the port is in use.
 */
int metrics_listen(struct metrics **out, const char *address, struct board *b, struct err *err);
/* Starts the thread that answers. Returns 0 or -errno with one line in err. */
int metrics_start(struct metrics *m, struct err *err);
/*
 * Returns the port in use: the port of the address, or the free port that was chosen where the
 * address says 0.
 */
unsigned int metrics_port(const struct metrics *m);
void metrics_free(struct metrics *m);

#endif
