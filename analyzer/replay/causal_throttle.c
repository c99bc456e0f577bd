// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_throttle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/causal_order.h"
#include "analyzer/replay/wbt.h"

/*
 * A law held if at most this share of the throttled requests arrived where it admits none. Some do,
 * because the kernel's clock for windows and reads ticks each 4 ms.
 */
#define THROTTLE_OVER_MOST 0.02
/* The law is chosen by what was sent in this time, since it does not change. */
#define THROTTLE_CHOOSE_NS 20000000000ull
/*
 * The step may be larger than it seems at two times. In the first second of a recording, requests
 * before it may have raised the step. For 100 ms after a time without writes, the kernel's timer
 * may not have moved the step back yet, because it is late on a busy machine.
 */
#define THROTTLE_FIRST_NS 1000000000ull
#define THROTTLE_LATE_NS  100000000ull
/* Threads that have fewer under way, and then wait, may do so of their own accord. */
#define THROTTLE_BATCH_LEAST 4
/* So many waits more than the laws before explain make a less likely law credible. */
#define THROTTLE_WAITS_LEAST 5

/* This struct is what a walk has seen of a lane. */
struct throttle_lane {
	uint64_t sent_ns, done_ns; /* its last arrival and completion */
	uint32_t nr_sent, nr;	   /* requests that have arrived; those under way */
};

/* This struct is a walk over a window in order of time, by one law. */
struct throttle_walk {
	const struct causal_times *t;
	const struct causal_throttle *law;
	struct wbt wbt;
	struct throttle_lane *lanes; /* owned */
	int first_step;
	bool full;	   /* as many as the law admits are under way: the next sender waits */
	bool over;	   /* more than the law admits is under way */
	uint32_t filler;   /* the lane that sent the last admitted request */
	uint32_t depth;	   /* throttled requests under way after it */
	uint64_t begin_ns; /* when the first throttled request under way had arrived */
	/* when those who wait were last let in, or WBT_NEVER; when the batch before had begun */
	uint64_t woken_ns, batch_ns;
	size_t nr, nr_over; /* throttled requests; those beyond the law */
	size_t nr_waits;    /* those that waited */
	size_t nr_early;    /* of these: let in while others were still under way */
	uint8_t *waits;	    /* borrowed, by request; or NULL */
};

bool causal_is_throttled(const struct causal_throttle *law, const struct request *r)
{
	if (!law->on)
		return false;
	if (r->operation == OPERATION_FLUSH)
		return true;
	if (r->operation != OPERATION_WRITE || causal_tid(r) == CAUSAL_JOURNAL_TID)
		return false;
	return law->writes || causal_is_kernel(causal_tid(r));
}

/* Returns how a request waited that arrived directly after those who wait had been let in. */
static enum causal_wait throttle_wait(const struct throttle_walk *w, const struct causal_end *e,
				      const struct request *r)
{
	const struct throttle_lane *l = &w->lanes[e->lane];
	uint64_t since_ns = l->sent_ns > l->done_ns ? l->sent_ns : l->done_ns;
	bool kernel = causal_is_kernel(causal_tid(r)), deep = w->depth >= THROTTLE_BATCH_LEAST;

	if (r->operation == OPERATION_WRITE && l->sent_ns < w->woken_ns &&
	    (kernel ? l->sent_ns >= w->batch_ns && e->request : w->filler == e->lane && deep))
		return CAUSAL_LET_IN;
	if (kernel || l->nr || !e->request || !deep || e->ns - since_ns <= CAUSAL_FOLLOW_NS)
		return CAUSAL_FREE;
	return CAUSAL_HELD;
}

/* Raises the step until it admits a request, if it may be larger than it seems. */
static void throttle_raise(struct throttle_walk *w, uint64_t now_ns, bool sync)
{
	bool first = now_ns - w->t->begin_ns < THROTTLE_FIRST_NS;
	bool late = w->wbt.lowered_ns != WBT_NEVER && now_ns - w->wbt.lowered_ns < THROTTLE_LATE_NS;

	while ((first || late) && !wbt_admits(&w->wbt, now_ns, sync) && wbt_raise(&w->wbt)) {
		w->first_step -= first;
		late = false;
	}
}

static void throttle_arrives(struct throttle_walk *w, const struct causal_end *e,
			     const struct request *r)
{
	bool sync = r->flags & (REQUEST_SYNC | REQUEST_META), first = !w->wbt.nr;

	w->nr++;
	throttle_raise(w, e->ns, sync);
	w->over = (w->over && !first) || !wbt_admits(&w->wbt, e->ns, sync);
	w->nr_over += w->over;
	if (w->woken_ns != WBT_NEVER && e->ns - w->woken_ns <= CAUSAL_FOLLOW_NS) {
		enum causal_wait wait = throttle_wait(w, e, r);

		w->nr_waits += wait != CAUSAL_FREE;
		w->nr_early += wait != CAUSAL_FREE && !first;
		if (w->waits)
			w->waits[w->t->lanes[e->lane].first + e->request] = (uint8_t)wait;
	}
	w->begin_ns = first ? e->ns : w->begin_ns;
	wbt_sent(&w->wbt, e->ns);
	if (wbt_admits(&w->wbt, e->ns, sync))
		return;
	w->full = true;
	w->filler = e->lane;
	w->depth = w->wbt.nr;
}

static void throttle_completes(struct throttle_walk *w, const struct causal_end *e,
			       const struct request *r)
{
	if (!causal_is_throttled(w->law, r)) {
		if (r->operation == OPERATION_WRITE)
			wbt_write_done(&w->wbt);
		return;
	}
	if (!wbt_done(&w->wbt, r->operation == OPERATION_WRITE))
		return;
	if (w->full) {
		w->woken_ns = w->over ? WBT_NEVER : e->ns;
		w->batch_ns = w->begin_ns;
	}
	w->full = false;
}

static void throttle_take(struct throttle_walk *w, const struct causal_end *e, bool arrives)
{
	size_t i = w->t->lanes[e->lane].first + e->request;
	const struct request *r = &w->t->requests[i];
	struct throttle_lane *l = &w->lanes[e->lane];

	wbt_look(&w->wbt, e->ns);
	if (r->operation == OPERATION_READ && arrives)
		wbt_read_sent(&w->wbt, e->ns, i);
	else if (r->operation == OPERATION_READ)
		wbt_read_done(&w->wbt, e->ns, i, e->ns - r->arrival_ns);
	else if (!arrives)
		throttle_completes(w, e, r);
	else if (causal_is_throttled(w->law, r))
		throttle_arrives(w, e, r);
	*(arrives ? &l->sent_ns : &l->done_ns) = e->ns;
	l->nr_sent += arrives;
	l->nr += arrives ? 1 : -1u;
}

/*
 * Walks over the window until a time. Of the same instant, completions come first, but not before
 * their arrivals.
 */
static int throttle_walk(struct throttle_walk *w, const struct causal_end *arrivals, size_t nr,
			 uint64_t until_ns)
{
	const struct causal_end *a = arrivals, *e = w->t->all;

	w->lanes = calloc(w->t->nr_lanes, sizeof(*w->lanes));
	if (!w->lanes)
		return -ENOMEM;
	w->first_step = w->law->first_step;
	wbt_init(&w->wbt, w->law->target_ns, w->law->cache, w->first_step);
	w->woken_ns = WBT_NEVER;
	while (e < w->t->all + nr && e->ns <= until_ns) {
		bool arrives = (a < arrivals + nr && a->ns < e->ns) ||
			       w->lanes[e->lane].nr_sent <= e->request;

		throttle_take(w, arrives ? a++ : e++, arrives);
	}
	free(w->lanes);
	return 0;
}

/* Returns whether the device surely has a volatile cache: Linux sends flushes to no others. */
static bool throttle_cache(const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (r[i].operation == OPERATION_FLUSH ||
		    r[i].flags & (REQUEST_FUA | REQUEST_PREFLUSH))
			return true;
	return false;
}

/* Returns whether Linux sent the requests: traces of other systems have no such flags. */
static bool throttle_is_linux(const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (r[i].flags & (REQUEST_KERNEL_THREAD | REQUEST_SYNC))
			return true;
	return false;
}

/*
 * Tries the laws that there may have been, the likely ones first. A device without a cache lets
 * those in who wait while others are still under way, which tells it apart.
 */
static int throttle_choose(const struct causal_times *t, const struct causal_end *arrivals,
			   size_t nr, bool cache, struct causal_throttle *law)
{
	size_t most = 0;
	int ret = 0;

	*law = (struct causal_throttle){ .on = false };
	for (int k = 0; k < 8 && !ret; k++) {
		const struct causal_throttle one = { .on = true,
						     .cache = !(k & 1),
						     .writes = k < 4,
						     .target_ns = k & 2 ? WBT_TARGET_FLASH_NS
									: WBT_TARGET_NS };
		struct throttle_walk w = { .t = t, .law = &one };
		size_t nr_waits;

		if (cache && !one.cache)
			continue;
		ret = throttle_walk(&w, arrivals, nr, t->begin_ns + THROTTLE_CHOOSE_NS);
		if (ret || (double)w.nr_over > THROTTLE_OVER_MOST * (double)w.nr)
			continue;
		nr_waits = one.cache ? w.nr_waits : w.nr_early;
		if (k && nr_waits < most + THROTTLE_WAITS_LEAST)
			continue;
		*law = one;
		law->first_step = w.first_step;
		most = nr_waits;
	}
	return ret;
}

int causal_throttle_find(const struct causal_times *t, size_t nr, struct causal_throttle *law,
			 uint8_t *waits)
{
	struct throttle_walk w = { .t = t, .law = law, .waits = waits };
	const struct causal_end *arrivals;
	int ret;

	*law = (struct causal_throttle){ .on = false };
	memset(waits, CAUSAL_FREE, nr);
	if (!throttle_is_linux(t->requests, nr))
		return 0;
	ret = causal_order_arrivals(t, &arrivals);
	if (ret)
		return ret;
	ret = throttle_choose(t, arrivals, nr, throttle_cache(t->requests, nr), law);
	if (!ret && law->on)
		ret = throttle_walk(&w, arrivals, nr, UINT64_MAX);
	law->nr_waits = w.nr_waits;
	law->nr_over = w.nr_over;
	return ret;
}
