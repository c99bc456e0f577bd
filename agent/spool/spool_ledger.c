/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "agent/spool/spool_ledger.h"

#include "agent/spool/tally.h"

/* Adds the known facts about segments that cannot be read any more. */
static int add_content(struct ledger *lost, enum loss_cause cause,
		       const struct spool_content *content)
{
	struct loss loss = { .cause = (uint8_t)cause,
			     .count_known = content->nr_requests != SPOOL_UNKNOWN,
			     .begin_real_ns = content->begin_real_ns,
			     .end_real_ns = content->end_real_ns };

	loss.count = loss.count_known ? content->nr_requests : 0;
	return ledger_add(lost, &loss);
}

static void on_lost(void *ctx, enum loss_cause cause, const struct spool_name *name,
		    const void *data, size_t len, const struct spool_content *content)
{
	/* If there is no memory to count the losses, a loss of unknown number is noted. */
	struct loss unknown = { .cause = (uint8_t)cause,
				.begin_real_ns = content->begin_real_ns,
				.end_real_ns = content->end_real_ns };
	struct ledger at_least = { .losses = &unknown, .nr = 1 };
	struct spool_ledger *l = ctx;
	const struct ledger *partly;
	struct ledger lost;
	int ret = -EBADMSG;

	if (!l->account)
		return;
	ledger_init(&lost);
	partly = atomic_load(&l->partly);
	if (partly && name->epoch == l->partly_name.epoch &&
	    name->sequence == l->partly_name.sequence)
		ret = ledger_merge(&lost, partly);
	else if (data)
		ret = tally_segment(data, len, cause, &lost);
	if (ret == -EBADMSG)
		ret = add_content(&lost, cause, content);
	if (ret)
		log_say(l->log, LEVEL_ERROR, "loss_not_counted", "cause=%s why=\"no memory\"",
			loss_cause_name(cause));
	account_drop_begin(l->account, name->epoch, name->sequence, ret ? &at_least : &lost);
	ledger_release(&lost);
}

static void on_gone(void *ctx, const struct spool_name *name, bool is_gone)
{
	struct spool_ledger *l = ctx;

	(void)name;
	if (l->account)
		account_drop_end(l->account, is_gone);
}

static void on_acknowledged(void *ctx, const struct spool_name *name)
{
	struct spool_ledger *l = ctx;

	if (l->account && l->owns_account)
		account_acknowledged(l->account, name->epoch, name->sequence);
}

void spool_ledger_connect(struct spool_ledger *l, struct spool_config *config)
{
	config->ctx = l;
	config->lost = on_lost;
	config->gone = on_gone;
	config->acknowledged = on_acknowledged;
}

void spool_ledger_lose_only(struct spool_ledger *l, const struct spool_name *name,
			    const struct ledger *lost)
{
	/*
	 * Other threads read the name before the ledger and compare it with the names of their own
	 * segments, so it is written first.
	 */
	if (lost)
		l->partly_name = *name;
	atomic_store(&l->partly, lost);
}
