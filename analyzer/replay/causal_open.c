// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_open.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory/order.h"

/*
 * This struct counts what the arrivals of a lane find under way, and measures the state of the lane
 * over time.
 */
struct causal_view {
	double nr, nr_busy; /* arrivals; those that find others of the lane under way */
	double nr_bursts;   /* as many of these prove what one arrival does */
	double all_ns, busy_ns;
	double *ages_ns;  /* since the last completion, by arrival */
	double *spans_ns; /* lengths of the intervals between completions */
	size_t nr_ages, nr_spans;
};

/*
 * Walks through the arrivals of the first nr requests, and the completions until then, from the
 * first completion on.
 */
static void causal_open_look(struct causal_view *v, const struct request *r,
			     const struct causal_span *s, size_t nr)
{
	uint64_t now_ns = s->ends[0].ns, end_ns = r[nr - 1].arrival_ns;
	uint64_t burst_ns = (end_ns - r[0].arrival_ns) / nr / OPEN_BURST;
	size_t sent = 0, done = 1;

	while (sent < nr && r[sent].arrival_ns <= now_ns)
		sent++;
	while (sent < nr && now_ns < end_ns) {
		bool arrives = done == s->nr || r[sent].arrival_ns <= s->ends[done].ns;
		uint64_t ns = arrives ? r[sent].arrival_ns : s->ends[done].ns;
		bool busy = sent > done;

		v->all_ns += (double)(ns - now_ns);
		v->busy_ns += busy ? (double)(ns - now_ns) : 0;
		if (arrives) {
			v->nr_bursts += !sent || ns - r[sent - 1].arrival_ns >= burst_ns;
			v->nr++;
			v->nr_busy += busy;
			v->ages_ns[v->nr_ages++] = (double)(ns - s->ends[done - 1].ns);
			sent++;
		} else {
			v->spans_ns[v->nr_spans++] = (double)(ns - s->ends[done - 1].ns);
			done++;
		}
		now_ns = ns;
	}
}

/*
 * Returns the median, over time, of the time since the last completion: the age a for which the sum
 * of min(span, a) is half of the sum of all spans. spans_ns ascends.
 */
static double causal_open_median(const double *spans_ns, size_t nr)
{
	double all = 0, below = 0;

	for (size_t i = 0; i < nr; i++)
		all += spans_ns[i];
	for (size_t i = 0; i < nr; i++) {
		double rest = (double)(nr - i);

		if (below + rest * spans_ns[i] >= all / 2)
			return (all / 2 - below) / rest;
		below += spans_ns[i];
	}
	return 0;
}

static bool causal_open_agrees(double share, double expected, double nr)
{
	double sd = sqrt(expected * (1 - expected) / nr);

	return fabs(share - expected) <= OPEN_SIGMAS * sd + OPEN_TOLERANCE * expected;
}

int causal_is_open(const struct causal_times *t, size_t l, bool *open)
{
	const struct causal_span *s = &t->lanes[l];
	struct causal_view v = { 0 };
	size_t nr = s->nr < OPEN_MOST ? s->nr : OPEN_MOST;
	double busy, above = 0, median;

	*open = false;
	if (s->nr < OPEN_REQUESTS)
		return 0;
	v.ages_ns = malloc(nr * sizeof(*v.ages_ns));
	v.spans_ns = malloc(nr * sizeof(*v.spans_ns));
	if (!v.ages_ns || !v.spans_ns) {
		free(v.ages_ns);
		free(v.spans_ns);
		return -ENOMEM;
	}
	causal_open_look(&v, &t->requests[s->first], s, nr);
	qsort(v.spans_ns, v.nr_spans, sizeof(*v.spans_ns), order_double);
	median = causal_open_median(v.spans_ns, v.nr_spans);
	for (size_t i = 0; i < v.nr_ages; i++)
		above += v.ages_ns[i] > median;
	busy = v.all_ns > 0 ? v.busy_ns / v.all_ns : 0;
	*open = v.nr_bursts >= OPEN_REQUESTS && v.nr_bursts * busy >= OPEN_BUSY &&
		causal_open_agrees(v.nr_busy / v.nr, busy, v.nr_bursts) &&
		causal_open_agrees(above / v.nr, 0.5, v.nr_bursts);
	free(v.ages_ns);
	free(v.spans_ns);
	return 0;
}
