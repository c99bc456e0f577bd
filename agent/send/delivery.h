/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery: one segment to a receiver, whole or, where that is too large for it, in parts.
 *
 * Asks for the receiver's high marks when the connection is new, and tells where it has lost what
 * it had acknowledged. What it may have already is announced before it is sent, so that a reply
 * that was lost costs a round trip and not the body.
 */
#ifndef AGENT_DELIVERY_H
#define AGENT_DELIVERY_H

#include "base/log.h"
#include "agent/send/upload.h"
#include "formats/ledger.h"

struct delivery;

/* upload and log are borrowed. -ENOMEM. */
int delivery_new(struct delivery **out, struct upload *upload, struct log *log);
void delivery_free(struct delivery *d);

/*
 * Sends it, and says what became of all of it. UPLOAD_DONE: every part is durable there.
 * UPLOAD_REFUSED with lost->nr: parts are, and lost (appended to) is what the others held;
 * with nothing in lost: no part is. Any other answer: again, by and by; what was taken is repeated
 * then under the same names.
 */
void delivery_send(struct delivery *d, const void *data, size_t len, struct ledger *lost,
		   struct upload_answer *answer);

#endif
