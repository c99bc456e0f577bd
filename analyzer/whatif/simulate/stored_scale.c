// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/simulate/stored_scale.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COPY_OFFSET (1ull << 48) /* copies have offsets of their own */
/* Copies begin within this share of the recorded time after the first one. */
#define SHIFT_RATIO 0.02
/* Multiples of the golden ratio, without their whole part, are spread evenly for any number. */
#define GOLDEN_RATIO 0.6180339887498949
#define NO_LANE	     UINT32_MAX
#define GAP_MAX_NS   9e18 /* 285 years, which uint64_t still holds */

struct stored_scale {
	const struct causal_plan *plan;
	struct causal_plan *out;
	/* in all, and of a machine: 1 where each copy is a machine, below 1 where there is one */
	double factor, clients;
	size_t whole;	  /* copies that have all closed lanes */
	size_t nr_copies; /* whole, and one more where a part of the lanes is copied */
	uint32_t *lanes;  /* owned: by copy and lane of the plan, the lane of out, or NO_LANE */
};

bool stored_scale_is_open(const struct causal_plan *plan)
{
	for (size_t i = 0; i < plan->nr_lanes; i++)
		if (!plan->lanes[i].open)
			return false;
	return true;
}

/* Returns the machine to which a copy of the lanes belongs. */
static size_t stored_scale_machine(const struct stored_scale *s, size_t copy)
{
	return s->clients > 1 ? (size_t)((double)copy / s->clients) : copy;
}

/* Returns whether a lane is the write-back of a machine, which is one whatever its clients are. */
static bool stored_scale_is_shared(const struct stored_scale *s, const struct causal_lane *l)
{
	return !l->tid && !l->open && s->clients != 1;
}

/* Returns the copy whose lane of out a lane of a copy is part of, which may be the copy itself. */
static size_t stored_scale_owner(const struct stored_scale *s, size_t copy,
				 const struct causal_lane *l)
{
	size_t machine = stored_scale_machine(s, copy), owner;

	if (l->open)
		return 0;
	if (!stored_scale_is_shared(s, l))
		return copy;
	owner = (size_t)((double)machine * fmax(s->clients, 1));
	while (stored_scale_machine(s, owner) < machine)
		owner++;
	return owner;
}

/*
 * Numbers the lanes of out. The part of the closed lanes is chosen in one pass: a lane is taken if
 * the requests taken so far then stay nearest to the wanted share of the requests seen so far.
 */
static void stored_scale_number(struct stored_scale *s)
{
	double part = s->factor - (double)s->whole, seen = 0, taken = 0;
	size_t nr = s->plan->nr_lanes;

	for (size_t c = 0; c < s->nr_copies; c++)
		for (size_t i = 0; i < nr; i++) {
			const struct causal_lane *l = &s->plan->lanes[i];
			size_t owner = stored_scale_owner(s, c, l);
			uint32_t *at = &s->lanes[c * nr + i];

			*at = owner != c ? s->lanes[owner * nr + i] : NO_LANE;
			if (owner != c)
				continue;
			if (c == s->whole && !l->open && !stored_scale_is_shared(s, l)) {
				seen += (double)l->nr;
				if (part * seen - taken < (double)l->nr / 2)
					continue;
				taken += (double)l->nr;
			}
			*at = (uint32_t)s->out->nr_lanes++;
		}
}

/* Returns the number of requests that a lane has after scaling. */
static size_t stored_scale_nr(const struct stored_scale *s, const struct causal_lane *l)
{
	if (l->open)
		return (size_t)fmax(1, round((double)l->nr * s->factor));
	return stored_scale_is_shared(s, l) ? (size_t)floor((double)l->nr * s->clients) : l->nr;
}

static void stored_scale_open(const struct stored_scale *s, const struct causal_lane *from,
			      struct causal_lane *to)
{
	for (size_t i = 0; i < to->nr; i++) {
		struct causal_request *q = &to->requests[i];

		*q = from->requests[i % from->nr];
		q->gap_ns = (uint64_t)fmin((double)q->gap_ns / s->factor, GAP_MAX_NS);
		q->spacing_ns = q->gap_ns;
		q->room = i >= CAUSAL_OPEN_DEPTH ? (uint32_t)(i + 1 - CAUSAL_OPEN_DEPTH) : 0;
	}
}

/* Finds the completion from which the gap of a copied request counts. */
static void stored_scale_anchor(const struct stored_scale *s, size_t copy, struct causal_request *q)
{
	const struct causal_lane *l = &s->plan->lanes[q->after_lane];
	uint32_t to = s->lanes[copy * s->plan->nr_lanes + q->after_lane];
	double after = q->after;

	if (to == NO_LANE && copy)
		to = s->lanes[q->after_lane];
	if (l->open)
		after = fmin(floor(after * s->factor), (double)stored_scale_nr(s, l) - 1);
	else if (stored_scale_is_shared(s, l))
		after = s->clients < 1 ? floor((after + 1) * s->clients) - 1
				       : floor(after * s->clients);
	q->after_lane = to;
	q->after = (uint32_t)after;
	if (to == NO_LANE || after < 0) {
		/* The request is left out: the time since the lane's own last one is known. */
		q->after_lane = q->after = UINT32_MAX;
		q->gap_ns = q->spacing_ns;
	}
}

/*
 * Multiplies the write-back of a machine: each of its requests is sent so many times, one after the
 * other, and as many as before are under way at most. How many that are is a setting of the kernel.
 */
static void stored_scale_shared(const struct stored_scale *s, size_t copy,
				const struct causal_lane *from, struct causal_lane *to)
{
	size_t k = 0, deepest = from->depth - 1;

	for (size_t i = 0; i < from->nr; i++) {
		size_t end = (size_t)floor((double)(i + 1) * s->clients);
		const struct causal_request *q = &from->requests[i];
		/* So many others may be under way when it is sent, and none when a burst begins. */
		size_t most = q->done == i ? 0 : q->room ? i - q->room : deepest;

		for (size_t twin = 0; k < to->nr && k < end; k++, twin++) {
			struct causal_request *r = &to->requests[k];

			*r = *q;
			most = twin ? deepest : most;
			r->offset += (copy + twin) * COPY_OFFSET;
			r->done = (uint32_t)floor((double)q->done * s->clients);
			r->room = (uint32_t)(k > most ? k - most : 0);
			r->others = twin ? 0 : q->others * s->whole;
			if (twin) {
				r->gap_ns = r->spacing_ns = 0;
				r->after_lane = r->after = UINT32_MAX;
			} else if (r->after_lane != UINT32_MAX) {
				stored_scale_anchor(s, copy, r);
			}
		}
	}
}

/*
 * Copies a closed lane. By the recorded time of a request, n whole copies complete at least n times
 * as many requests, so that no lane waits for completions that never come.
 */
static void stored_scale_closed(const struct stored_scale *s, size_t copy,
				const struct causal_lane *from, struct causal_lane *to,
				uint64_t shift_ns)
{
	memcpy(to->requests, from->requests, from->nr * sizeof(*to->requests));
	for (size_t i = 0; i < to->nr; i++) {
		struct causal_request *q = &to->requests[i];

		q->others *= s->whole;
		if (q->operation != OPERATION_FLUSH)
			q->offset += copy * COPY_OFFSET;
		if (q->after_lane != UINT32_MAX)
			stored_scale_anchor(s, copy, q);
		else if (!i)
			q->gap_ns += shift_ns;
		if (!i)
			q->spacing_ns += shift_ns;
	}
}

static int stored_scale_lane(const struct stored_scale *s, size_t copy, size_t lane,
			     uint64_t shift_ns)
{
	const struct causal_lane *from = &s->plan->lanes[lane];
	uint32_t at = s->lanes[copy * s->plan->nr_lanes + lane];
	struct causal_lane *to;

	if (at == NO_LANE || stored_scale_owner(s, copy, from) != copy)
		return 0;
	to = &s->out->lanes[at];
	*to = *from;
	to->copy = (uint32_t)copy;
	to->machine = (uint32_t)stored_scale_machine(s, copy);
	/* Each machine has an application of its own, with a log of its own. */
	if (from->lock != CAUSAL_NO_LOCK)
		to->lock += (uint32_t)stored_scale_machine(s, copy) * s->plan->nr_locks;
	to->nr = stored_scale_nr(s, from);
	to->requests = calloc(to->nr + 1, sizeof(*to->requests));
	if (!to->requests)
		return -ENOMEM;
	s->out->nr += to->nr;
	if (from->open && s->factor != 1)
		stored_scale_open(s, from, to);
	else if (stored_scale_is_shared(s, from))
		stored_scale_shared(s, copy, from, to);
	else
		stored_scale_closed(s, copy, from, to, shift_ns);
	return 0;
}

int stored_scale(struct causal_plan *out, const struct causal_plan *plan, size_t machines,
		 double clients)
{
	double factor = (double)machines * clients, most_s = 0;
	struct stored_scale s = { .plan = plan,
				  .out = out,
				  .factor = factor,
				  .clients = clients > 1 ? clients : fmin(factor, 1) };
	int ret;

	*out = (struct causal_plan){ .end_bytes = plan->end_bytes, .bytes_max = plan->bytes_max };
	s.whole = (size_t)factor;
	s.nr_copies = s.whole + (factor > (double)s.whole);
	s.lanes = calloc(s.nr_copies * plan->nr_lanes + 1, sizeof(*s.lanes));
	ret = s.lanes ? 0 : -ENOMEM;
	if (ret)
		goto out;
	stored_scale_number(&s);
	out->nr_locks = s.nr_copies ? (uint32_t)(stored_scale_machine(&s, s.nr_copies - 1) + 1) *
					      plan->nr_locks
				    : 0;
	out->throttle = plan->throttle;
	out->nr_machines =
		s.nr_copies ? (uint32_t)stored_scale_machine(&s, s.nr_copies - 1) + 1 : 1;
	out->lanes = calloc(out->nr_lanes + 1, sizeof(*out->lanes));
	if (!out->lanes) {
		out->nr_lanes = 0;
		ret = -ENOMEM;
	}
	for (size_t c = 0; c < s.nr_copies && !ret; c++) {
		double shift_s = plan->window_s * SHIFT_RATIO * fmod((double)c * GOLDEN_RATIO, 1);

		most_s = fmax(most_s, shift_s);
		for (size_t i = 0; i < plan->nr_lanes && !ret; i++)
			ret = stored_scale_lane(&s, c, i, (uint64_t)(shift_s * 1e9));
	}
	out->window_s = plan->window_s + most_s;
	out->middle_s = plan->middle_s;
out:
	if (ret)
		causal_release(out);
	free(s.lanes);
	return ret;
}
