/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/pause_watch.h"

/* ---- looks at the clocks ---- */

/* Moves an instant by ns on all clocks, on the assumption that none of them jumped. */
static struct clock_anchor pause_watch_later(struct clock_anchor a, uint64_t ns)
{
	a.monotonic_ns += ns;
	a.boottime_ns += ns;
	a.realtime_ns += ns;
	return a;
}

static uint64_t more_by(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

bool pause_watch_look(struct pause_watch *w, const struct pause_look *now, struct pause *out)
{
	struct pause_look last = w->last;
	uint64_t awake_ns, passed_ns, slept_ns;
	bool has_last = w->has_last;

	w->last = *now;
	w->has_last = true;
	if (!has_last)
		return false;
	passed_ns = more_by(now->at.monotonic_ns, last.at.monotonic_ns);
	slept_ns = more_by(more_by(now->at.boottime_ns, last.at.boottime_ns), passed_ns);
	awake_ns = now->wait_ns + more_by(now->cpu_ns, last.cpu_ns);
	if (slept_ns >= PAUSE_SUSPEND_NS) {
		*out = (struct pause){ .cause = PAUSE_SUSPENDED,
				       .from = last.at,
				       .to = now->at,
				       .length_ns = slept_ns };
		return true;
	}
	if (more_by(passed_ns, awake_ns) < PAUSE_STALL_NS)
		return false;
	*out = (struct pause){ .cause = PAUSE_STALLED,
			       .from = pause_watch_later(last.at, awake_ns),
			       .to = now->at,
			       .length_ns = passed_ns - awake_ns };
	return true;
}

/* ---- what requests say ---- */

static uint64_t stalls_quarter(const struct stall *s)
{
	return (s->end_ns - s->begin_ns) / 4;
}

bool stall_holds(const struct stall *s, const struct request *r)
{
	return r->arrival_ns <= s->begin_ns + stalls_quarter(s) &&
	       r->completion_ns >= s->end_ns - stalls_quarter(s);
}

static bool is_within(const struct stall *s, uint64_t at_ns)
{
	return at_ns > s->begin_ns + stalls_quarter(s) && at_ns < s->end_ns - stalls_quarter(s);
}

bool stall_is_refuted(const struct stall *s, const struct request *r)
{
	return is_within(s, r->arrival_ns) || is_within(s, r->dispatch_ns) ||
	       is_within(s, r->completion_ns);
}

void stalls_add(struct stalls *s, const struct stall *stall)
{
	s->stall[s->next] = *stall;
	s->next = (s->next + 1) % STALLS_MAX;
	s->nr += s->nr < STALLS_MAX;
}

bool stalls_hold(const struct stalls *s, const struct request *r)
{
	for (size_t i = 0; i < s->nr; i++)
		if (stall_holds(&s->stall[i], r))
			return true;
	return false;
}
