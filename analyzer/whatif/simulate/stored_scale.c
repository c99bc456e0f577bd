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
	double factor;
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
			uint32_t *at = &s->lanes[c * nr + i];

			*at = c && l->open ? s->lanes[i] : NO_LANE;
			if (c && l->open)
				continue;
			if (c == s->whole && !l->open) {
				seen += (double)l->nr;
				if (part * seen - taken < (double)l->nr / 2)
					continue;
				taken += (double)l->nr;
			}
			*at = (uint32_t)s->out->nr_lanes++;
		}
}

/* Returns the number of requests that an open lane has after scaling. */
static size_t stored_scale_open_nr(const struct stored_scale *s, const struct causal_lane *l)
{
	return (size_t)fmax(1, round((double)l->nr * s->factor));
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
	double after = floor((double)q->after * s->factor);

	if (to == NO_LANE && copy)
		to = s->lanes[q->after_lane];
	q->after_lane = to;
	if (to == NO_LANE) {
		/* The lane is left out: the time since the lane's own last request is known. */
		q->after = UINT32_MAX;
		q->gap_ns = q->spacing_ns;
	} else if (l->open) {
		q->after = (uint32_t)fmin(after, (double)(stored_scale_open_nr(s, l) - 1));
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

	if (at == NO_LANE || (copy && from->open))
		return 0;
	to = &s->out->lanes[at];
	*to = *from;
	/* Each copy is an application of its own, with a log of its own. */
	if (from->lock != CAUSAL_NO_LOCK)
		to->lock += (uint32_t)copy * s->plan->nr_locks;
	to->nr = from->open ? stored_scale_open_nr(s, from) : from->nr;
	to->requests = calloc(to->nr, sizeof(*to->requests));
	if (!to->requests)
		return -ENOMEM;
	s->out->nr += to->nr;
	if (from->open && s->factor != 1)
		stored_scale_open(s, from, to);
	else
		stored_scale_closed(s, copy, from, to, shift_ns);
	return 0;
}

int stored_scale(struct causal_plan *out, const struct causal_plan *plan, double factor)
{
	struct stored_scale s = { .plan = plan, .out = out, .factor = factor };
	double most_s = 0;
	int ret;

	*out = (struct causal_plan){ .end_bytes = plan->end_bytes, .bytes_max = plan->bytes_max };
	s.whole = (size_t)factor;
	s.nr_copies = s.whole + (factor > (double)s.whole);
	s.lanes = calloc(s.nr_copies * plan->nr_lanes + 1, sizeof(*s.lanes));
	ret = s.lanes ? 0 : -ENOMEM;
	if (ret)
		goto out;
	stored_scale_number(&s);
	out->nr_locks = (uint32_t)s.nr_copies * plan->nr_locks;
	out->hold = plan->hold;
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
out:
	if (ret)
		causal_release(out);
	free(s.lanes);
	return ret;
}
