// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_throttle.h"

static uint64_t stored_now_ns(const struct stored_sim *s)
{
	return (uint64_t)(s->now_s * 1e9);
}

/* Tells the machine the time. */
static void stored_machine_look(const struct stored_sim *s, struct stored_machine *m)
{
	m->wakes |= wbt_look(&m->wbt, stored_now_ns(s));
}

void stored_machine_begin(struct stored_machine *m, const struct causal_throttle *throttle)
{
	*m = (struct stored_machine){ .throttles = throttle->on,
				      .first = STORED_NO_LANE,
				      .last = STORED_NO_LANE };
	wbt_init(&m->wbt, throttle->target_ns, throttle->cache, throttle->first_step);
}

static bool stored_throttle_admits(const struct stored_sim *s, const struct stored_lane *l)
{
	return wbt_admits(&s->machines[l->machine].wbt, stored_now_ns(s),
			  l->plan->requests[l->nr_sent].sync);
}

int stored_throttle_pass(struct stored_sim *s, uint32_t lane)
{
	struct stored_lane *l = &s->lanes[lane];
	struct stored_machine *m = &s->machines[l->machine];
	const struct causal_request *r = &l->plan->requests[l->nr_sent];

	if (!m->throttles || !r->throttled || r->cached || l->admitted)
		return 1;
	if (l->in_line)
		return 0;
	stored_machine_look(s, m);
	if (m->first == STORED_NO_LANE && stored_throttle_admits(s, l))
		return 1;
	l->in_line = true;
	l->behind = STORED_NO_LANE;
	if (m->first == STORED_NO_LANE)
		m->first = lane;
	else
		s->lanes[m->last].behind = lane;
	m->last = lane;
	return m->first == lane ? stored_throttle_wind(s, l->machine) : 0;
}

void stored_throttle_sent(struct stored_sim *s, uint32_t slot)
{
	const struct stored_slot *at = &s->slots[slot];
	struct stored_lane *l = &s->lanes[at->lane];
	struct stored_machine *m = &s->machines[l->machine];

	l->admitted = false;
	if (!m->throttles || at->cached)
		return;
	stored_machine_look(s, m);
	if (at->request.type == DEVICE_READ)
		wbt_read_sent(&m->wbt, stored_now_ns(s), slot);
	else if (l->plan->requests[at->index].throttled)
		wbt_sent(&m->wbt, stored_now_ns(s));
}

bool stored_throttle_done(struct stored_sim *s, uint32_t slot)
{
	const struct stored_slot *at = &s->slots[slot];
	const struct stored_lane *l = &s->lanes[at->lane];
	struct stored_machine *m = &s->machines[l->machine];
	uint64_t now_ns = stored_now_ns(s);

	if (!m->throttles || at->cached)
		return false;
	stored_machine_look(s, m);
	if (at->request.type == DEVICE_READ)
		wbt_read_done(&m->wbt, now_ns, slot, (uint64_t)((s->now_s - at->begin_s) * 1e9));
	else if (l->plan->requests[at->index].throttled)
		m->wakes |= wbt_done(&m->wbt, at->request.type == DEVICE_WRITE);
	else if (at->request.type == DEVICE_WRITE)
		wbt_write_done(&m->wbt);
	return m->wakes;
}

bool stored_throttle_clock(struct stored_sim *s, uint32_t machine)
{
	struct stored_machine *m = &s->machines[machine];
	uint64_t now_ns = stored_now_ns(s);

	/* The time of the clock in seconds may have been rounded down. */
	if (m->wbt.look_ns != WBT_NEVER && m->wbt.look_ns > now_ns)
		now_ns = m->wbt.look_ns;
	m->wakes |= wbt_look(&m->wbt, now_ns);
	return m->wakes;
}

uint32_t stored_throttle_next(struct stored_sim *s, uint32_t machine)
{
	struct stored_machine *m = &s->machines[machine];
	uint32_t lane = m->first;

	m->wakes = false;
	if (lane == STORED_NO_LANE || !stored_throttle_admits(s, &s->lanes[lane]))
		return STORED_NO_LANE;
	m->first = s->lanes[lane].behind;
	s->lanes[lane].in_line = false;
	s->lanes[lane].admitted = true;
	return lane;
}

int stored_throttle_wind(struct stored_sim *s, uint32_t machine)
{
	const struct stored_machine *m = &s->machines[machine];
	uint32_t clock = (uint32_t)s->nr_lanes + machine;

	if (m->first == STORED_NO_LANE || m->wbt.look_ns == WBT_NEVER) {
		eventq_cancel(&s->events, clock);
		return 0;
	}
	return eventq_set(&s->events, clock, fmax(s->now_s, (double)m->wbt.look_ns / 1e9));
}
