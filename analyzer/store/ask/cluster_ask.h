/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_ask: the questions of store_ask.h in a cluster. Only store_ask.c includes this file. */
#ifndef ANALYZER_CLUSTER_ASK_H
#define ANALYZER_CLUSTER_ASK_H

#include "analyzer/store/ask/store_ask.h"

struct cluster;

int cluster_ask_open(struct cluster **out, const char *name, struct err *err);
void cluster_ask_close(struct cluster *c);
int cluster_ask_put(struct cluster *c, const char *host, int64_t begin_s, int64_t end_s,
		    struct store_ask *out, struct err *err);
int cluster_ask_read(struct cluster *c, struct store_ask **out, size_t *nr, struct err *err);
int cluster_ask_put_text(struct cluster *c, const struct buf *text, struct err *err);
int cluster_ask_read_text(struct cluster *c, struct buf *text, size_t max_bytes, struct err *err);

#endif
