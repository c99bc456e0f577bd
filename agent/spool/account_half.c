/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool/account_half.h"

void counts_add(struct counts *c, uint32_t device, uint64_t nr)
{
	uint32_t i = 0;

	if (!nr)
		return;
	while (i < c->nr && c->device[i] != device)
		i++;
	if (i == c->nr && c->nr >= ACCOUNT_MAX_DEVICES) {
		device = 0;
		for (i = 0; i < c->nr && c->device[i]; i++)
			;
	}
	if (i == c->nr) {
		c->device[c->nr] = device;
		c->count[c->nr++] = 0;
	}
	c->count[i] += nr;
}

uint64_t counts_get(const struct counts *c, uint32_t device)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->device[i] == device)
			return c->count[i];
	return 0;
}

static void join_loss(struct loss *at, const struct loss *loss)
{
	at->count += loss->count;
	at->count_known &= loss->count_known;
	if (at->device != loss->device)
		at->device = 0;
	if (loss->begin_real_ns < at->begin_real_ns)
		at->begin_real_ns = loss->begin_real_ns;
	if (loss->end_real_ns > at->end_real_ns)
		at->end_real_ns = loss->end_real_ns;
}

/*
 * Finds a loss that no segment carries yet and that can take up this one: a loss of the same kind,
 * or any where the table is full.
 */
static struct loss *find_like(struct stream_half *s, const struct loss *loss, bool any)
{
	bool crowded = s->nr_losses > ACCOUNT_MAX_LOSSES / 2;

	for (uint32_t i = 0; i < s->nr_losses; i++) {
		struct loss *l = &s->losses[i].loss;

		if (s->losses[i].carried_by == ACCOUNT_NOT_CARRIED &&
		    (any || (l->cause == loss->cause && l->count_known == loss->count_known &&
			     (l->device == loss->device || crowded))))
			return l;
	}
	return NULL;
}

void half_keep_loss(struct stream_half *s, const struct loss *loss)
{
	struct loss *at;

	if (loss_is_pause(loss))
		return;
	at = find_like(s, loss, false);
	if (!at && s->nr_losses < ACCOUNT_MAX_LOSSES) {
		s->losses[s->nr_losses++] = (struct kept_loss){ *loss, ACCOUNT_NOT_CARRIED };
		return;
	}
	if (!at)
		at = find_like(s, loss, true);
	/*
	 * No entry is free. The last one belongs to a segment of this run, so it comes back if that
	 * segment is lost.
	 */
	join_loss(at ? at : &s->losses[ACCOUNT_MAX_LOSSES - 1].loss, loss);
}

static void forget_carried(struct stream_half *s, uint64_t sequence)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->nr_losses; i++)
		if (s->losses[i].carried_by != sequence)
			s->losses[kept++] = s->losses[i];
	s->nr_losses = kept;
}

void half_commit(struct stream_half *s, uint64_t sequence)
{
	if (s->is_prepared && s->prepared_sequence == sequence)
		for (uint32_t i = 0; i < s->prepared.nr; i++)
			counts_add(&s->accounted, s->prepared.device[i], s->prepared.count[i]);
	s->is_prepared = s->is_acknowledged = 0;
	forget_carried(s, sequence);
}

void half_keep_pending(struct stream_half *s, const struct ledger *lost)
{
	s->nr_pending = 0;
	for (size_t i = 0; i < lost->nr; i++) {
		const struct loss *l = &lost->losses[i];
		uint64_t at = 0;

		if (loss_is_pause(l))
			continue;
		while (at < s->nr_pending && (s->nr_pending < ACCOUNT_MAX_LOSSES / 2 ||
					      s->pending[at].cause != l->cause ||
					      s->pending[at].count_known != l->count_known))
			at++;
		if (at == s->nr_pending) {
			s->pending[s->nr_pending++] = *l;
			continue;
		}
		join_loss(&s->pending[at], l);
	}
}
