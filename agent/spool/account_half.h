/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_half: what becomes of the stream's half of an account (formats/account/account_file.h) by one
 * event; no files, no locks.
 */
#ifndef AGENT_ACCOUNT_HALF_H
#define AGENT_ACCOUNT_HALF_H

#include <stdint.h>

#include "formats/account/account_file.h"
#include "formats/ledger.h"

/* Devices beyond the bound are counted together, as device 0. */
void counts_add(struct counts *c, uint32_t device, uint64_t nr);
uint64_t counts_get(const struct counts *c, uint32_t device);

/* Keeps one loss (a pause is none), joined with a like one that no segment carries yet, or with any when full. */
void half_keep_loss(struct stream_half *s, const struct loss *loss);
/* The segment is durable: what was prepared is accounted for, what it carries is told. */
void half_commit(struct stream_half *s, uint64_t sequence);
/* What is lost with the segment that is to be dropped; joined per cause where there is no room. */
void half_keep_pending(struct stream_half *s, const struct ledger *lost);

#endif
