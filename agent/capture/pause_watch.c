/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/pause_watch.h"

/* The same instant on all clocks, so much later, as long as none of them jumps. */
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
