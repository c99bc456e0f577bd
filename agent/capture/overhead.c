/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/capture/overhead.h"

/* A window with fewer requests is too small to estimate the cost of one request. */
#define ENOUGH_REQUESTS 1000

const char *overhead_level_name(enum overhead_level level)
{
	static const char *const names[] = { "full", "no_trace", "counters" };

	return names[level];
}

void overhead_init(struct overhead *o, double bound, bool can_drop_trace, bool can_count)
{
	*o = (struct overhead){ .bound = bound, .hold = OVERHEAD_HOLD };
	o->can[OVERHEAD_FULL] = true;
	o->can[OVERHEAD_NO_TRACE] = can_drop_trace;
	o->can[OVERHEAD_COUNTERS] = can_count;
	o->since = OVERHEAD_HOLD_MAX;
}

/*
 * Returns the next offered level, up (step 1) or down (step -1), or the present one where there is
 * none.
 */
static enum overhead_level overhead_next(const struct overhead *o, int step)
{
	int level = (int)o->level + step;

	while (level >= 0 && level < NR_OVERHEAD_LEVELS && !o->can[level])
		level += step;
	return level < 0 || level >= NR_OVERHEAD_LEVELS ? o->level : (enum overhead_level)level;
}

static void overhead_go(struct overhead *o, enum overhead_level level)
{
	o->above = o->below = 0;
	o->level = level;
}

static void raise_level(struct overhead *o)
{
	enum overhead_level up = overhead_next(o, 1);

	if (up == o->level)
		return;
	/* The lower level was left as soon as it was tried, so the next try must come later. */
	if (o->since < 2 * OVERHEAD_PATIENCE)
		o->hold = 2 * o->hold < OVERHEAD_HOLD_MAX ? 2 * o->hold : OVERHEAD_HOLD_MAX;
	else
		o->hold = OVERHEAD_HOLD;
	overhead_go(o, up);
}

static bool is_calm(const struct overhead *o, double share, double elapsed_s, uint64_t requests)
{
	enum overhead_level down = overhead_next(o, -1);

	if (down == o->level)
		return false;
	if (o->cost_s[down] > 0)
		share = o->cost_s[down] * (double)requests / elapsed_s;
	return share < OVERHEAD_CALM * o->bound;
}

enum overhead_level overhead_look(struct overhead *o, double cpu_s, double elapsed_s,
				  uint64_t requests)
{
	double share = elapsed_s > 0 ? cpu_s / elapsed_s : 0;

	o->last_share = share;
	if (!(o->bound > 0) || !(elapsed_s > 0))
		return OVERHEAD_FULL;
	if (requests >= ENOUGH_REQUESTS)
		o->cost_s[o->level] = cpu_s / (double)requests;
	o->since += o->since < OVERHEAD_HOLD_MAX;
	o->above = share > o->bound ? o->above + 1 : 0;
	o->below = is_calm(o, share, elapsed_s, requests) ? o->below + 1 : 0;
	if (o->above >= OVERHEAD_PATIENCE) {
		raise_level(o);
	} else if (o->below >= o->hold) {
		overhead_go(o, overhead_next(o, -1));
		o->since = 0;
	}
	return o->level;
}
