/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_ledger: reports to an account every segment that a spool drops, sets aside or delivers.
 */
#ifndef AGENT_SPOOL_LEDGER_H
#define AGENT_SPOOL_LEDGER_H

#include <stdatomic.h>

#include "agent/spool/account.h"
#include "agent/spool/spool.h"
#include "base/system/log.h"

struct spool_ledger {
	struct account *account; /* borrowed; NULL: nothing is reported */
	struct log *log;	 /* borrowed */
	bool owns_account;	 /* the account describes this spool, not the one of another sink */
	_Atomic(const struct ledger *) partly; /* see spool_ledger_lose_only() */
	struct spool_name partly_name;
};

/* Sets the callbacks of config and their context; l must outlive the spool. */
void spool_ledger_connect(struct spool_ledger *l, struct spool_config *config);
/*
 * Sets the loss if the peeked segment of this name is given up: only `lost`, because the segment's
 * other parts are stored at the receiver. NULL: the whole segment. lost is borrowed until the next
 * call.
 */
void spool_ledger_lose_only(struct spool_ledger *l, const struct spool_name *name,
			    const struct ledger *lost);

#endif
