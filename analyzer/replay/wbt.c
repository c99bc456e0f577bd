// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/wbt.h"

/* The names and values of block/blk-wbt.c: RWB_DEF_DEPTH, RWB_WINDOW_NSEC and so on. */
#define WBT_DEPTH	  16
#define WBT_WINDOW_NS	  100000000ull
#define WBT_READS_NS	  100000000ull /* a read so long ago has nothing to do with a write */
#define WBT_WRITES_LEAST  3	       /* so few writes do not slow reads down */
#define WBT_UNKNOWN_BUMP  5
#define WBT_STEP_SMALLEST 31

static uint32_t wbt_depth(const struct wbt *w)
{
	uint32_t depth = WBT_DEPTH;

	if (w->step > 0)
		return 1 + ((depth - 1) >> w->step);
	depth = 1 + ((depth - 1) << -w->step);
	return depth < WBT_DEPTH_MOST ? depth : WBT_DEPTH_MOST;
}

/* How many may be under way if the kernel writes back, beside reads and otherwise. */
static uint32_t wbt_limit(const struct wbt *w, bool beside_reads)
{
	uint32_t depth = wbt_depth(w);

	if (depth <= 2)
		return beside_reads ? 1 : depth;
	return beside_reads ? (depth + 3) / 4 : (depth + 1) / 2;
}

bool wbt_raise(struct wbt *w)
{
	if (w->most)
		return false;
	w->step--;
	w->most = w->step < 0 && 1 + ((WBT_DEPTH - 1) << -w->step) > WBT_DEPTH_MOST;
	w->nr_unknown = 0;
	return true;
}

void wbt_init(struct wbt *w, uint64_t target_ns, bool cache, int step)
{
	*w = (struct wbt){ .target_ns = target_ns,
			   .cache = cache,
			   .look_ns = WBT_NEVER,
			   .last_read_ns = WBT_NEVER,
			   .lowered_ns = WBT_NEVER,
			   .watched = WBT_NEVER };
	while (w->step > step && wbt_raise(w))
		;
}

static void wbt_lower(struct wbt *w, bool hard)
{
	if (wbt_depth(w) == 1 || w->step == WBT_STEP_SMALLEST)
		return;
	w->step = hard && w->step < 0 ? 0 : w->step + 1;
	w->most = false;
	w->nr_unknown = 0;
}

/* Returns the time between two looks at the present step: shorter, the smaller the step is. */
static uint64_t wbt_window_ns(const struct wbt *w)
{
	uint64_t root = 1;

	if (w->step <= 0)
		return WBT_WINDOW_NS;
	while ((root + 1) * (root + 1) <= (uint64_t)(w->step + 1) << 8)
		root++;
	return (WBT_WINDOW_NS << 4) / root;
}

/* Returns whether reads take too long. */
static bool wbt_exceeds(const struct wbt *w)
{
	uint64_t age_ns = w->watched == WBT_NEVER ? 0 : w->look_ns - w->watched_ns;

	if (age_ns > wbt_window_ns(w) || (age_ns > w->target_ns && !w->nr_reads))
		return true;
	return w->nr_reads && w->nr_writes >= WBT_WRITES_LEAST && w->read_min_ns > w->target_ns;
}

/* Does what the kernel does at the end of a window. Returns whether the step became larger. */
static bool wbt_look_once(struct wbt *w)
{
	bool mixed = w->nr_reads && w->nr_writes >= WBT_WRITES_LEAST, larger = false;

	if (wbt_exceeds(w))
		wbt_lower(w, true);
	else if (mixed || w->nr_writes || w->nr)
		larger = wbt_raise(w);
	else if (++w->nr_unknown >= WBT_UNKNOWN_BUMP && w->step > 0)
		larger = wbt_raise(w);
	else if (w->nr_unknown >= WBT_UNKNOWN_BUMP && w->step < 0) {
		wbt_lower(w, false);
		w->lowered_ns = w->look_ns;
	}
	w->nr_reads = w->nr_writes = 0;
	return larger;
}

bool wbt_look(struct wbt *w, uint64_t now_ns)
{
	bool larger = false;

	while (w->look_ns <= now_ns) {
		larger |= wbt_look_once(w);
		w->look_ns = w->step || w->nr ? w->look_ns + wbt_window_ns(w) : WBT_NEVER;
	}
	return larger;
}

bool wbt_admits(const struct wbt *w, uint64_t now_ns, bool sync)
{
	bool beside_reads = w->last_read_ns != WBT_NEVER && now_ns - w->last_read_ns < WBT_READS_NS;

	return w->nr < (sync ? wbt_depth(w) : wbt_limit(w, beside_reads));
}

void wbt_sent(struct wbt *w, uint64_t now_ns)
{
	w->nr++;
	if (w->look_ns != WBT_NEVER)
		return;
	w->look_ns = now_ns + wbt_window_ns(w);
	w->nr_reads = w->nr_writes = 0;
}

bool wbt_done(struct wbt *w, bool write)
{
	uint32_t limit = w->cache ? 0 : wbt_limit(w, false);

	w->nr_writes += write;
	w->nr--;
	return !w->nr || (w->nr < limit && limit - w->nr >= wbt_limit(w, true) / 2);
}

void wbt_write_done(struct wbt *w)
{
	w->nr_writes++;
}

void wbt_read_sent(struct wbt *w, uint64_t now_ns, uint64_t id)
{
	w->last_read_ns = now_ns;
	if (w->watched != WBT_NEVER)
		return;
	w->watched = id;
	w->watched_ns = now_ns;
}

void wbt_read_done(struct wbt *w, uint64_t now_ns, uint64_t id, uint64_t response_ns)
{
	w->last_read_ns = now_ns;
	w->read_min_ns = w->nr_reads && w->read_min_ns < response_ns ? w->read_min_ns : response_ns;
	w->nr_reads++;
	w->watched = w->watched == id ? WBT_NEVER : w->watched;
}
