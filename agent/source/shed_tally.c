/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/source/shed_tally.h"

void shed_tally_begin(struct shed_tally *t, uint64_t completed, uint64_t seen)
{
	*t = (struct shed_tally){ .has_base = true,
				  .base_completed = completed,
				  .base_seen = seen };
	t->last_completed = completed;
	t->last_seen = seen;
}

/* Returns whether no request has begun or ended and no record was read for long enough. */
static bool is_settled(struct shed_tally *t, uint64_t now_ns, uint64_t completed, uint64_t seen,
		       int64_t in_flight, bool is_last)
{
	bool is_idle = !in_flight && completed == t->last_completed && seen == t->last_seen;

	t->last_completed = completed;
	t->last_seen = seen;
	if (!is_idle)
		t->idle_since_ns = 0;
	else if (!t->idle_since_ns)
		t->idle_since_ns = now_ns;
	if (is_last)
		return !in_flight;
	return t->idle_since_ns && now_ns - t->idle_since_ns >= SHED_TALLY_IDLE_NS;
}

uint64_t shed_tally_look(struct shed_tally *t, uint64_t now_ns, uint64_t completed, uint64_t seen,
			 int64_t in_flight, bool is_last)
{
	uint64_t ended = completed - t->base_completed, told = seen - t->base_seen, missing = 0;

	if (!is_settled(t, now_ns, completed, seen, in_flight, is_last))
		return 0;
	/* A count that fell belongs to another device, so counting begins anew. */
	if (t->has_base && t->has_shed && completed >= t->base_completed && ended > told)
		missing = ended - told;
	shed_tally_begin(t, completed, seen + missing);
	return missing;
}
