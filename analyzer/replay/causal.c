// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/causal_anchor.h"
#include "analyzer/replay/causal_begin.h"
#include "analyzer/replay/causal_depend.h"
#include "analyzer/replay/causal_lock.h"
#include "analyzer/replay/causal_open.h"
#include "analyzer/replay/causal_order.h"
#include "analyzer/replay/causal_pool.h"
#include "analyzer/replay/causal_throttle.h"
#include "analyzer/replay/causal_turn.h"
#include "analyzer/replay/wbt.h"

static bool can_be_sent(const struct request *r)
{
	if (r->flags & (REQUEST_NO_ARRIVAL | REQUEST_NO_COMPLETION | REQUEST_PAUSED))
		return false;
	return r->operation == OPERATION_FLUSH || (r->operation <= OPERATION_WRITE && r->bytes);
}

/* This struct is what is known of a window before its lanes are filled. */
struct causal_facts {
	const struct causal_times *t;
	size_t nr;
	uint32_t *before; /* owned: the lane whose place a lane takes, or CAUSAL_NO_LANE */
	struct causal_turns turns;
	const struct causal_throttle *throttle;
	uint8_t *waits;	     /* owned: by request, an enum causal_wait */
	uint32_t journal;    /* the lane that threads wait for, or CAUSAL_NO_LANE */
	uint64_t write_back; /* bit 0 if lane 0 is the kernel's write-back */
};

/* Counts the completions at or before a time, starting from the count nr. */
static size_t count_until(const struct causal_end *ends, size_t all, size_t nr, uint64_t until_ns)
{
	while (nr < all && ends[nr].ns <= until_ns)
		nr++;
	return nr;
}

/*
 * Finds the completion that woke a lane, at most CAUSAL_FOLLOW_NS before its request: any where the
 * lane is known to follow others or begins in the window, since another one has begun it then; one
 * of the journal where threads wait for that. Returns whether there is one.
 */
static bool causal_anchor_woken(struct causal_request *q, const struct causal_facts *facts,
				const struct causal_lane *lane, uint64_t arrival_ns,
				uint64_t since_ns)
{
	if (lane->follows || q == lane->requests)
		causal_anchor_any(q, facts->t, facts->nr, arrival_ns, since_ns);
	else if (lane->unsure && facts->journal != CAUSAL_NO_LANE && q->operation != OPERATION_READ)
		causal_anchor(q, facts->t, 1ull << facts->journal, arrival_ns, since_ns);
	else
		return false;
	return q->gap_ns <= CAUSAL_FOLLOW_NS;
}

/*
 * Finds the event from which the gap of a request counts. idle says that nothing of its lane was
 * under way. Write-back and journals that begin anew do so because of what threads did, so that
 * they go on from whatever completed last.
 */
static void causal_anchor_lane(struct causal_request *q, const struct causal_facts *facts,
			       const struct causal_lane *lane, bool idle, uint64_t arrival_ns,
			       uint64_t since_ns)
{
	const struct causal_times *t = facts->t;

	if (idle && arrival_ns - since_ns > CAUSAL_FOLLOW_NS &&
	    causal_anchor_woken(q, facts, lane, arrival_ns, since_ns))
		return;
	causal_anchor(q, t, idle ? lane->depends : 0, arrival_ns, since_ns);
	if (idle && causal_is_kernel(lane->tid) && q != lane->requests &&
	    q->gap_ns > CAUSAL_FOLLOW_NS)
		causal_anchor_any(q, t, facts->nr, arrival_ns, since_ns);
}

/*
 * Does the same for the first request of lane l, which waits for the end of the lane whose place it
 * takes, or for the last completion that left nothing under way.
 */
static void causal_anchor_new(struct causal_request *q, const struct causal_facts *facts, size_t l,
			      uint64_t arrival_ns)
{
	const struct causal_times *t = facts->t;
	const struct causal_end *e = NULL, *turn = NULL;

	if (facts->before[l] != CAUSAL_NO_LANE && q->gap_ns > CAUSAL_FOLLOW_NS) {
		const struct causal_span *s = &t->lanes[facts->before[l]];

		e = &s->ends[s->nr - 1];
	}
	if ((e || q->after_lane == UINT32_MAX) &&
	    !causal_is_kernel(causal_tid(&t->requests[t->lanes[l].first])))
		turn = causal_turns_find(&facts->turns, t, arrival_ns);
	/* Where programs run in turn, others may have run since the thread ended. */
	if (turn && (!e || (!facts->turns.of_kernel && turn->ns > e->ns)))
		e = turn;
	if (e)
		causal_anchor_at(q, e, arrival_ns);
}

/* Copies what a request is. */
static void causal_describe(struct causal_request *q, const struct request *r,
			    const struct causal_throttle *throttle)
{
	bool flushes = r->operation == OPERATION_FLUSH;

	q->offset = flushes ? 0 : r->sector * SECTOR_BYTES;
	q->bytes = flushes ? 0 : r->bytes;
	q->operation = r->operation;
	q->durable = r->flags & REQUEST_FUA;
	q->preflush = r->flags & REQUEST_PREFLUSH && !flushes;
	q->throttled = causal_is_throttled(throttle, r);
	q->sync = r->flags & (REQUEST_SYNC | REQUEST_META);
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
 * Finds which requests of write-back only seem to have been let in by a completion. Write-back does
 * not wait for room while it has less than half as many requests under way as the deepest request
 * that was let in: what comes just after a completion then does so by chance.
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
 * limit of its depth (a queue, or the application's own) is not known, but the largest recorded
 * depth is within the limit. A request that a completion let in waits for this completion as well.
 * The kernel's write-back has no limit of its own if it is throttled, and neither has a burst of
 * which the throttle held something back: waits[] has what did.
 */
static void make_room(struct causal_lane *lane, const uint8_t *waits)
{
	bool throttled = !lane->tid && !lane->refills && memchr(waits, CAUSAL_LET_IN, lane->nr);
	struct causal_request *q = lane->requests;

	if (!lane->tid)
		causal_forget_chance(q, lane->nr);
	for (size_t i = 0, end; i < lane->nr; i = end) {
		bool limited = !throttled;
		size_t most = i - q[i].done;

		for (end = i + 1; end < lane->nr && q[end].done < end; end++) {
			most = end - q[end].done > most ? end - q[end].done : most;
			limited &= waits[end] != CAUSAL_LET_IN;
		}
		for (size_t k = i + 1; k < end; k++) {
			if (limited && k > most && k - most > q[k].room)
				q[k].room = (uint32_t)(k - most);
			if (!limited)
				q[k].room = 0;
		}
		if (!limited && lane->depth < WBT_DEPTH_MOST)
			lane->depth = WBT_DEPTH_MOST;
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

/* Lets a request that the throttle held back come directly after the one before in its batch. */
static void causal_join_batch(struct causal_lane *lane, size_t i)
{
	struct causal_request *q = &lane->requests[i];

	q->done = q[-1].done;
	q->others = 0;
	q->after_lane = q->after = UINT32_MAX;
	q->gap_ns = q->gap_ns < CAUSAL_FOLLOW_NS ? q->gap_ns : CAUSAL_FOLLOW_NS;
	q->spacing_ns = q->gap_ns;
	q->room = 0;
}

static int fill_lane(struct causal_lane *lane, size_t l, const struct causal_facts *facts)
{
	const struct causal_times *t = facts->t;
	const struct causal_span *s = &t->lanes[l];
	const struct request *r = &t->requests[s->first];
	const uint8_t *waits = &facts->waits[s->first];
	size_t done = 0, just_before = 0, own_before = 0, all_before = 0;

	lane->nr = s->nr;
	lane->requests = calloc(s->nr, sizeof(*lane->requests));
	if (!lane->requests)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++) {
		uint64_t at = r[i].arrival_ns, until;
		uint64_t since = i ? r[i - 1].arrival_ns : t->begin_ns;
		struct causal_request *q = &lane->requests[i];

		until = at > CAUSAL_FOLLOW_NS ? at - CAUSAL_FOLLOW_NS : 0;
		just_before = count_until(s->ends, s->nr, just_before, until);
		until = at > CAUSAL_SLACK_NS ? at - CAUSAL_SLACK_NS : 0;
		done = count_until(s->ends, s->nr, done, at);
		/* A request never waits for its own completion, however short it was. */
		done = done < i ? done : i;
		own_before = count_until(s->ends, s->nr, own_before, until);
		all_before = count_until(t->all, facts->nr, all_before, until);
		if (done && s->ends[done - 1].ns > since)
			since = s->ends[done - 1].ns;
		causal_describe(q, &r[i], facts->throttle);
		causal_anchor_lane(q, facts, lane, done == i, at, since);
		if (!i)
			causal_anchor_new(q, facts, l, at);
		if (waits[i] == CAUSAL_HELD)
			causal_anchor(q, t, lane->depends & ~facts->write_back, at, since);
		q->others = done == i ? all_before - own_before : 0;
		q->done = (uint32_t)done;
		q->spacing_ns = at - (i ? r[i - 1].arrival_ns : t->begin_ns);
		q->room = causal_let_in(lane, q, just_before);
		if (waits[i] == CAUSAL_LET_IN)
			causal_join_batch(lane, i);
		if (i + 1 - done > lane->depth)
			lane->depth = (uint32_t)(i + 1 - done);
	}
	if (lane->open)
		causal_open_lane(lane);
	else if (lane->pool)
		causal_pool_lane(lane);
	else
		make_room(lane, waits);
	return 0;
}

/* Returns the lane of the journal of a file system, or CAUSAL_NO_LANE. */
static uint32_t causal_journal(const struct causal_plan *plan)
{
	for (uint32_t l = 0; l < plan->nr_lanes && l < 2; l++)
		if (plan->lanes[l].tid == CAUSAL_JOURNAL_TID)
			return l;
	return CAUSAL_NO_LANE;
}

/* Finds what lane l waits for in general, before its requests are looked at one by one. */
static int causal_look(struct causal_lane *lane, const struct causal_facts *facts, size_t l)
{
	const struct causal_times *t = facts->t;
	struct causal_following f = { 0 };
	bool constant = false;
	int ret = 0;

	lane->refills = causal_refills(t, l);
	/* Write-back pauses when there is nothing to write, which is not a wait for a request. */
	if (!causal_is_kernel(lane->tid))
		ret = causal_depends(t, l, &lane->depends, &constant);
	if (!constant)
		causal_follow(&f, t, l, t->all, facts->nr, true);
	lane->follows = causal_follows(&f);
	lane->unsure = !constant && !lane->follows && !causal_is_kernel(lane->tid);
	if (ret || causal_is_kernel(lane->tid))
		return ret;
	return causal_is_open(t, l, &lane->open);
}

/*
 * Finds whether threads wait for the journal, which fsync() and sync() do. A program that does so
 * once does not show it alone, but all such programs together may.
 */
static bool causal_waits_for_journal(const struct causal_plan *plan, const struct causal_times *t,
				     uint32_t journal)
{
	struct causal_following f = { 0 };

	if (journal == CAUSAL_NO_LANE)
		return false;
	for (size_t l = 0; l < plan->nr_lanes; l++)
		if (plan->lanes[l].unsure)
			causal_follow(&f, t, l, t->lanes[journal].ends, t->lanes[journal].nr,
				      false);
	return causal_follows_rare(&f);
}

/* Returns whether the throttle may hold a request back of a thread that is idle. */
static bool causal_may_be_held(const struct causal_lane *lane, size_t i)
{
	const struct causal_request *q = &lane->requests[i];

	return q->throttled && i && q->done == i && !causal_is_kernel(lane->tid) && !lane->open &&
	       !lane->pool;
}

/*
 * Lets what the throttle held back of threads that were idle come after a usual time: the median of
 * the flushes, or of the writes, that it did not hold back.
 */
static int causal_free_held(struct causal_plan *plan, const struct causal_facts *facts)
{
	struct histogram usual[2];
	double median_ns[2];
	int ret = 0;

	for (int k = 0; k < 2; k++)
		histogram_init(&usual[k]);
	for (size_t l = 0; l < plan->nr_lanes; l++)
		for (size_t i = 1; i < plan->lanes[l].nr && !ret; i++) {
			const struct causal_request *q = &plan->lanes[l].requests[i];

			if (causal_may_be_held(&plan->lanes[l], i) &&
			    facts->waits[facts->t->lanes[l].first + i] == CAUSAL_FREE)
				ret = histogram_add(&usual[q->operation == OPERATION_FLUSH],
						    q->gap_ns);
		}
	for (int k = 0; k < 2; k++)
		median_ns[k] = 1e9 * histogram_quantile_s(&usual[k], 0.5);
	for (size_t l = 0; l < plan->nr_lanes; l++)
		for (size_t i = 1; i < plan->lanes[l].nr; i++) {
			struct causal_request *q = &plan->lanes[l].requests[i];
			double usual_ns = median_ns[q->operation == OPERATION_FLUSH];

			if (facts->waits[facts->t->lanes[l].first + i] == CAUSAL_HELD &&
			    usual_ns < (double)q->gap_ns)
				q->gap_ns = (uint64_t)usual_ns;
		}
	for (int k = 0; k < 2; k++)
		histogram_release(&usual[k]);
	return ret;
}

static int causal_fill(struct causal_plan *plan, struct causal_times *t,
		       const struct causal_pools *pools, size_t nr)
{
	struct causal_facts facts = { .t = t, .nr = nr, .throttle = &plan->throttle };
	int ret = causal_order_ends(t, nr);
	bool clock;

	if (ret)
		return ret;
	facts.before = malloc(t->nr_lanes * sizeof(*facts.before));
	facts.waits = malloc(nr);
	plan->lanes = calloc(t->nr_lanes, sizeof(*plan->lanes));
	ret = facts.before && facts.waits && plan->lanes ? causal_begin(t, facts.before, &clock)
							 : -ENOMEM;
	if (!ret && !clock)
		ret = causal_turns_make(&facts.turns, t);
	if (!ret)
		ret = causal_throttle_find(t, nr, &plan->throttle, facts.waits);
	if (ret)
		goto out;
	plan->nr_lanes = t->nr_lanes;
	plan->nr_machines = 1;
	for (size_t l = 0; l < t->nr_lanes; l++) {
		struct causal_lane *lane = &plan->lanes[l];
		const struct causal_pool *pool;

		lane->tid = causal_tid(&t->requests[t->lanes[l].first]);
		pool = causal_pools_find(pools, lane->tid);
		lane->pool = pool && pool->hands_on;
		ret = causal_look(lane, &facts, l);
		if (ret)
			goto out;
	}
	facts.write_back = !plan->lanes[0].tid;
	facts.journal = causal_journal(plan);
	if (!causal_waits_for_journal(plan, t, facts.journal))
		facts.journal = CAUSAL_NO_LANE;
	for (size_t l = 0; l < t->nr_lanes; l++) {
		ret = fill_lane(&plan->lanes[l], l, &facts);
		if (ret)
			goto out;
	}
	ret = causal_lock(t, plan);
	if (!ret)
		ret = causal_free_held(plan, &facts);
out:
	free(facts.before);
	free(facts.waits);
	causal_turns_release(&facts.turns);
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

	for (int k = 0; k < 3; k++) /* faster where many values are added */
		plan->response[k].is_whole = true;
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
		ret = causal_order_lanes(&t, r, plan->nr);
	if (!ret)
		ret = causal_fill(plan, &t, &pools, plan->nr);
	if (!ret)
		plan->middle_s = (double)(t.all[causal_middle_end(plan->nr)].ns -
					  t.all[causal_middle_begin(plan->nr)].ns) /
				 1e9;
	causal_pools_release(&pools);
	free(t.room);
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
