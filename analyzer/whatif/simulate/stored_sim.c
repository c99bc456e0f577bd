// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/causal_depend.h"
#include "analyzer/whatif/simulate/stored_lock.h"
#include "analyzer/whatif/simulate/stored_state.h"
#include "analyzer/whatif/simulate/stored_throttle.h"
#include "analyzer/whatif/simulate/stored_wait.h"
#include "base/memory/array.h"

#define NEVER	    INFINITY
#define LOAD_OFFSET (1ull << 56) /* loads on one device have offsets of their own */
/*
 * The model covers up to this many times the measured number of requests under way. docs/studies
 * compares this value with no other.
 */
#define BEYOND_FACTOR 1.25
/*
 * Requests that loads which begin anew may send in one simulation. It bounds the processor time of
 * a short load beside a much longer one.
 */
#define REPEATS_MAX 20000000

double stored_rate_ratio(const struct causal_plan *plan, const struct stored_result *r,
			 double offered_per_s)
{
	uint64_t nr = causal_nr(plan);
	bool middle = plan->middle_s > 0 && r->middle_s > 0;
	double recorded_s = middle ? plan->middle_s : plan->window_s;
	double simulated_s = middle ? r->middle_s : r->times.elapsed_s;
	double share =
		middle ? (double)(causal_middle_end(nr) - causal_middle_begin(nr)) / (double)nr : 1;
	double watched_s = fmax((double)nr / offered_per_s, plan->window_s);

	return watched_s / fmax(watched_s + (simulated_s - recorded_s) / share, simulated_s);
}

void stored_result_release(struct stored_result *r)
{
	device_times_release(&r->times);
}

static int stored_slot_take(struct stored_sim *s, uint32_t *slot)
{
	*slot = s->free_slot;
	if (*slot != UINT32_MAX) {
		s->free_slot = s->slots[*slot].next_free;
		return 0;
	}
	if (array_grow(&s->slots, &s->cap_slots, s->nr_slots + 1, sizeof(*s->slots)))
		return -ENOMEM;
	*slot = (uint32_t)s->nr_slots++;
	return 0;
}

/* Gives a slot to the device, for the first or the second time. */
static int stored_serve(struct stored_sim *s, uint32_t slot)
{
	struct stored_slot *at = &s->slots[slot];
	struct stored_result *out = &s->out[s->lanes[at->lane].load];
	double end_s;
	int ret = 0;

	if (at->cached)
		return eventq_push(&s->events,
				   s->now_s + s->loads[s->lanes[at->lane].load].cached_s, slot);
	at->request.at_s = s->now_s;
	at->again = !device_sim_submit(&s->device, &at->request, &end_s);
	if (!at->again && at->counted)
		ret = device_times_add(&out->times, at->request.type, end_s - at->begin_s);
	return ret ? ret : eventq_push(&s->events, end_s, slot);
}

static int stored_submit(struct stored_sim *s, uint32_t lane)
{
	struct stored_lane *l = &s->lanes[lane];
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	struct stored_result *out = &s->out[l->load];
	struct stored_load *load = &s->loads[l->load];
	struct device_request q = { .offset = r->offset + l->load * LOAD_OFFSET,
				    .bytes = r->bytes,
				    .type = r->operation == OPERATION_FLUSH   ? DEVICE_FLUSH
					    : r->operation == OPERATION_WRITE ? DEVICE_WRITE
									      : DEVICE_READ,
				    .durable = r->durable,
				    .preflush = r->preflush };
	bool counted = !load->again;
	uint32_t slot;
	int ret = stored_slot_take(s, &slot);

	if (ret)
		return ret;
	s->slots[slot] = (struct stored_slot){ .request = q,
					       .begin_s = s->now_s,
					       .lane = lane,
					       .index = (uint32_t)l->nr_sent,
					       .next_free = UINT32_MAX,
					       .counted = counted,
					       .cached = r->cached };
	s->nr_under_way += !r->cached;
	out->nr_beyond +=
		counted && (double)s->nr_under_way > s->model->domain.concurrency * BEYOND_FACTOR;
	l->last_s = s->now_s;
	l->has_lock = false;
	l->nr_sent++;
	stored_throttle_sent(s, slot);
	return stored_serve(s, slot);
}

/*
 * Returns the time at which the next request is due; NaN if the completion on which it depends has
 * not happened.
 */
static double stored_due_s(const struct stored_sim *s, const struct stored_lane *l)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	double since_s = l->last_s;

	if (r->after_lane != UINT32_MAX)
		since_s = s->lanes[s->loads[l->load].first + r->after_lane].ended_s[r->after];
	else if (r->done && l->done_s[r->done - 1] > since_s)
		since_s = l->done_s[r->done - 1];
	return since_s + (double)r->gap_ns / 1e9;
}

/*
 * Does the same for a request of a burst. It is also due when the recorded time since the previous
 * request has passed, if there is room. NEVER: the time is not known before the lane has more
 * completions.
 */
static double stored_burst_due_s(const struct stored_sim *s, const struct stored_lane *l)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	double strict_s = l->nr_done >= r->done ? stored_due_s(s, l) : NEVER, spaced_s;

	if (!l->nr_sent || r->done >= l->nr_sent)
		return strict_s;
	spaced_s = l->last_s + (double)r->spacing_ns / 1e9;
	if (r->room && l->done_s[r->room - 1] > spaced_s)
		spaced_s = l->done_s[r->room - 1];
	return strict_s < spaced_s ? strict_s : spaced_s;
}

/* Sends what the lane may send now, and sets a timer for what it may send later. */
static int stored_look(struct stored_sim *s, uint32_t lane)
{
	struct stored_lane *l = &s->lanes[lane];

	while (l->nr_sent < l->plan->nr) {
		const struct causal_request *r = &l->plan->requests[l->nr_sent];
		double due_s = l->nr_done < r->room ? NEVER : stored_burst_due_s(s, l);
		bool others = s->loads[l->load].nr_done - l->nr_done < r->others;
		int ret = stored_wait_for(s, lane, isnan(due_s), others);

		if (ret || isnan(due_s) || others || due_s == NEVER) {
			eventq_cancel(&s->events, lane);
			return ret;
		}
		if (due_s > s->now_s)
			return eventq_set(&s->events, lane, due_s);
		if (r->takes_lock && !l->has_lock && !stored_lock_take(s, lane)) {
			eventq_cancel(&s->events, lane);
			return 0;
		}
		l->has_lock = r->takes_lock;
		ret = stored_throttle_pass(s, lane);
		if (ret <= 0) {
			eventq_cancel(&s->events, lane);
			return ret;
		}
		ret = stored_submit(s, lane);
		if (ret)
			return ret;
	}
	eventq_cancel(&s->events, lane);
	return 0;
}

/* Lets in those in line of a machine whom its throttle admits. */
static int stored_wake(struct stored_sim *s, uint32_t machine)
{
	uint32_t lane;
	int ret = 0;

	while (!ret && (lane = stored_throttle_next(s, machine)) != STORED_NO_LANE)
		ret = stored_look(s, lane);
	return ret ? ret : stored_throttle_wind(s, machine);
}

/* Looks at those lanes of a load for which the others have come for which they waited. */
static int stored_look_ready(struct stored_sim *s, struct stored_load *load)
{
	int ret = stored_wait_take(s, load);

	for (size_t i = 0; i < s->nr_ready && !ret; i++)
		ret = stored_look(s, s->ready[i]);
	s->nr_ready = 0;
	return ret;
}

/*
 * A load has completed all of its requests. While another load is still in its first pass, it
 * begins anew, because the other one would otherwise be alone for the rest of its time.
 */
static int stored_load_ended(struct stored_sim *s, struct stored_load *load)
{
	size_t at = (size_t)(load - s->loads);
	int ret = 0;

	if (!load->again) {
		s->out[at].times.elapsed_s = s->now_s;
		s->nr_ended++;
	}
	load->again = true;
	if (s->nr_ended == s->nr_loads)
		return 0;
	if (s->nr_repeats < load->nr_requests) {
		s->out[at].ended_early = true;
		return 0;
	}
	s->nr_repeats -= load->nr_requests;
	load->nr_done = 0;
	stored_wait_clear(s, load);
	memset(load->locks, 0, load->nr_locks * sizeof(*load->locks));
	for (size_t i = load->first; i < load->first + load->nr; i++) {
		struct stored_lane *l = &s->lanes[i];

		l->nr_sent = l->nr_done = 0;
		l->last_s = s->now_s;
		l->covered = l->skipped = l->wants_lock = false;
		for (size_t k = 0; k < l->plan->nr; k++)
			l->ended_s[k] = NAN;
		memset(l->awaited, 0xff, l->plan->nr * sizeof(*l->awaited));
	}
	for (size_t i = load->first; i < load->first + load->nr && !ret; i++)
		ret = stored_look(s, (uint32_t)i);
	return ret;
}

/*
 * Counts a completion of a load, and notes when the middle of its requests begins and ends. Returns
 * whether it was the last one.
 */
static bool stored_count(struct stored_sim *s, struct stored_load *load)
{
	struct stored_result *out = &s->out[load - s->loads];
	uint64_t at = load->nr_done++;

	if (!load->again && at == causal_middle_begin(load->nr_requests))
		out->middle_s = -s->now_s;
	if (!load->again && at == causal_middle_end(load->nr_requests))
		out->middle_s += s->now_s;
	return load->nr_done == load->nr_requests;
}

/*
 * A section ended, and so do those that it has covered: their requests count as completed, and were
 * not sent. Sets *ended if one of them was the load's last.
 */
static int stored_skip_covered(struct stored_sim *s, struct stored_load *load, uint32_t lock,
			       bool *ended)
{
	int ret = 0;

	for (size_t i = load->first; i < load->first + load->nr && !ret; i++) {
		struct stored_lane *l = &s->lanes[i];
		bool last = !l->covered || l->plan->lock != lock;

		l->skipped = !last;
		while (!last && !ret) {
			last = l->plan->requests[l->nr_sent].gives_lock;
			l->done_s[l->nr_done++] = s->now_s;
			l->ended_s[l->nr_sent] = s->now_s;
			ret = stored_wait_ended(s, l, l->nr_sent++);
			s->out[l->load].nr_covered += !load->again;
			*ended |= stored_count(s, load);
		}
	}
	return ret;
}

/* Gives the lock of a section that ended to the next lane, and goes on with what it covered. */
static int stored_section_ended(struct stored_sim *s, struct stored_load *load, uint32_t lock)
{
	uint32_t next = stored_lock_give(s, load, lock);
	bool skipped = false;
	int ret = 0;

	if (next != STORED_NO_LANE)
		ret = stored_look(s, next);
	if (ret || !load->shares)
		return ret;
	stored_lock_cover(s, load, lock);
	for (size_t i = load->first; i < load->first + load->nr && !ret; i++) {
		struct stored_lane *l = &s->lanes[i];

		if (!l->skipped)
			continue;
		skipped = true;
		l->skipped = l->covered = l->wants_lock = false;
		l->last_s = s->now_s;
		ret = stored_look(s, (uint32_t)i);
	}
	return ret || !skipped ? ret : stored_look_ready(s, load);
}

static int stored_complete(struct stored_sim *s, uint32_t slot)
{
	uint32_t lane = s->slots[slot].lane;
	struct stored_lane *l = &s->lanes[lane];
	struct stored_load *load = &s->loads[l->load];
	uint32_t index = s->slots[slot].index;
	bool gives_lock, ended, wakes;
	int ret;

	if (s->slots[slot].again)
		return stored_serve(s, slot);
	s->slots[slot].next_free = s->free_slot;
	s->free_slot = slot;
	s->nr_under_way -= !s->slots[slot].cached;
	l->done_s[l->nr_done++] = s->now_s;
	l->ended_s[index] = s->now_s;
	ret = stored_wait_ended(s, l, index);
	wakes = stored_throttle_done(s, slot);
	gives_lock = l->plan->requests[index].gives_lock;
	ended = stored_count(s, load);
	if (!ret && gives_lock && load->shares)
		ret = stored_skip_covered(s, load, l->plan->lock, &ended);
	if (ret || ended)
		return ret ? ret : stored_load_ended(s, load);
	if (gives_lock)
		ret = stored_section_ended(s, load, l->plan->lock);
	if (!ret && wakes)
		ret = stored_wake(s, l->machine);
	if (!ret)
		ret = stored_look(s, lane);
	return ret ? ret : stored_look_ready(s, load);
}

static int stored_lane_begin(struct stored_lane *l, const struct causal_lane *plan, size_t load,
			     uint32_t machine)
{
	l->plan = plan;
	l->load = load;
	l->machine = machine;
	l->done_s = calloc(plan->nr, sizeof(*l->done_s));
	l->ended_s = malloc(plan->nr * sizeof(*l->ended_s));
	l->awaited = malloc(plan->nr * sizeof(*l->awaited));
	if (!l->done_s || !l->ended_s || !l->awaited)
		return -ENOMEM;
	memset(l->awaited, 0xff, plan->nr * sizeof(*l->awaited)); /* STORED_NO_LANE */
	for (size_t i = 0; i < plan->nr; i++)
		l->ended_s[i] = NAN;
	return 0;
}

static int stored_begin(struct stored_sim *s, const struct causal_plan *const *plans, uint64_t seed)
{
	size_t lane = 0, machine = 0;
	int ret;

	for (size_t i = 0; i < s->nr_loads; i++) {
		s->nr_lanes += plans[i]->nr_lanes;
		s->nr_machines += plans[i]->nr_machines;
	}
	s->lanes = calloc(s->nr_lanes + 1, sizeof(*s->lanes));
	s->machines = calloc(s->nr_machines + 1, sizeof(*s->machines));
	s->loads = calloc(s->nr_loads + 1, sizeof(*s->loads));
	if (!s->lanes || !s->machines || !s->loads)
		return -ENOMEM;
	if (s->nr_lanes + s->nr_machines >= EVENTQ_CLOCK)
		return -EINVAL;
	ret = device_sim_init(&s->device, s->model, seed);
	if (!ret)
		ret = eventq_init(&s->events, (uint32_t)(s->nr_lanes + s->nr_machines));
	for (size_t i = 0; i < s->nr_loads && !ret; i++) {
		s->loads[i] = (struct stored_load){ .nr_requests = causal_nr(plans[i]),
						    .cached_s = plans[i]->cached_s,
						    .nr_locks = plans[i]->nr_locks,
						    .first = lane,
						    .nr = plans[i]->nr_lanes };
		s->loads[i].again = !s->loads[i].nr_requests;
		s->nr_ended += s->loads[i].again;
		s->loads[i].locks = calloc(plans[i]->nr_locks + 1, sizeof(*s->loads[i].locks));
		ret = s->loads[i].locks ? stored_wait_init(&s->loads[i]) : -ENOMEM;
		for (size_t k = 0; k < plans[i]->nr_lanes; k++)
			s->loads[i].shares |= plans[i]->lanes[k].copy > 0;
		for (size_t k = 0; k < plans[i]->nr_lanes && !ret; k++)
			ret = stored_lane_begin(&s->lanes[lane++], &plans[i]->lanes[k], i,
						(uint32_t)machine + plans[i]->lanes[k].machine);
		for (size_t k = 0; k < plans[i]->nr_machines; k++)
			stored_machine_begin(&s->machines[machine++], &plans[i]->throttle);
	}
	for (uint32_t i = 0; i < s->nr_lanes && !ret; i++)
		ret = stored_look(s, i);
	return ret;
}

static void stored_release(struct stored_sim *s)
{
	for (size_t i = 0; i < s->nr_lanes && s->lanes; i++) {
		free(s->lanes[i].done_s);
		free(s->lanes[i].ended_s);
		free(s->lanes[i].awaited);
	}
	for (size_t i = 0; i < s->nr_loads && s->loads; i++) {
		free(s->loads[i].locks);
		stored_wait_release(&s->loads[i]);
	}
	free(s->ready);
	free(s->lanes);
	free(s->machines);
	free(s->loads);
	free(s->slots);
	eventq_release(&s->events);
	device_sim_release(&s->device);
}

/* The clock of a lane, or of a machine, has come to its time. */
static int stored_clock(struct stored_sim *s, uint32_t clock)
{
	uint32_t machine = clock - (uint32_t)s->nr_lanes;

	if (clock < s->nr_lanes)
		return stored_look(s, clock);
	return stored_throttle_clock(s, machine) ? stored_wake(s, machine)
						 : stored_throttle_wind(s, machine);
}

static int stored_go(struct stored_sim *s, struct err *err)
{
	const struct event *e;
	int ret = 0;

	while (!ret && s->nr_ended < s->nr_loads && (e = eventq_first(&s->events))) {
		uint32_t id = e->id;

		s->now_s = e->time;
		eventq_pop(&s->events);
		ret = id & EVENTQ_CLOCK ? stored_clock(s, id & ~EVENTQ_CLOCK)
					: stored_complete(s, id);
	}
	for (size_t i = 0; i < s->nr_lanes && !ret; i++)
		if (!s->loads[s->lanes[i].load].again && s->lanes[i].nr_sent < s->lanes[i].plan->nr)
			ret = err_set(err, EINVAL,
				      "the stored requests wait for each other: request %zu of "
				      "thread %u is never sent",
				      s->lanes[i].nr_sent, s->lanes[i].plan->tid);
	return ret;
}

int stored_sim_run(const struct causal_plan *const *plans, size_t nr, const struct device_model *m,
		   uint64_t seed, struct stored_result *out, struct err *err)
{
	struct stored_sim s = { .model = m,
				.nr_loads = nr,
				.nr_repeats = REPEATS_MAX,
				.out = out,
				.free_slot = UINT32_MAX };
	int ret;

	memset(out, 0, nr * sizeof(*out));
	for (size_t i = 0; i < nr; i++) /* faster where many values are added */
		for (int type = 0; type < DEVICE_NR_TYPES; type++)
			out[i].times.response[type].is_whole = true;
	ret = stored_begin(&s, plans, seed);
	if (!ret)
		ret = stored_go(&s, err);
	for (size_t i = 0; i < nr && !ret; i++) {
		device_sim_busy(&s.device, out[i].times.busy_ratio);
		out[i].times.limit = device_sim_limit(&s.device);
	}
	stored_release(&s);
	return ret;
}
