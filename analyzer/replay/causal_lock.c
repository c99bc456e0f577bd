// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_lock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fewer expected sections than these cannot tell a lock from chance, as in causal_begin.c. */
#define EXPECTED_LEAST 20.0
/*
 * If threads share a lock, at most this share of the expected overlaps occurs. Under a lock no
 * sections overlap, but a clock may be wrong by a little. docs/studies compares this value with no
 * other.
 */
#define OVERLAPS_MOST 0.02

struct lock_section {
	uint64_t begin_ns, end_ns;
	uint32_t lane;
	uint32_t first, last; /* requests of the lane */
};

/* This struct holds the lanes of one control group that have sections. */
struct lock_search {
	const struct causal_times *t;
	struct lock_section *sections; /* ascending by begin_ns */
	size_t nr;
	bool member[CAUSAL_DEPEND_LANES];
	double held_ratio[CAUSAL_DEPEND_LANES]; /* share of a lane's life inside its sections */
	size_t overlaps[CAUSAL_DEPEND_LANES];	/* sections that begin inside another lane's */
	double expected;			/* of the overlaps of all members, at random */
	size_t nr_overlaps;
};

static int causal_lock_order(const void *a, const void *b)
{
	const struct lock_section *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

static const struct request *causal_lock_lane(const struct causal_times *t, size_t lane)
{
	return &t->requests[t->lanes[lane].first];
}

/*
 * Finds the section that begins with request i of a lane. Returns false if the write is not made
 * durable at once.
 */
static bool causal_lock_section(const struct causal_times *t, const struct causal_lane *lane,
				uint32_t l, uint32_t i, struct lock_section *out)
{
	const struct request *r = causal_lock_lane(t, l);
	uint64_t end_ns = r[i].completion_ns;

	if (r[i].operation != OPERATION_WRITE || lane->requests[i].done != i)
		return false;
	*out = (struct lock_section){ r[i].arrival_ns, end_ns, l, i, i };
	if (r[i].flags & REQUEST_FUA)
		return true;
	while (++out->last < lane->nr) {
		const struct request *next = &r[out->last];

		if (next->arrival_ns > end_ns + CAUSAL_FOLLOW_NS)
			return false;
		end_ns = next->completion_ns > end_ns ? next->completion_ns : end_ns;
		out->end_ns = end_ns;
		if (next->operation == OPERATION_FLUSH)
			return lane->requests[out->last].done == out->last;
		if (next->operation != OPERATION_WRITE)
			return false;
	}
	return false;
}

/* Collects the sections of the lanes of a control group, and the share of time that each holds. */
static void causal_lock_collect(struct lock_search *s, const struct causal_plan *plan,
				uint64_t cgroup_id)
{
	for (uint32_t l = 0; l < plan->nr_lanes && l < CAUSAL_DEPEND_LANES; l++) {
		const struct causal_lane *lane = &plan->lanes[l];
		const struct causal_span *span = &s->t->lanes[l];
		const struct request *r = causal_lock_lane(s->t, l);
		double held_ns = 0, life_ns;

		if (causal_is_kernel(lane->tid) || lane->open || r->cgroup_id != cgroup_id)
			continue;
		for (uint32_t i = 0; i < lane->nr; i++) {
			struct lock_section *section = &s->sections[s->nr];

			if (!causal_lock_section(s->t, lane, l, i, section))
				continue;
			s->member[l] = true;
			held_ns += (double)(section->end_ns - section->begin_ns);
			i = section->last;
			s->nr++;
		}
		life_ns = (double)(span->ends[lane->nr - 1].ns - r->arrival_ns);
		s->held_ratio[l] = life_ns > 0 ? held_ns / life_ns : 0;
	}
	qsort(s->sections, s->nr, sizeof(*s->sections), causal_lock_order);
}

/* Returns the other members' share of time at an instant, of those that live then. */
static double causal_lock_chance(const struct lock_search *s, const struct lock_section *section)
{
	double free_ratio = 1;

	for (size_t l = 0; l < s->t->nr_lanes && l < CAUSAL_DEPEND_LANES; l++) {
		const struct causal_span *span = &s->t->lanes[l];

		if (!s->member[l] || l == section->lane ||
		    causal_lock_lane(s->t, l)->arrival_ns > section->begin_ns ||
		    span->ends[span->nr - 1].ns < section->begin_ns)
			continue;
		free_ratio *= 1 - s->held_ratio[l];
	}
	return 1 - free_ratio;
}

/* Counts how many sections of members begin inside another member's, and would at random. */
static void causal_lock_count(struct lock_search *s)
{
	uint64_t end_ns[CAUSAL_DEPEND_LANES] = { 0 };

	s->expected = 0;
	s->nr_overlaps = 0;
	memset(s->overlaps, 0, sizeof(s->overlaps));
	for (size_t i = 0; i < s->nr; i++) {
		const struct lock_section *section = &s->sections[i];
		bool overlaps = false;

		if (!s->member[section->lane])
			continue;
		s->expected += causal_lock_chance(s, section);
		for (size_t l = 0; l < s->t->nr_lanes && l < CAUSAL_DEPEND_LANES; l++) {
			if (!s->member[l] || l == section->lane || end_ns[l] <= section->begin_ns)
				continue;
			s->overlaps[l]++;
			overlaps = true;
		}
		s->overlaps[section->lane] += overlaps;
		s->nr_overlaps += overlaps;
		end_ns[section->lane] = section->end_ns;
	}
}

/*
 * Takes out lanes, the one that overlaps most first, until the others share a lock. Returns whether
 * any do.
 */
static bool causal_lock_shared(struct lock_search *s)
{
	for (;;) {
		size_t worst = 0;

		causal_lock_count(s);
		if (s->expected < EXPECTED_LEAST)
			return false;
		if ((double)s->nr_overlaps <= OVERLAPS_MOST * s->expected)
			return true;
		for (size_t l = 0; l < CAUSAL_DEPEND_LANES; l++)
			if (s->overlaps[l] > s->overlaps[worst])
				worst = l;
		s->member[worst] = false;
	}
}

/*
 * Makes the requests of a section wait only for their own lane, except for the section's first one.
 */
static void causal_lock_inside(struct causal_lane *lane, const struct request *r,
			       const struct lock_section *section)
{
	uint64_t end_ns = r[section->first].completion_ns;

	for (uint32_t i = section->first + 1; i <= section->last; i++) {
		struct causal_request *q = &lane->requests[i];

		q->others = 0;
		if (q->after_lane != UINT32_MAX && q->after_lane != section->lane) {
			q->after_lane = q->after = UINT32_MAX;
			q->gap_ns = r[i].arrival_ns > end_ns ? r[i].arrival_ns - end_ns : 0;
		}
		end_ns = r[i].completion_ns > end_ns ? r[i].completion_ns : end_ns;
	}
}

/* Marks the requests of all members' sections. */
static void causal_lock_mark(struct lock_search *s, struct causal_plan *plan)
{
	const struct lock_section *before = NULL;

	for (size_t i = 0; i < s->nr; i++) {
		const struct lock_section *section = &s->sections[i];
		struct causal_lane *lane = &plan->lanes[section->lane];
		struct causal_request *first = &lane->requests[section->first];

		if (!s->member[section->lane])
			continue;
		lane->lock = plan->nr_locks;
		first->takes_lock = true;
		lane->requests[section->last].gives_lock = true;
		causal_lock_inside(lane, causal_lock_lane(s->t, section->lane), section);
		if (before && before->lane != section->lane &&
		    before->end_ns <= section->begin_ns &&
		    section->begin_ns - before->end_ns <= CAUSAL_FOLLOW_NS) {
			first->after_lane = before->lane;
			first->after = before->last;
			first->gap_ns = section->begin_ns - before->end_ns;
		}
		before = section;
	}
	plan->nr_locks++;
}

/* Looks for the lock of one control group. */
static int causal_lock_group(const struct causal_times *t, struct causal_plan *plan,
			     uint64_t cgroup_id)
{
	struct lock_search s = { .t = t };

	s.sections = malloc(plan->nr * sizeof(*s.sections));
	if (!s.sections)
		return -ENOMEM;
	causal_lock_collect(&s, plan, cgroup_id);
	if (causal_lock_shared(&s))
		causal_lock_mark(&s, plan);
	free(s.sections);
	return 0;
}

int causal_lock(const struct causal_times *t, struct causal_plan *plan)
{
	size_t nr = plan->nr_lanes < CAUSAL_DEPEND_LANES ? plan->nr_lanes : CAUSAL_DEPEND_LANES;
	int ret = 0;

	for (size_t l = 0; l < plan->nr_lanes; l++)
		plan->lanes[l].lock = CAUSAL_NO_LOCK;
	for (size_t l = 0; l < nr && !ret; l++) {
		uint64_t cgroup_id = causal_lock_lane(t, l)->cgroup_id;
		size_t k = 0;

		while (causal_lock_lane(t, k)->cgroup_id != cgroup_id)
			k++;
		if (k == l)
			ret = causal_lock_group(t, plan, cgroup_id);
	}
	return ret;
}
