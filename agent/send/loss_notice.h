/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss_notice: a segment without requests, in the place of one that could not be stored.
 *
 * It has the header of the segment that is lost (name, times, devices) and a ledger that says what is
 * lost. It is so small that a few blocks kept aside are enough to store it on a full disk, so that every
 * reader of the store learns of the loss at once and not from a later agent.
 */
#ifndef AGENT_LOSS_NOTICE_H
#define AGENT_LOSS_NOTICE_H

#include <stddef.h>

#include "base/buf.h"
#include "formats/ledger.h"

/* Appends the notice for the segment of these bytes to out; lost gets the segment's pauses added. 0 or
 * -errno (-EBADMSG: no segment; -ENOMEM). */
int loss_notice(const void *data, size_t len, struct ledger *lost, struct buf *out);

#endif
