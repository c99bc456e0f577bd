/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "formats/ledger.h"

const char *loss_cause_name(unsigned int cause)
{
	static const char *const names[NR_LEDGER_CAUSES] = {
		"ring_full",	 "kernel",     "unpaired",    "decode",	       "reorder",
		"shed",		 "spool_full", "spool_error", "quarantine",    "agent_died",
		"not_watched",	 "kept_back",  "suspended",   "guest_stopped", "stalled",
		"agent_stopped", "restored"
	};

	return cause < NR_LEDGER_CAUSES ? names[cause] : NULL;
}

const char *pause_cause_text(unsigned int cause)
{
	static const char *const texts[NR_LEDGER_CAUSES - NR_LOSS_CAUSES] = {
		"guest suspended", "guest stopped", "nothing ran", "agent stopped, guest not",
		"guest restored from a snapshot"
	};

	return cause >= NR_LOSS_CAUSES && cause < NR_LEDGER_CAUSES ? texts[cause - NR_LOSS_CAUSES]
								   : NULL;
}

void ledger_init(struct ledger *l)
{
	*l = (struct ledger){ 0 };
}

void ledger_release(struct ledger *l)
{
	free(l->losses);
	free(l->latest_real_ns);
	ledger_init(l);
}

void ledger_clear(struct ledger *l)
{
	l->nr = l->nr_latest = 0;
	memset(l->total, 0, sizeof(l->total));
}

/* Completes the latest ends. Without memory for them more entries are looked at, and no others. */
static void ledger_look(struct ledger *l)
{
	if (array_grow(&l->latest_real_ns, &l->cap_latest, l->nr, sizeof(*l->latest_real_ns)))
		return;
	for (size_t i = l->nr_latest; i < l->nr; i++) {
		uint64_t before = i ? l->latest_real_ns[i - 1] : 0, end = l->losses[i].end_real_ns;

		l->latest_real_ns[i] = end > before ? end : before;
	}
	l->nr_latest = l->nr;
}

/* Returns the last entry of the same cause, device and kind whose interval touches this one. */
static struct loss *ledger_touching(struct ledger *l, const struct loss *loss)
{
	ledger_look(l);
	for (size_t i = l->nr; i-- > 0;) {
		struct loss *at = &l->losses[i];

		if (i < l->nr_latest && l->latest_real_ns[i] < loss->begin_real_ns)
			return NULL;
		if (at->cause == loss->cause && at->device == loss->device &&
		    at->count_known == loss->count_known &&
		    at->begin_real_ns <= loss->end_real_ns &&
		    loss->begin_real_ns <= at->end_real_ns)
			return at;
	}
	return NULL;
}

/*
 * Adds two counts, which may come from files of others, and stops at the largest number instead of
 * wrapping.
 */
static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static void ledger_join(struct ledger *l, struct loss *dst, const struct loss *src)
{
	dst->count = sum_of(dst->count, src->count);
	if (src->begin_real_ns < dst->begin_real_ns)
		dst->begin_real_ns = src->begin_real_ns;
	if (src->end_real_ns <= dst->end_real_ns)
		return;
	dst->end_real_ns = src->end_real_ns;
	for (size_t i = (size_t)(dst - l->losses);
	     i < l->nr_latest && l->latest_real_ns[i] < dst->end_real_ns; i++)
		l->latest_real_ns[i] = dst->end_real_ns;
}

static int ledger_append(struct ledger *l, const struct loss *loss)
{
	if (array_grow(&l->losses, &l->cap, l->nr + 1, sizeof(*l->losses)))
		return -ENOMEM;
	l->losses[l->nr++] = *loss;
	return 0;
}

int ledger_add(struct ledger *l, const struct loss *loss)
{
	struct loss *at;

	if (loss->cause >= NR_LEDGER_CAUSES)
		return -EINVAL;
	if (loss_is_pause(loss))
		return loss->count || !loss->count_known ? -EINVAL : ledger_append(l, loss);
	if (!loss->count && loss->count_known)
		return 0;
	l->total[loss->cause] = sum_of(l->total[loss->cause], loss->count);
	at = ledger_touching(l, loss);
	if (!at)
		return ledger_append(l, loss);
	ledger_join(l, at, loss);
	return 0;
}

int ledger_merge(struct ledger *dst, const struct ledger *src)
{
	int ret = 0;

	for (size_t i = 0; i < src->nr; i++) {
		ret = ledger_add(dst, &src->losses[i]);
		if (ret)
			return ret;
	}
	return 0;
}

uint64_t ledger_sum(const struct ledger *l)
{
	uint64_t sum = 0;

	for (int i = 0; i < NR_LOSS_CAUSES; i++)
		sum = sum_of(sum, l->total[i]);
	return sum;
}
