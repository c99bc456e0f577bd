/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload/block_hash.h"
#include "workload/window_parts.h"

/*
 * This many requests are passed to one estimator after another. They take 9 KiB and stay in the L1
 * cache.
 */
#define BATCH 128
/* This many block hashes are gathered before the footprint and the reuse distances take them. */
#define HASHES 512

static int take_defaults(struct window_config *c)
{
	if (!c->subset_requests)
		c->subset_requests = SEQUENTIAL_SUBSET_REQUESTS;
	if (!c->client_interval_ns)
		c->client_interval_ns = CLOSED_INTERVAL_NS;
	if (!c->mrc_samples)
		c->mrc_samples = c->room ? REUSE_MAX_SAMPLES : REUSE_SAMPLES;
	if (c->subset_requests > SEQUENTIAL_SUBSET_MAX || c->mrc_samples < REUSE_MIN_SAMPLES ||
	    c->mrc_samples > REUSE_MAX_SAMPLES)
		return -EINVAL;
	return 0;
}

int window_new(struct window **out, const struct window_config *config, uint64_t begin_ns)
{
	struct window *w = calloc(1, sizeof(*w));
	int ret;

	if (!w)
		return -ENOMEM;
	w->config = *config;
	ret = take_defaults(&w->config);
	if (ret) {
		free(w);
		return ret;
	}
	w->begin_ns = begin_ns;
	w->blocks = window_budget_of(WINDOW_FIRST_BLOCKS);
	closed_init(&w->closed, begin_ns, w->config.client_interval_ns);
	idc_init(&w->idc, begin_ns);
	for (size_t i = 0; i < NR_LISTS; i++) {
		sequential_init(&w->lists[i], w->config.subset_requests);
		w->lists[i].grows = w->config.room != NULL;
	}
	w->hotspot.grows = w->config.room != NULL;
	if (w->config.room)
		size_mix_let_grow(&w->sizes);
	else
		latency_take_whole(&w->latency);
	reuse_init(&w->reuse, w->config.mrc_samples);
	w->reuse.room = w->footprint.room = w->config.room;
	*out = w;
	return 0;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	closed_release(&w->closed);
	arrivals_release(&w->arrivals);
	size_mix_release(&w->sizes);
	latency_release(&w->latency);
	for (size_t i = 0; i < NR_LISTS; i++)
		sequential_release(&w->lists[i]);
	footprint_release(&w->footprint);
	hotspot_release(&w->hotspot);
	reuse_release(&w->reuse);
	free(w);
}

void window_clear(struct window *w, uint64_t begin_ns)
{
	w->begin_ns = begin_ns;
	w->own_requests = 0;
	w->nr_undivided = 0;
	memset(w->incomplete, 0, sizeof(w->incomplete));
	w->blocks_cut = false;
	open_clear(&w->open);
	arrivals_clear(&w->arrivals);
	idc_init(&w->idc, begin_ns);
	size_mix_clear(&w->sizes);
	latency_clear(&w->latency);
	durability_clear(&w->durability);
	for (size_t i = 0; i < NR_LISTS; i++)
		sequential_clear(&w->lists[i]);
	footprint_clear(&w->footprint);
	hotspot_clear(&w->hotspot);
	fileset_clear(&w->fileset);
	closed_clear(&w->closed, begin_ns);
	reuse_clear(&w->reuse);
}

void window_resume(struct window *w, uint64_t begin_ns)
{
	window_clear(w, begin_ns);
	closed_forget_completions(&w->closed);
	durability_forget(&w->durability);
	arrivals_forget(&w->arrivals);
}

void window_unwatched(struct window *w, uint64_t begin_ns, uint64_t end_ns)
{
	open_break(&w->open, end_ns);
	arrivals_break(&w->arrivals, end_ns);
	idc_skip(&w->idc, begin_ns, end_ns);
	closed_forget_completions(&w->closed);
	durability_forget(&w->durability);
}

static int add_pattern(struct window *w, const struct request *r, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t end;

		if (!request_is_data(&r[i]))
			continue;
		end = r[i].sector + request_sectors(&r[i]);
		if (r[i].operation <= OPERATION_WRITE)
			ret |= sequential_add(&w->lists[r[i].operation], r[i].sector, end);
		ret |= sequential_add(&w->lists[LIST_ALL], r[i].sector, end);
	}
	return ret;
}

static int add_hashes(struct window *w, const uint64_t *hashes, size_t nr)
{
	int ret = footprint_add_many(&w->footprint, hashes, nr);

	if (!w->config.leave_out_regions && !w->reuse_cut)
		ret |= reuse_add_many(&w->reuse, hashes, nr);
	return ret;
}

/*
 * Returns how many of nr blocks are examined. The work must not grow with the length that a request
 * claims. A stream may therefore examine WINDOW_BLOCKS_PER_REQUEST blocks for each of its requests,
 * and some more at the beginning. Blocks that small requests do not use are left for large ones.
 * Streams with a room share both amounts. Where requests are larger on average, blocks are left
 * out; footprint and miss ratios are then unknown instead of wrong, and the rest of the period
 * takes no blocks.
 */
static uint64_t allowed_blocks(struct window *w, uint64_t nr)
{
	struct window_room *room = w->config.room;
	struct window_budget *blocks = room ? &room->blocks : &w->blocks;

	if (w->blocks_cut) {
		/*
		 * More blocks change nothing in the profile; later periods get the blocks that are
		 * not used.
		 */
		if (nr < WINDOW_BLOCKS_PER_REQUEST)
			window_room_return(blocks, WINDOW_BLOCKS_PER_REQUEST - nr);
		return 0;
	}
	window_room_return(blocks, WINDOW_BLOCKS_PER_REQUEST);
	if (window_room_take(blocks, nr))
		return nr;
	w->blocks_cut = w->reuse_cut = true;
	nr = blocks->left;
	window_room_take(blocks, nr);
	return nr;
}

static int add_blocks(struct window *w, const struct request *r, size_t nr)
{
	uint64_t hashes[HASHES], first, last;
	size_t at = 0;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t left;

		if (!request_is_data(&r[i]) || !block_range(&r[i], &first, &last))
			continue;
		if (!w->salted || r[i].device != w->salt_device) {
			w->salted = true;
			w->salt_device = r[i].device;
			w->salt = block_hash_salt(w->config.seed, r[i].device);
		}
		left = allowed_blocks(w, last - first + 1);
		while (left) {
			uint64_t room = HASHES - at, take = left < room ? left : room;

			for (uint64_t k = 0; k < take; k++)
				hashes[at + k] = block_hash(w->salt, first + k);
			first += take;
			left -= take;
			at += take;
			if (at == HASHES) {
				ret |= add_hashes(w, hashes, at);
				at = 0;
			}
		}
	}
	return at ? ret | add_hashes(w, hashes, at) : ret;
}

static int add_times(struct window *w, const struct request *r, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr; i++)
		w->nr_undivided += (r[i].flags & REQUEST_NO_OPERATION) != 0;
	ret |= size_mix_add_many(&w->sizes, r, nr);
	open_add_many(&w->open, r, nr);
	clock_tick_add_many(&w->tick, r, nr);
	idc_add_many(&w->idc, r, nr);
	ret |= closed_add_many(&w->closed, r, nr);
	if (!w->config.cheap)
		ret |= arrivals_add_many(&w->arrivals, r, nr);
	return ret;
}

static int add_responses(struct window *w, const struct request *r, size_t nr)
{
	int ret = latency_add_many(&w->latency, r, nr);

	durability_add_many(&w->durability, r, nr);
	if (w->config.cheap || w->config.leave_out_regions)
		return ret;
	return ret | hotspot_add_many(&w->hotspot, r, nr);
}

static int add_to_lane(struct window *w, enum window_lane lane, const struct request *r, size_t nr)
{
	switch (lane) {
	case WINDOW_TIMES:
		return add_times(w, r, nr);
	case WINDOW_RESPONSES:
		return add_responses(w, r, nr);
	case WINDOW_PATTERN:
		return w->config.cheap ? 0 : add_pattern(w, r, nr);
	default:
		return w->config.cheap ? 0 : add_blocks(w, r, nr);
	}
}

/* Returns how many requests come before the next request of the agent itself, or nr. */
static size_t foreign_run(const struct request *r, size_t nr)
{
	size_t i = 0;

	while (i < nr && !(r[i].flags & REQUEST_OWN))
		i++;
	return i;
}

static void count_own(struct window *w, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		w->own_requests += (r[i].flags & REQUEST_OWN) != 0;
}

/* Feeds lanes [first, end) batch by batch, so that every lane finds the batch in the cache. */
static int add_lanes(struct window *w, enum window_lane first, unsigned int end,
		     const struct request *r, size_t nr)
{
	bool failed = false;
	size_t i = 0;

	while (i < nr) {
		size_t batch = nr - i < BATCH ? nr - i : BATCH;
		size_t run = w->config.leave_out_own ? foreign_run(r + i, batch) : batch;

		for (unsigned int lane = first; lane < end && run; lane++) {
			if (!add_to_lane(w, lane, r + i, run))
				continue;
			w->incomplete[lane] = true;
			failed = true;
		}
		i += run < batch ? run + 1 : run; /* the agent's own request is skipped */
	}
	if (first == WINDOW_TIMES)
		count_own(w, r, nr);
	return failed ? -ENOMEM : 0;
}

int window_add_lane(struct window *w, enum window_lane lane, const struct request *r, size_t nr)
{
	return add_lanes(w, lane, lane + 1u, r, nr);
}

int window_add_many(struct window *w, const struct request *r, size_t nr)
{
	return add_lanes(w, WINDOW_TIMES, WINDOW_LANES, r, nr);
}

int window_add(struct window *w, const struct request *r)
{
	return window_add_many(w, r, 1);
}

void window_add_fileset(struct window *w, uint64_t nr_files, uint64_t total_bytes)
{
	fileset_add(&w->fileset, nr_files, total_bytes);
}

uint64_t window_count(const struct window *w)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < NR_OPERATIONS; i++)
		nr += w->sizes.requests[i];
	return nr;
}

size_t window_memory(const struct window *w)
{
	size_t bytes = sizeof(*w) + closed_memory(&w->closed) + arrivals_memory(&w->arrivals) +
		       size_mix_memory(&w->sizes) + latency_memory(&w->latency) +
		       footprint_memory(&w->footprint) + hotspot_memory(&w->hotspot) +
		       reuse_memory(&w->reuse);

	for (size_t i = 0; i < NR_LISTS; i++)
		bytes += sequential_memory(&w->lists[i]);
	return bytes;
}
