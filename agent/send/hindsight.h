/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hindsight: keeps the requests of the last minutes on this machine, and sends them only where
 * somebody wants to know what happened.
 *
 * Segments wait in the spool until they are as old as the time that is kept. Where nobody
 * asked by then, a segment is sent without its requests: its profiles and its ledger stay, and
 * the ledger says how many requests were kept back (LOSS_KEPT_BACK). hindsight_ask() makes all
 * segments go whole that lie within this time before and after it. So each segment is sent
 * once, whole or without its requests, and completed = sent + kept back + lost.
 *
 * At the agent's end, and where the spool is half full, segments do not wait. What was asked
 * is not remembered over a restart of the agent. All functions are thread-safe.
 */
#ifndef AGENT_HINDSIGHT_H
#define AGENT_HINDSIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/segment/segment.h"

struct hindsight;

enum hindsight_verdict {
	HINDSIGHT_WHOLE, /* send it as it is */
	HINDSIGHT_THIN,	 /* send it without its requests */
	HINDSIGHT_WAIT,	 /* it is not decided yet */
};

/* keep_ns: above 0. boot_id is that of this machine now and is copied. 0 or -ENOMEM. */
int hindsight_new(struct hindsight **out, uint64_t keep_ns, const char *boot_id);
void hindsight_free(struct hindsight *h);

/* Somebody wants the requests around now (CLOCK_MONOTONIC). NULL is legal for h. */
void hindsight_ask(struct hindsight *h, uint64_t now_ns);
/* hurry: the segment cannot wait. A segment of another boot does not wait either. */
enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct segment_header *segment,
				       uint64_t now_ns, bool hurry);
/*
 * Appends the segment without its requests, under the same name. The same segment always gives
 * the same bytes. 0, -EBADMSG or -ENOMEM.
 */
int hindsight_thin(const void *data, size_t len, struct buf *out);

#endif
