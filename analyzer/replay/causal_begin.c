// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/causal_begin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * If 20 beginnings are expected of independent threads, 4 or fewer come with a probability of
 * 0.00002. The limits for lanes that stop while another is busy have the same reason
 * (causal_depend.c).
 */
#define EXPECTED_LEAST 20.0
#define BEGIN_MOST     0.2 /* at most this share of those expected, if threads take places */
/* docs/studies compares this value with no other. */
#define ALIKE_FACTOR 2
/*
 * Threads that begin so regularly go by a clock. The limit for constant think times has the same
 * reason (causal_depend.c).
 */
#define CLOCK_RATIO 1.15

/* This struct describes the first request or the last completion of a lane. */
struct begin_event {
	uint64_t ns;
	uint32_t lane;
	bool begins;
};

/* Ends come before beginnings of the same time: a place is then free. */
static int causal_begin_order(const void *a, const void *b)
{
	const struct begin_event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->begins != y->begins)
		return x->begins ? 1 : -1;
	return (x->lane > y->lane) - (x->lane < y->lane);
}

static size_t causal_begin_events(const struct causal_times *t, struct begin_event *events)
{
	size_t nr = 0;

	for (uint32_t l = 0; l < t->nr_lanes; l++) {
		const struct causal_span *s = &t->lanes[l];
		const struct request *r = &t->requests[s->first];
		uint64_t end_ns = s->ends[s->nr - 1].ns;

		if (causal_is_kernel(causal_tid(r)))
			continue;
		events[nr++] = (struct begin_event){ r->arrival_ns, l, true };
		/* A lane without a length would end before it begins. */
		end_ns = end_ns > r->arrival_ns ? end_ns : r->arrival_ns + 1;
		events[nr++] = (struct begin_event){ end_ns, l, false };
	}
	qsort(events, nr, sizeof(*events), causal_begin_order);
	return nr;
}

static int causal_begin_ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Sets the 10th and the 90th percentile of the times until each beginning, since the beginning
 * before or, if after_end is true, since the last end. spans_ns has room for one time per thread.
 * Returns the number of these times.
 */
static size_t causal_begin_spans(const struct begin_event *events, size_t nr, bool after_end,
				 double *spans_ns, double range_ns[2])
{
	const struct begin_event *last = NULL;
	size_t nr_spans = 0;

	for (size_t i = 0; i < nr; i++) {
		if (events[i].begins && last)
			spans_ns[nr_spans++] = (double)(events[i].ns - last->ns);
		if (events[i].begins != after_end)
			last = &events[i];
	}
	qsort(spans_ns, nr_spans, sizeof(*spans_ns), causal_begin_ascending);
	range_ns[0] = nr_spans ? spans_ns[nr_spans / 10] : 0;
	range_ns[1] = nr_spans ? spans_ns[nr_spans * 9 / 10] : 0;
	return nr_spans;
}

/*
 * Returns whether threads begin by a clock, which waits for nobody: the times from one beginning to
 * the next are nearly the same, and differ less than those from an end to the next beginning. A
 * loop of programs that take nearly the same time begins regularly as well, but what it repeats is
 * the time after the end.
 */
static bool causal_begin_clock(const struct begin_event *events, size_t nr, double *spans_ns)
{
	double begin_ns[2], pause_ns[2];
	size_t nr_pauses = causal_begin_spans(events, nr, true, spans_ns, pause_ns);
	size_t nr_spans = causal_begin_spans(events, nr, false, spans_ns, begin_ns);

	if (!nr_spans || begin_ns[1] > CLOCK_RATIO * begin_ns[0])
		return false;
	return !nr_pauses || begin_ns[1] - begin_ns[0] <= pause_ns[1] - pause_ns[0];
}

/*
 * Returns whether threads take places. begun[k] counts those that begin while exactly k live, and
 * ns[k] is the time in which so many live, from the first beginning to the last one.
 */
static bool causal_begin_shows(const struct begin_event *events, size_t nr, double *begun,
			       double *ns)
{
	double all_begun = 0, all_ns = 0, begun_above = 0, ns_above = 0;
	size_t live = 0, left = nr / 2, most = 0;

	for (size_t i = 0; i < nr && left; i++) {
		if (i) {
			ns[live] += (double)(events[i].ns - events[i - 1].ns);
			all_ns += (double)(events[i].ns - events[i - 1].ns);
		}
		if (events[i].begins) {
			begun[live] += i > 0;
			all_begun += i > 0;
			left--;
		}
		live += events[i].begins ? 1 : -(size_t)1;
		most = live > most ? live : most;
	}
	for (size_t k = most; k > 0; k--) {
		begun_above += begun[k];
		ns_above += ns[k];
		if (all_begun * ns_above >= EXPECTED_LEAST * all_ns &&
		    begun_above * all_ns < BEGIN_MOST * all_begun * ns_above)
			return true;
	}
	return false;
}

/*
 * Takes the one whose place lane l takes out of the lanes that have ended and whose places are
 * free: the last one that sent about as many requests as l does, since a loop starts the same
 * program again, or else the last one.
 */
static uint32_t causal_begin_take(const struct causal_times *t, uint32_t l, uint32_t *ended,
				  size_t *nr)
{
	size_t at = *nr - 1;
	uint32_t lane;

	for (size_t i = *nr; i > 0 && *nr - i < CAUSAL_DEPEND_LANES; i--) {
		size_t sent = t->lanes[ended[i - 1]].nr;

		if (sent > ALIKE_FACTOR * t->lanes[l].nr || t->lanes[l].nr > ALIKE_FACTOR * sent)
			continue;
		at = i - 1;
		break;
	}
	lane = ended[at];
	memmove(&ended[at], &ended[at + 1], (*nr - at - 1) * sizeof(*ended));
	(*nr)--;
	return lane;
}

int causal_begin(const struct causal_times *t, uint32_t *before, bool *clock)
{
	struct begin_event *events = calloc(2 * t->nr_lanes + 1, sizeof(*events));
	double *begun = calloc(t->nr_lanes + 2, sizeof(*begun));
	double *ns = calloc(t->nr_lanes + 2, sizeof(*ns));
	uint32_t *ended = calloc(t->nr_lanes + 1, sizeof(*ended)); /* the last one ended last */
	size_t nr, nr_ended = 0;
	int ret = events && begun && ns && ended ? 0 : -ENOMEM;

	*clock = false;
	for (size_t l = 0; l < t->nr_lanes; l++)
		before[l] = CAUSAL_NO_LANE;
	if (ret)
		goto out;
	nr = causal_begin_events(t, events);
	*clock = causal_begin_clock(events, nr, ns);
	memset(ns, 0, (t->nr_lanes + 2) * sizeof(*ns));
	if (*clock || !causal_begin_shows(events, nr, begun, ns))
		goto out;
	for (size_t i = 0; i < nr; i++)
		if (!events[i].begins)
			ended[nr_ended++] = events[i].lane;
		else if (nr_ended)
			before[events[i].lane] =
				causal_begin_take(t, events[i].lane, ended, &nr_ended);
out:
	free(events);
	free(begun);
	free(ns);
	free(ended);
	return ret;
}
