/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_ledger: lets an account know of all that a spool drops, quarantines and hands on.
 */
#ifndef AGENT_SPOOL_LEDGER_H
#define AGENT_SPOOL_LEDGER_H

#include <stdatomic.h>

#include "agent/spool/account.h"
#include "base/log.h"
#include "agent/spool/spool.h"

struct spool_ledger {
	struct account *account; /* borrowed; NULL: nothing is noted */
	struct log *log;	 /* likewise */
	bool owns_account;	 /* the account speaks of this spool, not of another sink's */
	_Atomic(const struct ledger *) partly; /* see spool_ledger_lose_only() */
	struct spool_name partly_name;
};

/* Sets the callbacks of config and their context; l must outlive the spool. */
void spool_ledger_connect(struct spool_ledger *l, struct spool_config *config);
/* Of the segment of this name, which the caller has peeked, no more than this is lost should it
 * be: its other parts are safe elsewhere. NULL: all of it. lost is borrowed until then. */
void spool_ledger_lose_only(struct spool_ledger *l, const struct spool_name *name,
			    const struct ledger *lost);

#endif
