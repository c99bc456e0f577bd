/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spool_ledger: lets an account know of all that a spool drops, quarantines and hands on.
 */
#ifndef AGENT_SPOOL_LEDGER_H
#define AGENT_SPOOL_LEDGER_H

#include "agent/account.h"
#include "agent/log.h"
#include "agent/spool.h"

struct spool_ledger {
	struct account *account; /* borrowed; NULL: nothing is noted */
	struct log *log;	 /* likewise */
	bool owns_account;	 /* the account speaks of this spool, not of another sink's */
};

/* Sets the callbacks of config and their context; l must outlive the spool. */
void spool_ledger_connect(struct spool_ledger *l, struct spool_config *config);

#endif
