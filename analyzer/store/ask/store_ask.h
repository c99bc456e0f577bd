/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_ask: questions for requests that agents keep back (blkcast-agent --hindsight), and the file
 * of policies (store_policy.h).
 *
 * A question names a host and a period. It is kept in the store, and every serve of the store
 * tells it to the host's agent in the answers to its uploads. So everybody who may write to the
 * folder, or has the credentials of the cluster, may ask. A serve takes a question through its live
 * page alone, and there from readers who were given that right (access_tokens.h).
 *
 * A folder keeps the questions in DIR/asks, one file for each host with "BEGIN END" in seconds
 * since 1970. A cluster keeps them in the table ask. A new question for a host that already has a
 * question extends the old one's period if the two periods touch or the old one is not over yet;
 * otherwise the new question replaces the old one. Agents are told of a question until a day after
 * the end of its period, so that an agent that could not send meanwhile still receives it. After
 * that day the next question that anybody asks removes it. Only one thread at a time may use a
 * struct store_asks.
 */
#ifndef ANALYZER_STORE_ASK_H
#define ANALYZER_STORE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

#define STORE_ASK_KEEP_S      86400 /* agents are told of a question this long after its end */
#define STORE_ASK_MAX	      65536 /* questions that agents are told of at one time */
#define STORE_ASK_MAX_MINUTES 1440
#define STORE_ASK_FAR_S	      86400 /* a period begins and ends at most so far from now */

struct store_ask {
	char host[SEGMENT_NAME_BYTES];
	int64_t begin_s, end_s; /* after the time of reading; negative: before it */
	bool is_known;		/* store_asks_put(): the store has segments of the host */
};

struct store_asks;

/* name: as of store_open(). Returns 0, or -errno with a line. A cluster is connected to later. */
int store_asks_open(struct store_asks **out, const char *name, struct err *err);
void store_asks_close(struct store_asks *a);

/*
 * Asks for the requests of the host from begin_s to end_s seconds after now (negative: before it).
 * The period begins before now or now, and both are at most STORE_ASK_FAR_S away from it. out gets
 * the period that is asked for now. Once this returned 0, the question is durable.
 */
int store_asks_put(struct store_asks *a, const char *host, int64_t begin_s, int64_t end_s,
		   struct store_ask *out, struct err *err);
/* Reads all questions that are to be told, in order of the host, into an array for free(). */
int store_asks_read(struct store_asks *a, struct store_ask **out, size_t *nr, struct err *err);

/*
 * Replaces the text of the policies, which a folder keeps in DIR/policies.yaml and a cluster in the
 * table policy. Once this returned 0, it is durable.
 */
int store_asks_put_text(struct store_asks *a, const struct buf *text, struct err *err);
/* Appends the text of the policies, at most max_bytes; appends nothing if there are no policies. */
int store_asks_read_text(struct store_asks *a, struct buf *text, size_t max_bytes, struct err *err);

#endif
