/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delivery: sends one segment to a receiver, whole or, where the segment is too large for it, in
 * parts.
 *
 * On a new connection it asks the receiver for the highest sequence that it has, and logs an error
 * where the receiver has lost a segment that it had acknowledged. A segment that the receiver may
 * have already is announced before its body is sent, so that a lost reply costs one round trip and
 * not the body again.
 */
#ifndef AGENT_DELIVERY_H
#define AGENT_DELIVERY_H

#include "agent/send/upload.h"
#include "base/memory/buf.h"
#include "base/system/log.h"
#include "formats/ledger.h"

struct delivery;

/* Makes a delivery; upload and log are borrowed. Returns 0 or -ENOMEM. */
int delivery_new(struct delivery **out, struct upload *upload, struct log *log);
void delivery_free(struct delivery *d);

/*
 * Sends the segment and reports the result in answer.
 *
 *	UPLOAD_DONE     Every part is durable at the receiver.
 *	UPLOAD_REFUSED  The receiver refused it for good. Where lost is empty, no part was
 *			stored. Otherwise some parts were stored, and the content of the other
 *			parts is appended to lost.
 *	any other       The caller tries again later. Parts that were stored are sent again
 *			under the same names, which the receiver recognizes.
 */
void delivery_send(struct delivery *d, const void *data, size_t len, struct ledger *lost,
		   struct upload_answer *answer);

#endif
