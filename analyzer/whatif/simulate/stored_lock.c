// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_lock.h"

#include <math.h>

/*
 * Returns since when a lane wants the lock, of which its next request is due: since the end of the
 * section after which it took the lock when it was recorded, or since now.
 */
static double stored_lock_wanted_s(const struct stored_sim *s, const struct stored_lane *l)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	const struct stored_lane *before;

	if (r->after_lane == UINT32_MAX)
		return s->now_s;
	before = &s->lanes[s->loads[l->load].first + r->after_lane];
	if (before->plan->lock != l->plan->lock || !before->plan->requests[r->after].gives_lock)
		return s->now_s;
	return before->ended_s[r->after];
}

/* Returns whether what the holder of the lock writes has what a lane would write as well. */
static bool stored_lock_covers(const struct stored_sim *s, const struct stored_lock *lock,
			       const struct stored_lane *l)
{
	return s->lanes[lock->holder].plan->copy != l->plan->copy && l->wants_s <= lock->since_s;
}

bool stored_lock_take(struct stored_sim *s, uint32_t lane)
{
	struct stored_lane *l = &s->lanes[lane];
	struct stored_lock *lock = &s->loads[l->load].locks[l->plan->lock];

	if (lock->is_held) {
		l->wants_s = l->wants_lock ? l->wants_s : stored_lock_wanted_s(s, l);
		l->wants_lock = true;
		l->covered |= stored_lock_covers(s, lock, l);
		return false;
	}
	l->wants_lock = false;
	*lock = (struct stored_lock){ .is_held = true, .holder = lane, .since_s = s->now_s };
	return true;
}

uint32_t stored_lock_give(struct stored_sim *s, struct stored_load *load, uint32_t lock)
{
	uint32_t next = STORED_NO_LANE;

	load->locks[lock].is_held = false;
	for (uint32_t i = (uint32_t)load->first; i < load->first + load->nr; i++) {
		const struct stored_lane *l = &s->lanes[i];

		if (l->wants_lock && !l->covered && l->plan->lock == lock &&
		    (next == STORED_NO_LANE || l->wants_s < s->lanes[next].wants_s))
			next = i;
	}
	return next;
}

void stored_lock_cover(struct stored_sim *s, struct stored_load *load, uint32_t lock)
{
	if (!load->locks[lock].is_held)
		return;
	for (size_t i = load->first; i < load->first + load->nr; i++) {
		struct stored_lane *l = &s->lanes[i];

		if (l->wants_lock && l->plan->lock == lock)
			l->covered |= stored_lock_covers(s, &load->locks[lock], l);
	}
}
