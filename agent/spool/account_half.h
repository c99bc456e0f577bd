/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_half: the changes that single events make in the stream's half of an account
 * (formats/account/account_file.h). No files and no locks.
 */
#ifndef AGENT_ACCOUNT_HALF_H
#define AGENT_ACCOUNT_HALF_H

#include <stdint.h>

#include "formats/account/account_file.h"
#include "formats/ledger.h"

/* Adds a count. Devices beyond the bound are counted together, as device 0. */
void counts_add(struct counts *c, uint32_t device, uint64_t nr);
uint64_t counts_get(const struct counts *c, uint32_t device);

/*
 * Keeps one loss (a pause is not a loss). It is joined with a loss of the same cause and device
 * that no segment carries yet, or, where there is no room, with any other.
 */
void half_keep_loss(struct stream_half *s, const struct loss *loss);
/*
 * Notes that the segment is durable: its prepared counts are accounted for, and the losses that it
 * carries are done.
 */
void half_commit(struct stream_half *s, uint64_t sequence);
/*
 * Keeps the losses of the segment that is about to be dropped, joined per cause if there is no
 * room.
 */
void half_keep_pending(struct stream_half *s, const struct ledger *lost);

#endif
