// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_sim.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/parallel.h"
#include "analyzer/models/sim/eventq.h"
#include "analyzer/replay/causal_depend.h"
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
/* Simulations at the same time may take this much memory; one alone takes what it needs. */
#define AT_ONCE_BYTES (1ull << 30)

struct stored_lane {
	const struct causal_lane *plan;
	size_t load;
	size_t nr_sent, nr_done;
	double last_s;	 /* when the last request was sent */
	double *done_s;	 /* owned: time of the n-th completion */
	double *ended_s; /* owned: completion time by request; NaN: not yet completed */
	bool waits;	 /* the lane waits for other lanes */
	bool *awaited;	 /* owned: by request, another lane waits for its completion */
	bool wants_lock; /* its next request is due, and another lane holds the lock */
	double wants_s;	 /* since when */
	bool held;	 /* write-back holds its next request back */
	double free_s;	 /* when write-back had held it back until; NaN: it did not */
};

struct stored_load {
	uint64_t nr_done, next_need;
	uint64_t nr_requests; /* of the plan */
	size_t first, nr;     /* lanes */
	size_t nr_waiting, nr_locks;
	double cached_s; /* of the plan */
	bool *held;	 /* owned: by lock, a lane holds it */
	bool again;	 /* the load has completed once, and its further requests do not count */
	struct causal_hold hold; /* of the plan */
	size_t nr_written_back;	 /* requests of write-back under way */
	bool holds;		 /* so much of it was under way, and has not drained */
};

/* This struct is a request under way. */
struct stored_slot {
	struct device_request request;
	double begin_s;
	uint32_t lane, index; /* the lane's request of this number */
	uint32_t next_free;
	bool again;   /* the request has to be submitted to the device a second time */
	bool counted; /* the request belongs to the load's first pass */
	bool cached;  /* a cache in front of the device serves the request */
};

struct stored_sim {
	const struct device_model *model;
	struct device_sim device;
	struct eventq events;
	struct stored_lane *lanes;
	struct stored_load *loads;
	struct stored_slot *slots;
	size_t nr_lanes, nr_loads, nr_slots, cap_slots, nr_under_way;
	size_t nr_ended;     /* loads that have completed once */
	uint64_t nr_repeats; /* requests that repeated loads may still send */
	uint32_t free_slot;  /* UINT32_MAX: none */
	double now_s;
	struct stored_result *out;
};

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
	l->free_s = NAN;
	l->nr_sent++;
	load->nr_written_back += !l->plan->tid;
	load->holds |= load->hold.depth && load->nr_written_back >= load->hold.depth;
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

/*
 * Notes what a lane waits for: the completion from which its gap counts, or a number of completions
 * of others. No other completion is looked at, since thousands of threads that begin late may wait.
 */
static void stored_wait(struct stored_sim *s, struct stored_lane *l, bool after, bool others)
{
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	struct stored_load *load = &s->loads[l->load];
	uint64_t need = r->others + l->nr_done;
	bool waits = after || others;

	if (after)
		s->lanes[load->first + r->after_lane].awaited[r->after] = true;
	if (others && need < load->next_need)
		load->next_need = need;
	if (waits != l->waits)
		load->nr_waiting += waits ? 1 : -(size_t)1;
	l->waits = waits;
}

/*
 * Takes the lock of a lane whose next request is due. Returns false if another lane holds it. The
 * lane is looked at again when it is its turn.
 */
static bool stored_lock_take(struct stored_sim *s, struct stored_lane *l)
{
	bool *held = &s->loads[l->load].held[l->plan->lock];

	if (*held) {
		l->wants_s = l->wants_lock ? l->wants_s : s->now_s;
		l->wants_lock = true;
		return false;
	}
	l->wants_lock = false;
	*held = true;
	return true;
}

/*
 * Returns whether write-back holds back the next request of a lane, which is due since due_s. A
 * request is held back once, since whoever waits is let in before the next burst is throttled. One
 * that was recorded to wait for the end of a burst has waited if it is due just now.
 */
static bool stored_held(const struct stored_sim *s, struct stored_lane *l, double due_s)
{
	const struct stored_load *load = &s->loads[l->load];
	const struct causal_request *r = &l->plan->requests[l->nr_sent];
	bool waited = !isnan(l->free_s);

	if (r->after_lane != UINT32_MAX && !s->lanes[load->first + r->after_lane].plan->tid)
		waited |= due_s >= s->now_s;
	l->held = load->holds && !waited && !causal_is_kernel(l->plan->tid) &&
		  (r->operation == OPERATION_FLUSH   ? load->hold.flushes
		   : r->operation == OPERATION_WRITE ? load->hold.writes
						     : false);
	return l->held;
}

static int stored_look(struct stored_sim *s, uint32_t lane);

/* Lets the requests in that a load's write-back has held back, once it has drained. */
static int stored_let_in(struct stored_sim *s, struct stored_load *load)
{
	int ret = 0;

	load->holds = false;
	for (size_t i = load->first; i < load->first + load->nr && !ret; i++) {
		struct stored_lane *l = &s->lanes[i];

		if (!l->held)
			continue;
		l->held = false;
		l->free_s = s->now_s + (double)load->hold.gap_ns / 1e9;
		ret = stored_look(s, (uint32_t)i);
	}
	return ret;
}

/* Sends what the lane may send now, and sets a timer for what it may send later. */
static int stored_look(struct stored_sim *s, uint32_t lane)
{
	struct stored_lane *l = &s->lanes[lane];

	while (l->nr_sent < l->plan->nr) {
		const struct causal_request *r = &l->plan->requests[l->nr_sent];
		double due_s = l->nr_done < r->room ? NEVER : stored_burst_due_s(s, l);
		bool others = s->loads[l->load].nr_done - l->nr_done < r->others;
		int ret;

		stored_wait(s, l, isnan(due_s), others);
		if (l->waits || due_s == NEVER) {
			eventq_cancel(&s->events, lane);
			return 0;
		}
		due_s = fmax(due_s, l->free_s); /* what is NaN does not count */
		if (due_s > s->now_s)
			return eventq_set(&s->events, lane, due_s);
		if (stored_held(s, l, due_s)) {
			eventq_cancel(&s->events, lane);
			return 0;
		}
		if (r->takes_lock && !stored_lock_take(s, l)) {
			eventq_cancel(&s->events, lane);
			return 0;
		}
		ret = stored_submit(s, lane);
		if (ret)
			return ret;
	}
	eventq_cancel(&s->events, lane);
	return 0;
}

/* Checks again all lanes of a load that wait for others. */
static int stored_look_waiting(struct stored_sim *s, struct stored_load *load)
{
	int ret = 0;

	load->next_need = UINT64_MAX;
	for (size_t i = load->first; i < load->first + load->nr && !ret; i++)
		if (s->lanes[i].waits)
			ret = stored_look(s, (uint32_t)i);
	return ret;
}

/* Gives back the lock of a lane to the lane that has wanted it for the longest time. */
static int stored_lock_give(struct stored_sim *s, const struct stored_lane *l)
{
	struct stored_load *load = &s->loads[l->load];
	size_t next = SIZE_MAX;

	load->held[l->plan->lock] = false;
	for (size_t i = load->first; i < load->first + load->nr; i++)
		if (s->lanes[i].wants_lock && s->lanes[i].plan->lock == l->plan->lock &&
		    (next == SIZE_MAX || s->lanes[i].wants_s < s->lanes[next].wants_s))
			next = i;
	return next == SIZE_MAX ? 0 : stored_look(s, (uint32_t)next);
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
	load->holds = false;
	memset(load->held, 0, load->nr_locks * sizeof(*load->held));
	for (size_t i = load->first; i < load->first + load->nr; i++) {
		struct stored_lane *l = &s->lanes[i];

		l->nr_sent = l->nr_done = 0;
		l->last_s = s->now_s;
		l->held = false;
		l->free_s = NAN;
		for (size_t k = 0; k < l->plan->nr; k++)
			l->ended_s[k] = NAN;
	}
	for (size_t i = load->first; i < load->first + load->nr && !ret; i++)
		ret = stored_look(s, (uint32_t)i);
	return ret;
}

static int stored_complete(struct stored_sim *s, uint32_t slot)
{
	uint32_t lane = s->slots[slot].lane;
	struct stored_lane *l = &s->lanes[lane];
	struct stored_load *load = &s->loads[l->load];
	uint32_t index = s->slots[slot].index;
	int ret;

	if (s->slots[slot].again)
		return stored_serve(s, slot);
	s->slots[slot].next_free = s->free_slot;
	s->free_slot = slot;
	s->nr_under_way -= !s->slots[slot].cached;
	l->done_s[l->nr_done++] = s->now_s;
	l->ended_s[index] = s->now_s;
	load->nr_done++;
	load->nr_written_back -= !l->plan->tid;
	if (load->nr_done == load->nr_requests)
		return stored_load_ended(s, load);
	ret = l->plan->requests[index].gives_lock ? stored_lock_give(s, l) : 0;
	if (!ret && load->holds && !load->nr_written_back)
		ret = stored_let_in(s, load);
	if (!ret)
		ret = stored_look(s, lane);
	if (!ret && load->nr_waiting && (load->nr_done >= load->next_need || l->awaited[index]))
		ret = stored_look_waiting(s, load);
	return ret;
}

static int stored_lane_begin(struct stored_lane *l, const struct causal_lane *plan, size_t load)
{
	l->plan = plan;
	l->load = load;
	l->free_s = NAN;
	l->done_s = calloc(plan->nr, sizeof(*l->done_s));
	l->ended_s = malloc(plan->nr * sizeof(*l->ended_s));
	l->awaited = calloc(plan->nr, sizeof(*l->awaited));
	if (!l->done_s || !l->ended_s || !l->awaited)
		return -ENOMEM;
	for (size_t i = 0; i < plan->nr; i++)
		l->ended_s[i] = NAN;
	return 0;
}

/*
 * Counts the requests of all lanes. The end of a load must not depend on plan->nr, which whoever
 * made the plan has set.
 */
static uint64_t stored_plan_nr(const struct causal_plan *plan)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < plan->nr_lanes; i++)
		nr += plan->lanes[i].nr;
	return nr;
}

static int stored_begin(struct stored_sim *s, const struct causal_plan *const *plans, uint64_t seed)
{
	size_t lane = 0;
	int ret;

	for (size_t i = 0; i < s->nr_loads; i++)
		s->nr_lanes += plans[i]->nr_lanes;
	s->lanes = calloc(s->nr_lanes + 1, sizeof(*s->lanes));
	s->loads = calloc(s->nr_loads + 1, sizeof(*s->loads));
	if (!s->lanes || !s->loads)
		return -ENOMEM;
	if (s->nr_lanes >= EVENTQ_CLOCK)
		return -EINVAL;
	ret = device_sim_init(&s->device, s->model, seed);
	if (!ret)
		ret = eventq_init(&s->events, (uint32_t)s->nr_lanes);
	for (size_t i = 0; i < s->nr_loads && !ret; i++) {
		s->loads[i] = (struct stored_load){ .next_need = UINT64_MAX,
						    .nr_requests = stored_plan_nr(plans[i]),
						    .cached_s = plans[i]->cached_s,
						    .nr_locks = plans[i]->nr_locks,
						    .hold = plans[i]->hold,
						    .first = lane,
						    .nr = plans[i]->nr_lanes };
		s->loads[i].again = !s->loads[i].nr_requests;
		s->nr_ended += s->loads[i].again;
		s->loads[i].held = calloc(plans[i]->nr_locks + 1, sizeof(*s->loads[i].held));
		ret = s->loads[i].held ? 0 : -ENOMEM;
		for (size_t k = 0; k < plans[i]->nr_lanes && !ret; k++)
			ret = stored_lane_begin(&s->lanes[lane++], &plans[i]->lanes[k], i);
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
	for (size_t i = 0; i < s->nr_loads && s->loads; i++)
		free(s->loads[i].held);
	free(s->lanes);
	free(s->loads);
	free(s->slots);
	eventq_release(&s->events);
	device_sim_release(&s->device);
}

static int stored_go(struct stored_sim *s, struct err *err)
{
	const struct event *e;
	int ret = 0;

	while (!ret && s->nr_ended < s->nr_loads && (e = eventq_first(&s->events))) {
		uint32_t id = e->id;

		s->now_s = e->time;
		eventq_pop(&s->events);
		ret = id & EVENTQ_CLOCK ? stored_look(s, id & ~EVENTQ_CLOCK)
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

/* This struct holds the simulations of one call, which parallel_run() executes. */
struct stored_work {
	const struct stored_run *runs;
	uint64_t seed;
	struct err *errs; /* one for each run */
};

static int stored_run_work(void *ctx, size_t chunk, size_t begin, size_t end)
{
	struct stored_work *w = ctx;
	const struct stored_run *r = &w->runs[begin];

	(void)chunk;
	(void)end;
	return stored_sim_run(r->plans, r->nr_plans, r->model, w->seed, r->out, &w->errs[begin]);
}

static int stored_run_pieces(void *ctx, size_t chunk, struct parallel_bytes *b)
{
	const struct stored_run *r = &((struct stored_work *)ctx)->runs[chunk];
	int ret;

	for (size_t i = 0; i < r->nr_plans; i++) {
		ret = device_times_pieces(&r->out[i].times, b);
		if (ret)
			return ret;
		ret = parallel_piece(b, &r->out[i].nr_beyond, sizeof(r->out[i].nr_beyond));
		if (ret)
			return ret;
		ret = parallel_piece(b, &r->out[i].ended_early, sizeof(r->out[i].ended_early));
		if (ret)
			return ret;
	}
	return 0;
}

unsigned stored_sim_at_once(const struct stored_run *runs, size_t nr)
{
	uint64_t most = 1;
	unsigned cpus = parallel_cpus();

	for (size_t i = 0; i < nr; i++) {
		uint64_t bytes = 0;

		/* Each request needs this memory in its struct stored_lane. */
		for (size_t k = 0; k < runs[i].nr_plans; k++)
			bytes += (2 * sizeof(double) + sizeof(bool)) *
				 stored_plan_nr(runs[i].plans[k]);
		most = bytes > most ? bytes : most;
	}
	if (AT_ONCE_BYTES / most >= cpus)
		return cpus;
	return AT_ONCE_BYTES > most ? (unsigned)(AT_ONCE_BYTES / most) : 1;
}

int stored_sim_run_all(const struct stored_run *runs, size_t nr, uint64_t seed, struct err *err)
{
	struct stored_work w = { runs, seed, calloc(nr + 1, sizeof(*w.errs)) };
	const struct parallel p = { .nr_items = nr,
				    .nr_threads = stored_sim_at_once(runs, nr),
				    .work = stored_run_work,
				    .pieces = stored_run_pieces,
				    .ctx = &w,
				    .errs = w.errs,
				    .err = err };
	int ret;

	for (size_t i = 0; i < nr; i++)
		memset(runs[i].out, 0, runs[i].nr_plans * sizeof(*runs[i].out));
	if (!w.errs)
		return -ENOMEM;
	ret = parallel_run(&p);
	free(w.errs);
	return ret;
}
