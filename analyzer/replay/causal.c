// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/causal_begin.h"
#include "analyzer/replay/causal_depend.h"
#include "analyzer/replay/causal_hold.h"
#include "analyzer/replay/causal_lock.h"
#include "analyzer/replay/causal_open.h"
#include "analyzer/replay/causal_order.h"
#include "analyzer/replay/causal_pool.h"
#include "analyzer/replay/causal_turn.h"

static bool can_be_sent(const struct request *r)
{
	if (r->flags & (REQUEST_NO_ARRIVAL | REQUEST_NO_COMPLETION | REQUEST_PAUSED))
		return false;
	return r->operation == OPERATION_FLUSH || (r->operation <= OPERATION_WRITE && r->bytes);
}

/* Counts the completions at or before a time, starting from the count nr. */
static size_t count_until(const struct causal_end *ends, size_t all, size_t nr, uint64_t until_ns)
{
	while (nr < all && ends[nr].ns <= until_ns)
		nr++;
	return nr;
}

/*
 * Returns the last completion at or before a time, of a request that was sent before that time;
 * NULL if there is none. By a coarse clock requests take no time: those that were sent at the same
 * instant would else wait for each other.
 */
static const struct causal_end *last_end(const struct causal_times *t, const struct causal_span *s,
					 uint64_t ns)
{
	const struct request *r = &t->requests[s->first];
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct causal_end *e = &s->ends[middle];

		if (e->ns < ns || (e->ns == ns && r[e->request].arrival_ns < ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->ends[low - 1] : NULL;
}

/*
 * Finds the event from which the gap counts: the last event of the lane or completion that it
 * depends on.
 */
static void causal_anchor(struct causal_request *q, const struct causal_times *t, uint64_t depends,
			  uint64_t arrival_ns, uint64_t since_ns)
{
	q->after_lane = q->after = UINT32_MAX;
	for (uint32_t l = 0; l < t->nr_lanes && l < CAUSAL_DEPEND_LANES; l++) {
		const struct causal_end *e;

		if (!(depends >> l & 1))
			continue;
		e = last_end(t, &t->lanes[l], arrival_ns);
		if (!e || e->ns <= since_ns)
			continue;
		since_ns = e->ns;
		q->after_lane = l;
		q->after = e->request;
	}
	q->gap_ns = arrival_ns - since_ns;
}

/* Lets the first request of a lane wait for the end of the lane whose place it takes. */
static void causal_anchor_first(struct causal_request *q, const struct causal_times *t,
				uint32_t before, uint64_t arrival_ns)
{
	const struct causal_end *e = &t->lanes[before].ends[t->lanes[before].nr - 1];

	q->gap_ns = arrival_ns - e->ns;
	q->after_lane = before;
	q->after = e->request;
}

/* Lets the first request of a lane wait for the last completion that left nothing under way. */
static void causal_anchor_turn(struct causal_request *q, const struct causal_times *t,
			       const struct causal_turns *turns, uint64_t arrival_ns)
{
	const struct causal_end *e = causal_turns_find(turns, t, arrival_ns);

	if (!e)
		return;
	q->gap_ns = arrival_ns - e->ns;
	q->after_lane = e->lane;
	q->after = e->request;
}

/*
 * Does this for a request of a lane. A lane that is idle may also have been woken by any other, and
 * a lane that begins in the window has been begun by another.
 */
static void causal_anchor_lane(struct causal_request *q, const struct causal_times *t,
			       const struct causal_lane *lane, bool idle, uint64_t arrival_ns,
			       uint64_t since_ns)
{
	bool woken = lane->follows || q == lane->requests;

	if (idle && woken && arrival_ns - since_ns > CAUSAL_FOLLOW_NS) {
		causal_anchor(q, t, UINT64_MAX, arrival_ns, since_ns);
		if (q->gap_ns <= CAUSAL_FOLLOW_NS)
			return;
	}
	causal_anchor(q, t, idle ? lane->depends : 0, arrival_ns, since_ns);
}

/*
 * Returns how many completions a request waits for if the lane waits for room: as many as there
 * were when it was let in. It was let in by the first completion of the last CAUSAL_FOLLOW_NS, of
 * which nr_before were earlier, if it came long after the request before.
 */
static uint32_t causal_let_in(const struct causal_lane *lane, const struct causal_request *q,
			      size_t nr_before)
{
	bool late = q->spacing_ns > CAUSAL_FOLLOW_NS;

	return lane->refills && late && nr_before < q->done ? (uint32_t)nr_before + 1 : 0;
}

/*
 * Finds which requests of write-back only seem to have been let in by a completion. Write-back is
 * not throttled while it has less than half as many requests under way as the deepest request that
 * was let in: what comes just after a completion then does so by chance.
 */
static void causal_forget_chance(struct causal_request *q, size_t nr)
{
	size_t deepest = 0;

	for (size_t i = 0; i < nr; i++)
		if (q[i].room && i - q[i].done > deepest)
			deepest = i - q[i].done;
	for (size_t i = 0; i < nr; i++)
		if (2 * (i - q[i].done) < deepest)
			q[i].room = 0;
}

/*
 * A burst consists of requests that were sent while other requests of the lane were under way. The
 * limit of its depth (throttling by the kernel, or a queue) is not known, but the largest recorded
 * depth is within the limit. A request that a completion let in waits for this completion as well.
 */
static void make_room(struct causal_lane *lane)
{
	struct causal_request *q = lane->requests;

	if (!lane->tid)
		causal_forget_chance(q, lane->nr);
	for (size_t i = 0, end; i < lane->nr; i = end) {
		size_t most = i - q[i].done;

		for (end = i + 1; end < lane->nr && q[end].done < end; end++)
			most = end - q[end].done > most ? end - q[end].done : most;
		for (size_t k = i; k < end; k++)
			if (k > most && k > i && k - most > q[k].room)
				q[k].room = (uint32_t)(k - most);
		q[i].room = q[i].done;
	}
}

/* Makes the requests of an open lane wait for the recorded times alone. */
static void causal_open_lane(struct causal_lane *lane)
{
	for (size_t i = 0; i < lane->nr; i++) {
		struct causal_request *q = &lane->requests[i];

		q->gap_ns = q->spacing_ns;
		q->others = 0;
		q->done = 0;
		q->room = i >= CAUSAL_OPEN_DEPTH ? (uint32_t)(i + 1 - CAUSAL_OPEN_DEPTH) : 0;
		q->after_lane = q->after = UINT32_MAX;
	}
	lane->depth = CAUSAL_OPEN_DEPTH;
}

/*
 * A pool that hands on at once sends what its process decides, which keeps so many requests under
 * way as it was recorded with: each request waits for as many completions as there were before it.
 */
static void causal_pool_lane(struct causal_lane *lane)
{
	for (size_t i = 0; i < lane->nr; i++)
		lane->requests[i].room = lane->requests[i].done;
}

/* before is the lane whose place this lane takes, or CAUSAL_NO_LANE. */
static int fill_lane(struct causal_lane *lane, const struct causal_times *t,
		     const struct causal_span *s, size_t nr_all, uint32_t before,
		     const struct causal_turns *turns)
{
	const struct request *r = &t->requests[s->first];
	size_t done = 0, just_before = 0, own_before = 0, all_before = 0;

	lane->tid = causal_tid(r);
	lane->nr = s->nr;
	lane->requests = calloc(s->nr, sizeof(*lane->requests));
	if (!lane->requests)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		uint64_t at = r[i].arrival_ns, until;
		uint64_t since = i ? r[i - 1].arrival_ns : t->begin_ns;
		struct causal_request *q = &lane->requests[i];
		bool flushes = r[i].operation == OPERATION_FLUSH;

		until = at > CAUSAL_FOLLOW_NS ? at - CAUSAL_FOLLOW_NS : 0;
		just_before = count_until(s->ends, s->nr, just_before, until);
		until = at > CAUSAL_SLACK_NS ? at - CAUSAL_SLACK_NS : 0;
		done = count_until(s->ends, s->nr, done, at);
		/* A request never waits for its own completion, however short it was. */
		done = done < i ? done : i;
		own_before = count_until(s->ends, s->nr, own_before, until);
		all_before = count_until(t->all, nr_all, all_before, until);
		if (done && s->ends[done - 1].ns > since)
			since = s->ends[done - 1].ns;
		causal_anchor_lane(q, t, lane, done == i, at, since);
		if (!i && before != CAUSAL_NO_LANE && q->gap_ns > CAUSAL_FOLLOW_NS)
			causal_anchor_first(q, t, before, at);
		if (!i && q->after_lane == UINT32_MAX && !causal_is_kernel(lane->tid))
			causal_anchor_turn(q, t, turns, at);
		q->offset = flushes ? 0 : r[i].sector * SECTOR_BYTES;
		q->bytes = flushes ? 0 : r[i].bytes;
		q->others = done == i ? all_before - own_before : 0;
		q->done = (uint32_t)done;
		q->spacing_ns = at - (i ? r[i - 1].arrival_ns : t->begin_ns);
		q->room = causal_let_in(lane, q, just_before);
		q->operation = r[i].operation;
		q->durable = r[i].flags & REQUEST_FUA;
		q->preflush = r[i].flags & REQUEST_PREFLUSH && !flushes;
		if (i + 1 - done > lane->depth)
			lane->depth = (uint32_t)(i + 1 - done);
	}
	if (lane->open)
		causal_open_lane(lane);
	else if (lane->pool)
		causal_pool_lane(lane);
	else
		make_room(lane);
	return 0;
}

/* Finds what lane l waits for in general, before its requests are looked at one by one. */
static int causal_look(struct causal_lane *lane, const struct causal_times *t, size_t l,
		       size_t nr_all)
{
	bool constant;
	int ret;

	lane->refills = causal_refills(t, l);
	/* Write-back pauses when there is nothing to write, which is not a wait for a request. */
	if (causal_is_kernel(causal_tid(&t->requests[t->lanes[l].first]))) {
		lane->follows = causal_follows(t, l, nr_all);
		return 0;
	}
	ret = causal_depends(t, l, &lane->depends, &constant);
	lane->follows = !constant && causal_follows(t, l, nr_all);
	return ret ? ret : causal_is_open(t, l, &lane->open);
}

static int causal_fill(struct causal_plan *plan, struct causal_times *t,
		       const struct causal_pools *pools, size_t nr)
{
	struct causal_turns turns = { 0 };
	uint32_t *before = NULL;
	int ret = causal_order_ends(t, nr);
	bool clock;

	if (ret)
		return ret;
	before = malloc(t->nr_lanes * sizeof(*before));
	plan->lanes = calloc(t->nr_lanes, sizeof(*plan->lanes));
	ret = before && plan->lanes ? causal_begin(t, before, &clock) : -ENOMEM;
	if (!ret && !clock)
		ret = causal_turns_make(&turns, t);
	if (ret)
		goto out;
	plan->nr_lanes = t->nr_lanes;
	for (size_t l = 0; l < t->nr_lanes; l++) {
		const struct causal_pool *pool =
			causal_pools_find(pools, causal_tid(&t->requests[t->lanes[l].first]));

		plan->lanes[l].pool = pool && pool->hands_on;
		ret = causal_look(&plan->lanes[l], t, l, nr);
		if (!ret)
			ret = fill_lane(&plan->lanes[l], t, &t->lanes[l], nr, before[l], &turns);
		if (ret)
			goto out;
	}
	ret = causal_hold_find(t, plan);
	if (!ret)
		ret = causal_lock(t, plan);
out:
	free(before);
	causal_turns_release(&turns);
	return ret;
}

/*
 * A replay cannot ask for a flush before a write: the write is sent after the recorded time of that
 * flush.
 */
static void pass_preflush(struct request *r)
{
	if (r->flags & REQUEST_PREFLUSH && r->operation == OPERATION_WRITE)
		r->arrival_ns = r->dispatch_ns;
}

/* Moves the requests that can be sent to the front, and returns their number. */
static size_t keep_usable(struct request *r, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (can_be_sent(&r[i])) {
			pass_preflush(&r[i]);
			r[kept++] = r[i];
		}
	return kept;
}

static int causal_count_responses(struct causal_plan *plan, const struct request *r)
{
	int ret = 0;

	for (size_t i = 0; i < plan->nr && !ret; i++) {
		int kind = r[i].operation == OPERATION_FLUSH ? 2 : r[i].operation;

		ret = histogram_add(&plan->response[kind], r[i].completion_ns - r[i].arrival_ns);
	}
	return ret;
}

static void sum_up(struct causal_plan *plan, const struct request *r, uint64_t *begin_ns)
{
	uint64_t end_ns = 0, count[2] = { 0, 0 };
	double sum_s[2] = { 0, 0 };

	*begin_ns = UINT64_MAX;
	for (size_t i = 0; i < plan->nr; i++) {
		uint64_t end = r[i].sector * SECTOR_BYTES + r[i].bytes;

		*begin_ns = r[i].arrival_ns < *begin_ns ? r[i].arrival_ns : *begin_ns;
		end_ns = r[i].completion_ns > end_ns ? r[i].completion_ns : end_ns;
		if (r[i].operation == OPERATION_FLUSH)
			continue;
		plan->bytes_max = r[i].bytes > plan->bytes_max ? r[i].bytes : plan->bytes_max;
		plan->end_bytes = end > plan->end_bytes ? end : plan->end_bytes;
		sum_s[r[i].operation] += (double)(r[i].completion_ns - r[i].arrival_ns) / 1e9;
		count[r[i].operation]++;
	}
	plan->window_s = (double)(end_ns - *begin_ns) / 1e9;
	for (int k = 0; k < 2; k++)
		plan->mean_s[k] = count[k] ? sum_s[k] / (double)count[k] : NAN;
}

int causal_make(struct causal_plan *plan, struct request *r, size_t nr, struct err *err)
{
	struct causal_times t = { .requests = r };
	struct causal_pools pools;
	int ret;

	memset(plan, 0, sizeof(*plan));
	plan->nr = keep_usable(r, nr);
	plan->nr_left_out = nr - plan->nr;
	if (!plan->nr)
		return err_set(err, EINVAL,
			       "no request with its times in the selection: nothing to replay");
	if (plan->nr >= UINT32_MAX)
		return err_set(err, EINVAL, "too many requests in the selection: expected < 2^32");
	sum_up(plan, r, &t.begin_ns);
	ret = causal_count_responses(plan, r);
	if (ret)
		return ret;
	ret = causal_pools_make(&pools, r, plan->nr);
	if (!ret)
		ret = causal_order_lanes(r, plan->nr);
	if (!ret)
		ret = causal_fill(plan, &t, &pools, plan->nr);
	if (!ret)
		plan->middle_s = (double)(t.all[causal_middle_end(plan->nr)].ns -
					  t.all[causal_middle_begin(plan->nr)].ns) /
				 1e9;
	causal_pools_release(&pools);
	free(t.ends);
	free(t.all);
	free(t.lanes);
	return ret;
}

void causal_release(struct causal_plan *plan)
{
	for (size_t i = 0; i < plan->nr_lanes; i++)
		free(plan->lanes[i].requests);
	free(plan->lanes);
	for (int k = 0; k < 3; k++)
		histogram_release(&plan->response[k]);
	memset(plan, 0, sizeof(*plan));
}
