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
 * An analyzer asks in its answers to uploads (docs/security.md). Each sink keeps the
 * period that its own analyzer asked for, so that no analyzer gets what only another one wants.
 *
 * At the agent's end, and where the spool is half full, segments do not wait. What was asked
 * is not remembered over a restart of the agent, but the form of the segment under way is
 * (sent_form.h). All functions are thread-safe.
 */
#ifndef AGENT_HINDSIGHT_H
#define AGENT_HINDSIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "formats/segment/segment.h"

struct hindsight;

/* A period of CLOCK_MONOTONIC whose requests are wanted; until_ns 0: none are. */
struct hindsight_period {
	uint64_t from_ns, until_ns;
};

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
/*
 * Returns the period from begin_s to end_s seconds after now_ns (negative: before it). It ends at
 * most the time that is kept after now_ns, whatever an analyzer says.
 */
struct hindsight_period hindsight_period_of(const struct hindsight *h, int64_t begin_s,
					    int64_t end_s, uint64_t now_ns);
/*
 * asked is what the sink's own analyzer wants beside that of hindsight_ask(). hurry: the segment
 * cannot wait. A segment of another boot does not wait either.
 */
enum hindsight_verdict hindsight_judge(struct hindsight *h, const struct segment_header *segment,
				       const struct hindsight_period *asked, uint64_t now_ns,
				       bool hurry);
/*
 * Appends the segment without its requests, under the same name. The same segment always gives
 * the same bytes. 0, -EBADMSG or -ENOMEM.
 */
int hindsight_thin(const void *data, size_t len, struct buf *out);

#endif
