// SPDX-License-Identifier: Apache-2.0
/*
 * Causal plans: every number against its definition on random traces, and dependences that are
 * known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "analyzer/replay/causal.h"
#include "analyzer/replay/causal_depend.h"
#include "tests/support/causal_lane.h"
#include "tests/support/tap.h"

/*
 * A trace of nr requests of threads 0 (the kernel's) to 4, response times up to 2 ms, a few ties.
 */
static struct request *random_trace(struct rng *rng, size_t nr)
{
	struct request *r = calloc(nr, sizeof(*r));
	uint64_t at = MS;

	for (size_t i = 0; i < nr; i++) {
		at += rng_below(rng, 400) * US;
		r[i] = make((uint32_t)rng_below(rng, 5), at, rng_below(rng, 2000) * US,
			    (int)rng_below(rng, 2));
		r[i].sector = i; /* tells who it is */
	}
	return r;
}

static uint64_t nth_completion(const struct request *r, size_t nr, uint32_t tid, uint64_t n)
{
	uint64_t best = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t before = 0, same = 0;

		if (r[i].tid != tid)
			continue;
		for (size_t k = 0; k < nr; k++) {
			before += r[k].tid == tid && r[k].completion_ns < r[i].completion_ns;
			same += r[k].tid == tid && r[k].completion_ns == r[i].completion_ns;
		}
		if (before < n && n <= before + same)
			best = r[i].completion_ns;
	}
	return best;
}

/* Completed of one thread, or (own false) of all others, at or before a time. */
static uint64_t completed(const struct request *r, size_t nr, uint32_t tid, bool own, uint64_t ns)
{
	uint64_t out = 0;

	for (size_t i = 0; i < nr; i++)
		out += (r[i].tid == tid) == own && r[i].completion_ns <= ns;
	return out;
}

/* By request of the lane: those of it under way when it was sent. Freed by the caller. */
static uint64_t *under_way(const struct causal_lane *lane, const struct request *all, size_t nr)
{
	uint64_t *out = calloc(lane->nr, sizeof(*out));

	for (size_t i = 0; i < lane->nr; i++) {
		const struct request *r = &all[lane->requests[i].offset / SECTOR_BYTES];
		uint64_t done = completed(all, nr, lane->tid, true, r->arrival_ns);

		out[i] = i - (done < i ? done : i);
	}
	return out;
}

/* The burst is from the last request with nothing under way to the next such one. */
static uint64_t room(const uint64_t *under, size_t nr, size_t i)
{
	size_t begin = i, end = i + 1;
	uint64_t most = 0;

	while (under[begin])
		begin--;
	while (end < nr && under[end])
		end++;
	for (size_t k = begin; k < end; k++)
		most = under[k] > most ? under[k] : most;
	return i == begin ? i : i > most ? i - most : 0;
}

/* The last completion before a request, of one that was sent earlier; 0: there is none. */
static uint64_t last_completed(const struct request *all, size_t nr, const struct request *r)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < nr; i++)
		if (all[i].arrival_ns < r->arrival_ns && all[i].completion_ns <= r->arrival_ns &&
		    all[i].completion_ns > last_ns)
			last_ns = all[i].completion_ns;
	return last_ns;
}

/* A thread that begins in the window waits for the completion that its first request follows. */
static bool first_as_defined(const struct causal_request *q, const struct request *all, size_t nr,
			     const struct request *r)
{
	bool begins = r->arrival_ns - all[0].arrival_ns > CAUSAL_FOLLOW_NS;
	uint64_t last_ns = last_completed(all, nr, r);

	if (!begins || !last_ns || r->arrival_ns - last_ns > CAUSAL_FOLLOW_NS)
		return q->after_lane == UINT32_MAX;
	return q->after_lane != UINT32_MAX && q->gap_ns == r->arrival_ns - last_ns;
}

static bool as_defined(const struct causal_plan *plan, const struct causal_lane *lane,
		       const struct request *all, size_t nr)
{
	uint64_t last_ns = 0, *under = under_way(lane, all, nr);
	bool good = true;

	for (size_t i = 0; i < lane->nr; i++) {
		const struct causal_request *q = &lane->requests[i];
		const struct request *r = &all[q->offset / SECTOR_BYTES];
		uint64_t done = completed(all, nr, lane->tid, true, r->arrival_ns);
		uint64_t since = last_ns ? last_ns : all[0].arrival_ns, slack = CAUSAL_SLACK_NS;
		bool begins;

		done = done < i ? done : i;
		if (done && nth_completion(all, nr, lane->tid, done) > since)
			since = nth_completion(all, nr, lane->tid, done);
		/* Write-back that begins anew goes on from the last completion of anybody. */
		begins = i && done == i && !lane->tid && r->arrival_ns - since > CAUSAL_FOLLOW_NS;
		if (begins && last_completed(all, nr, r) > since)
			good = good && q->after_lane != UINT32_MAX &&
			       q->gap_ns == r->arrival_ns - last_completed(all, nr, r);
		if (q->after_lane != UINT32_MAX) {
			const struct causal_request *a =
				&plan->lanes[q->after_lane].requests[q->after];

			since = all[a->offset / SECTOR_BYTES].completion_ns;
			good = good && done == i &&
			       (!i || begins || lane->depends >> q->after_lane & 1);
		}
		good = good && (i || lane->depends || first_as_defined(q, all, nr, r));
		good = good && q->done == done && since + q->gap_ns == r->arrival_ns &&
		       q->room == room(under, lane->nr, i) &&
		       q->spacing_ns == r->arrival_ns - (last_ns ? last_ns : all[0].arrival_ns) &&
		       q->others == (done == i && r->arrival_ns > slack
					     ? completed(all, nr, lane->tid, false,
							 r->arrival_ns - slack)
					     : 0);
		last_ns = r->arrival_ns;
	}
	free(under);
	return good;
}

/* An open lane goes by its recorded arrivals alone. */
static bool open_as_defined(const struct causal_lane *lane, const struct request *all)
{
	uint64_t last_ns = all[0].arrival_ns;
	bool good = lane->depth == CAUSAL_OPEN_DEPTH;

	for (size_t i = 0; i < lane->nr; i++) {
		const struct causal_request *q = &lane->requests[i];
		const struct request *r = &all[q->offset / SECTOR_BYTES];

		good = good && !q->done && !q->others && q->after_lane == UINT32_MAX &&
		       q->gap_ns == r->arrival_ns - last_ns && q->spacing_ns == q->gap_ns &&
		       q->room == (i >= CAUSAL_OPEN_DEPTH ? i + 1 - CAUSAL_OPEN_DEPTH : 0);
		last_ns = r->arrival_ns;
	}
	return good;
}

static void every_number_is_as_defined(void)
{
	size_t nr_open = 0, nr_closed = 0;
	struct rng rng;

	rng_seed(&rng, 7);
	for (int run = 0; run < 20; run++) {
		size_t nr = 1 + rng_below(&rng, 300), sent = 0;
		struct request *all = random_trace(&rng, nr), *mixed = malloc(nr * sizeof(*mixed));
		struct causal_plan plan;

		memcpy(mixed, all, nr * sizeof(*mixed));
		for (size_t i = nr; i > 1; i--) {
			size_t k = rng_below(&rng, i);
			struct request swap = mixed[i - 1];

			mixed[i - 1] = mixed[k];
			mixed[k] = swap;
		}
		ok_int(causal_make(&plan, mixed, nr, NULL), 0);
		for (size_t l = 0; l < plan.nr_lanes; l++) {
			bool open = plan.lanes[l].open;

			ok(open ? open_as_defined(&plan.lanes[l], all)
				: as_defined(&plan, &plan.lanes[l], all, nr));
			sent += plan.lanes[l].nr;
			nr_open += open;
			nr_closed += !open;
		}
		ok_eq(sent, nr);
		causal_release(&plan);
		free(mixed);
		free(all);
	}
	ok(nr_open > 0 && nr_closed > 0);
}

static void a_thread_that_waits_thinks(void)
{
	struct request r[50];
	struct causal_plan plan;
	const struct causal_lane *lane;

	for (size_t i = 0; i < 50; i++)
		r[i] = make(9, MS + i * 5 * MS, 2 * MS, OPERATION_READ);
	ok_int(causal_make(&plan, r, 50, NULL), 0);
	lane = lane_of(&plan, 9);
	for (size_t i = 1; i < 50; i++)
		ok(lane->requests[i].done == i && lane->requests[i].room == i &&
		   lane->requests[i].gap_ns == 3 * MS);
	ok_eq(lane->depth, 1);
	ok_near(plan.mean_s[0], 0.002, 1e-12);
	ok(isnan(plan.mean_s[1]));
	causal_release(&plan);
}

/* Eight at once, then one for each that completes: never more than eight under way. */
static void a_burst_keeps_its_depth(void)
{
	struct request r[100];
	struct causal_plan plan;
	const struct causal_lane *lane;

	for (size_t i = 0; i < 100; i++)
		r[i] = make(0, i < 8 ? MS : MS + (i - 7) * MS, 8 * MS - (i < 8) * (7 - i) * MS,
			    OPERATION_WRITE);
	ok_int(causal_make(&plan, r, 100, NULL), 0);
	lane = lane_of(&plan, 0);
	ok_eq(lane->depth, 8);
	ok_eq(lane->requests[7].room, 0);
	ok_eq(lane->requests[50].done, 43);
	ok_eq(lane->requests[50].room, 43);
	causal_release(&plan);
}

/* Thread 1 reads, thread 2 commits what it read: 1 goes on when 2's write has completed. */
static void who_waits_for_another_depends_on_it(void)
{
	struct request r[400];
	struct causal_plan plan;
	struct rng rng;
	uint64_t at = MS, wrong = 0;

	rng_seed(&rng, 3);
	for (size_t i = 0; i < 400; i += 2) {
		r[i] = make(1, at, 200 * US, OPERATION_READ);
		at += 250 * US;
		r[i + 1] = make(2, at, (100 + rng_below(&rng, 20000)) * US, OPERATION_WRITE);
		at = r[i + 1].completion_ns + 30 * US;
	}
	ok_int(causal_make(&plan, r, 400, NULL), 0);
	ok_eq(plan.lanes[0].depends, 2); /* on lane 1 */
	for (size_t i = 1; i < 200; i++)
		wrong += plan.lanes[0].requests[i].after_lane != 1 ||
			 plan.lanes[0].requests[i].after != i - 1 ||
			 plan.lanes[0].requests[i].gap_ns != 30 * US;
	ok_eq(wrong, 0);
	causal_release(&plan);
}

/*
 * Each its own closed loop, response and think times exponential: whoever is stuck, the others go
 * on.
 */
static void who_does_not_wait_does_not_depend(void)
{
	enum { LANES = 4, EACH = 1000 };
	struct request r[LANES * EACH];
	struct causal_plan plan;
	struct rng rng;
	size_t nr = 0;

	rng_seed(&rng, 5);
	for (uint32_t l = 1; l <= LANES; l++) {
		uint64_t at = MS;

		for (int i = 0; i < EACH; i++, nr++) {
			at += (uint64_t)(rng_exponential(&rng) * 1e6) + 1;
			r[nr] = make(l, at, (uint64_t)(rng_exponential(&rng) * 3e6), 0);
			at = r[nr].completion_ns;
		}
	}
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok(!plan.lanes[l].depends && !plan.lanes[l].follows);
	causal_release(&plan);
}

/*
 * Clients that think for the same time queue for one server in the same order again and again:
 * each is idle whenever another one is served, and waits for none of them.
 */
static void who_thinks_in_step_does_not_depend(void)
{
	enum { LANES = 4, EACH = 800 };
	struct request r[LANES * EACH];
	uint64_t due[LANES], free_ns = MS;
	struct causal_plan plan;
	struct rng rng;

	rng_seed(&rng, 6);
	for (uint64_t l = 0; l < LANES; l++)
		due[l] = MS + l * US;
	for (size_t i = 0; i < LANES * EACH; i++) {
		uint32_t next = 0;

		for (uint32_t l = 1; l < LANES; l++)
			next = due[l] < due[next] ? l : next;
		free_ns =
			(free_ns > due[next] ? free_ns : due[next]) + MS + rng_below(&rng, MS / 10);
		r[i] = make(1 + next, due[next], free_ns - due[next], OPERATION_READ);
		due[next] = free_ns + 20 * MS + rng_below(&rng, MS / 10);
	}
	ok_int(causal_make(&plan, r, LANES * EACH, NULL), 0);
	ok_int(plan.nr_lanes, LANES);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok(!plan.lanes[l].depends && !plan.lanes[l].follows);
	causal_release(&plan);
}

/*
 * Four threads read, and one in eight requests is a write that a journal commits: the commit
 * begins 60 us after that write, and the thread goes on 80 us after the commit. Write-back goes
 * its own way.
 */
static size_t journalled(struct request *r, struct rng *rng)
{
	uint64_t at[4] = { MS, MS, MS, MS }, journal_ns = 0;
	size_t nr = 0;

	for (size_t i = 0; i < 2000; i++) {
		uint32_t l = 0;

		for (uint32_t k = 1; k < 4; k++)
			l = at[k] < at[l] ? k : l;
		if (at[l] > journal_ns && !rng_below(rng, 8)) {
			uint64_t ns = at[l] + 2 * MS;

			r[nr++] = make(11 + l, at[l], 2 * MS, OPERATION_WRITE);
			r[nr] = make(0, ns + 60 * US, 2 * MS, OPERATION_WRITE);
			r[nr].flags |= REQUEST_META | REQUEST_SYNC;
			journal_ns = r[nr++].completion_ns;
			at[l] = journal_ns + 80 * US;
			continue;
		}
		r[nr++] = make(11 + l, at[l], MS + rng_below(rng, 1000) * US, OPERATION_READ);
		at[l] = r[nr - 1].completion_ns + (30 + rng_below(rng, 40)) * US;
	}
	for (uint64_t i = 0; i < 100; i++)
		r[nr++] = make(0, MS + rng_below(rng, 1000) * MS, 5 * MS, OPERATION_WRITE);
	return nr;
}

static void a_journal_follows_the_writes(void)
{
	struct request *r = calloc(5000, sizeof(*r));
	size_t nr, nr_writes = 0, nr_right = 0, nr_back = 0;
	const struct causal_lane *journal;
	struct causal_plan plan;
	struct rng rng;

	rng_seed(&rng, 8);
	nr = journalled(r, &rng);
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	journal = lane_of(&plan, CAUSAL_JOURNAL_TID);
	ok(journal && journal->follows && !lane_of(&plan, 0)->follows);
	for (size_t l = 0; l < plan.nr_lanes; l++)
		ok(plan.lanes[l].follows == (plan.lanes[l].tid != 0));
	for (size_t i = 0; i < journal->nr; i++) {
		const struct causal_request *q = &journal->requests[i];

		nr_writes++;
		nr_right += q->after_lane != UINT32_MAX && q->gap_ns <= 60 * US;
	}
	for (size_t l = 0; l < plan.nr_lanes; l++)
		for (size_t i = 0; i < plan.lanes[l].nr; i++) {
			const struct causal_request *q = &plan.lanes[l].requests[i];

			nr_back += plan.lanes[l].tid > 10 && q->after_lane != UINT32_MAX &&
				   plan.lanes[q->after_lane].tid == CAUSAL_JOURNAL_TID;
		}
	ok(nr_writes > 80);
	ok_eq(nr_right, nr_writes);
	/* Another completion may come between the commit and the thread that waited for it. */
	ok(nr_back > nr_writes * 8 / 10 && nr_back <= nr_writes);
	causal_release(&plan);
	free(r);
}

static void what_cannot_be_sent_is_counted(void)
{
	struct request r[6];
	struct causal_plan plan;
	struct err err = { 0 };

	for (size_t i = 0; i < 6; i++)
		r[i] = make(1, MS * (i + 1), US, OPERATION_WRITE);
	r[1].operation = OPERATION_DISCARD;
	r[2].flags |= REQUEST_NO_COMPLETION;
	r[3].operation = OPERATION_FLUSH;
	r[3].bytes = 0;
	r[4].flags |= REQUEST_FUA | REQUEST_PREFLUSH;
	r[4].dispatch_ns += US / 2;
	r[5].flags |= REQUEST_PAUSED;
	ok_int(causal_make(&plan, r, 6, &err), 0);
	ok_eq(plan.nr, 3);
	ok_eq(plan.nr_left_out, 3);
	ok(plan.lanes[0].requests[2].durable && !plan.lanes[0].requests[0].durable);
	ok_eq(plan.lanes[0].requests[1].operation, OPERATION_FLUSH);
	ok_eq(plan.lanes[0].requests[2].gap_ns, MS - US + US / 2); /* since the flush */
	causal_release(&plan);
	r[0].flags |= REQUEST_NO_ARRIVAL;
	ok_int(causal_make(&plan, r, 1, &err), -EINVAL);
	ok(strstr(err.line, "nothing to replay"));
	causal_release(&plan);
}

/* Four threads of which one at a time holds a lock, in which it writes and flushes. */
static void who_needs_a_lock_depends_on_its_holders(void)
{
	enum { TURNS = 600 };
	struct request r[2 * TURNS];
	struct causal_plan plan;
	struct rng rng;
	uint64_t at = MS, wrong = 0;
	uint32_t last = 0;

	rng_seed(&rng, 4);
	for (size_t i = 0; i < TURNS; i++) {
		uint32_t tid = 1 + (last + (uint32_t)rng_below(&rng, 3)) % 4; /* another one */

		last = tid;
		r[2 * i] = make(tid, at, 3 * MS, OPERATION_WRITE);
		r[2 * i + 1] = make(tid, at + 3 * MS + 20 * US, 200 * US, OPERATION_FLUSH);
		at = r[2 * i + 1].completion_ns + (50 + rng_below(&rng, 400)) * US;
	}
	ok_int(causal_make(&plan, r, 2 * TURNS, NULL), 0);
	ok_int(plan.nr_lanes, 4);
	for (size_t l = 0; l < 4; l++) {
		ok_eq(plan.lanes[l].depends, 15 & ~(1ull << l));
		ok(!plan.lanes[l].open);
		for (size_t i = 2; i < plan.lanes[l].nr; i++) {
			const struct causal_request *q = &plan.lanes[l].requests[i];

			wrong += q->operation == OPERATION_WRITE && q->after_lane == UINT32_MAX;
		}
	}
	ok_eq(wrong, 0); /* each turn begins after that of another thread */
	causal_release(&plan);
}

/*
 * Thirty programs write once, and again 50 us after the journal's commit, or (waits false) at any
 * time. Returns how many of the second writes wait for the journal, which is the first lane.
 */
static size_t nr_waits_for_journal(bool waits)
{
	struct request r[30 * 3];
	struct causal_plan plan;
	size_t nr = 0, found = 0;
	uint64_t now_ns = MS;
	struct rng rng;

	rng_seed(&rng, 9);
	for (uint32_t k = 0; k < 30; k++, now_ns += 40 * MS + rng_below(&rng, 20 * MS)) {
		uint64_t later_ns = 8 * MS + 50 * US;

		if (!waits)
			later_ns = 3 * MS + rng_below(&rng, 30 * MS);
		r[nr++] = make(100 + k, now_ns, 2 * MS, OPERATION_WRITE);
		r[nr] = make(0, now_ns + 5 * MS, 3 * MS, OPERATION_WRITE);
		r[nr++].flags |= REQUEST_META | REQUEST_SYNC;
		r[nr++] = make(100 + k, now_ns + later_ns, 2 * MS, OPERATION_WRITE);
	}
	ok_int(causal_make(&plan, r, nr, NULL), 0);
	ok_eq(plan.lanes[0].tid, CAUSAL_JOURNAL_TID);
	for (size_t l = 1; l < plan.nr_lanes; l++)
		found += plan.lanes[l].requests[1].after_lane == 0;
	causal_release(&plan);
	return found;
}

static void short_programs_wait_for_the_journal_if_all_do(void)
{
	ok_eq(nr_waits_for_journal(true), 30);
	ok_eq(nr_waits_for_journal(false), 0);
}

static const struct tap_test tests[] = {
	{ "every number of a plan is as it is defined", every_number_is_as_defined },
	{ "a thread that waits sends after its think time", a_thread_that_waits_thinks },
	{ "a burst keeps to its depth", a_burst_keeps_its_depth },
	{ "who waits for another depends on it", who_waits_for_another_depends_on_it },
	{ "who does not wait does not depend", who_does_not_wait_does_not_depend },
	{ "who thinks in step with others depends on none of them",
	  who_thinks_in_step_does_not_depend },
	{ "who needs a lock depends on its holders", who_needs_a_lock_depends_on_its_holders },
	{ "a journal follows the writes that it commits, and who waits follows it",
	  a_journal_follows_the_writes },
	{ "what cannot be sent is counted", what_cannot_be_sent_is_counted },
	{ "short programs wait for the journal if all of them together do",
	  short_programs_wait_for_the_journal_if_all_do },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
