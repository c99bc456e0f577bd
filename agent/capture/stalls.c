/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/stalls.h"

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
