/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/reuse.h"
#include "workload/reuse_stack.h"

#define PER_OCTAVE_BITS 3
#define PER_OCTAVE	(1u << PER_OCTAVE_BITS)
#define HASHES		18446744073709551616.0 /* 2^64 */

void reuse_init(struct reuse *r, uint32_t max_samples)
{
	memset(r, 0, sizeof(*r));
	r->max_samples = max_samples;
	r->limit = UINT64_MAX;
	r->weight = 1;
}

/*
 * A table grows by doubling, so that each step lies wholly below or above REUSE_SAMPLES, and one
 * budget of the room pays for it.
 */
_Static_assert((REUSE_SAMPLES & (REUSE_SAMPLES - 1)) == 0 &&
		       (REUSE_MIN_SAMPLES & (REUSE_MIN_SAMPLES - 1)) == 0,
	       "a doubling table meets REUSE_SAMPLES");
_Static_assert(WINDOW_ROOM_FIRST_SAMPLE_BYTES ==
		       (REUSE_MAX_SAMPLES - REUSE_SAMPLES) * REUSE_STACK_BLOCK_BYTES,
	       "one device finds room for all samples");

/* Returns the budget of the room that pays for growing beyond cap samples; NULL: no room. */
static struct window_budget *reuse_budget(const struct reuse *r, uint32_t cap)
{
	if (!r->room)
		return NULL;
	return cap < REUSE_SAMPLES ? &r->room->bytes : &r->room->sample_bytes;
}

/* Gives back the bytes that the room has granted. The first samples needed no grant. */
static void reuse_return_room(struct reuse *r)
{
	uint32_t cap = reuse_stack_cap(r->stack);
	uint32_t basic = cap < REUSE_SAMPLES ? cap : REUSE_SAMPLES;

	if (!r->room)
		return;
	window_room_return(&r->room->bytes,
			   (basic - REUSE_MIN_SAMPLES) * (size_t)REUSE_STACK_BLOCK_BYTES);
	window_room_return(&r->room->sample_bytes, (cap - basic) * (size_t)REUSE_STACK_BLOCK_BYTES);
}

void reuse_release(struct reuse *r)
{
	struct window_room *room = r->room;

	if (r->stack)
		reuse_return_room(r);
	reuse_stack_free(r->stack);
	reuse_init(r, r->max_samples);
	r->room = room;
}

void reuse_clear(struct reuse *r)
{
	r->nr_references = 0;
	r->nr_sampled = 0;
	r->cold = 0;
	memset(r->hits, 0, sizeof(r->hits));
	r->is_sampled = r->limit != UINT64_MAX;
}

uint64_t reuse_edge_blocks(unsigned int i)
{
	unsigned int octave = i / PER_OCTAVE, step = i % PER_OCTAVE;

	/* An octave k >= 1 has the sizes 2^(k+2) (9..16)/8. */
	return octave ? (uint64_t)(PER_OCTAVE + 1 + step) << (octave - 1) : i + 1;
}

/* Returns the smallest i with blocks <= reuse_edge_blocks(i). blocks is at least 1. */
static unsigned int edge_of(double blocks)
{
	uint64_t x;
	unsigned int log2;

	if (blocks >= (double)(1ull << 51)) /* larger ones exceed 64 bits in bytes */
		return REUSE_NR_EDGES - 1;
	x = (uint64_t)ceil(blocks) - 1;
	if (x < PER_OCTAVE)
		return (unsigned int)x;
	log2 = 63 - (unsigned int)__builtin_clzll(x);
	return (log2 - PER_OCTAVE_BITS + 1) * PER_OCTAVE +
	       (unsigned int)(x >> (log2 - PER_OCTAVE_BITS) & (PER_OCTAVE - 1));
}

/*
 * Returns whether there is room for one more sample, and lets the table grow for it where that is
 * allowed.
 */
static bool reuse_has_room(struct reuse *r)
{
	uint32_t cap = reuse_stack_cap(r->stack), want;
	size_t bytes;

	if (reuse_stack_nr(r->stack) < cap)
		return true;
	if (cap >= r->max_samples)
		return false;
	want = cap > r->max_samples / 2 ? r->max_samples : 2 * cap;
	bytes = (size_t)(want - cap) * REUSE_STACK_BLOCK_BYTES;
	if (!window_room_take(reuse_budget(r, cap), bytes))
		return false;
	if (reuse_stack_grow(r->stack, want) == 0)
		return true;
	window_room_return(reuse_budget(r, cap), bytes);
	return false;
}

/* Adds a block that is not held. As far as the sample shows, this is the first reference to it. */
static int reuse_push(struct reuse *r, uint64_t hash)
{
	/*
	 * Once a hash was dropped, the limit decides which blocks are sampled, and the table does
	 * not grow any more.
	 */
	if (reuse_stack_nr(r->stack) < reuse_stack_cap(r->stack) ||
	    (r->limit == UINT64_MAX && reuse_has_room(r)))
		return reuse_stack_push(r->stack, hash);
	if (hash < reuse_stack_largest(r->stack)) {
		uint64_t dropped = reuse_stack_largest(r->stack);
		int ret;

		reuse_stack_drop_largest(r->stack);
		ret = reuse_stack_push(r->stack, hash);
		hash = dropped;
		if (ret)
			return ret;
	}
	r->limit = hash - 1; /* hash > 0, because the other hashes of the table are smaller */
	r->weight = HASHES / ((double)r->limit + 1);
	r->is_sampled = true;
	return 0;
}

static int reuse_sample(struct reuse *r, uint64_t hash)
{
	uint32_t distance = reuse_stack_touch(r->stack, hash);

	r->nr_sampled++;
	if (distance == UINT32_MAX) {
		r->cold += r->weight;
		return reuse_push(r, hash);
	}
	/*
	 * The block itself takes one block of the cache. The others are a sample and are scaled by
	 * the weight.
	 */
	r->hits[edge_of((double)distance * r->weight + 1)] += r->weight;
	return 0;
}

int reuse_add_many(struct reuse *r, const uint64_t *hashes, size_t nr)
{
	r->nr_references += nr;
	if (!r->stack)
		r->stack = reuse_stack_new(r->room ? REUSE_MIN_SAMPLES : r->max_samples);
	if (!r->stack)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		int ret;

		if (__builtin_expect(hashes[i] > r->limit, 1))
			continue;
		ret = reuse_sample(r, hashes[i]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Drops points whose value equals that of both neighbours. Returns how many points are left. */
static size_t reuse_thin(struct cache_point *p, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (kept && i + 1 < nr && p[kept - 1].miss_ratio == p[i].miss_ratio &&
		    p[i + 1].miss_ratio == p[i].miss_ratio)
			continue;
		p[kept++] = p[i];
	}
	return kept;
}

/*
 * Corrects the weights of the sampled references, which should sum to the number of all references.
 * They do not where by chance too many or too few hot blocks were sampled. Hot blocks have the
 * smallest distances, so a missing weight is added to the first edge, and an excess is taken away
 * from the first edge on (SHARDS-adj). Returns one past the last edge with hits.
 */
static size_t adjusted_hits(const struct reuse *r, double *hits)
{
	double missing = (double)r->nr_references - r->cold;
	size_t nr = 0;

	if (missing <= 0) { /* There is no hit, whatever the weights say. */
		hits[0] = 0;
		return 0;
	}
	memcpy(hits, r->hits, sizeof(r->hits));
	for (size_t i = 0; i < REUSE_NR_EDGES; i++)
		missing -= hits[i];
	if (missing > 0)
		hits[0] += missing;
	for (size_t i = 0; i < REUSE_NR_EDGES; i++) {
		double taken = missing < 0 ? fmin(-missing, hits[i]) : 0;

		hits[i] -= taken;
		missing += taken;
		if (hits[i] > 0)
			nr = i + 1;
	}
	return nr;
}

int reuse_curve(const struct reuse *r, uint32_t block_bytes, struct cache_point **out, size_t *nr)
{
	double hits[REUSE_NR_EDGES], misses = r->cold, total;
	struct cache_point *points;
	size_t nr_edges;

	*out = NULL;
	*nr = 0;
	if (!r->nr_sampled || (r->is_sampled && r->nr_sampled < REUSE_MIN_REFERENCES))
		return 0;
	nr_edges = adjusted_hits(r, hits);
	if (!nr_edges) /* All references are cold, which one point expresses. */
		nr_edges = 1;
	points = malloc(nr_edges * sizeof(*points));
	if (!points)
		return -ENOMEM;
	for (size_t i = 0; i < nr_edges; i++)
		misses += hits[i];
	total = misses;
	for (unsigned int i = 0; i < nr_edges; i++) {
		misses -= hits[i];
		points[i].cache_bytes = reuse_edge_blocks(i) * block_bytes;
		/*
		 * The last point holds the cold misses alone, without the rounding error of the
		 * subtractions.
		 */
		misses = fmax(misses, r->cold);
		points[i].miss_ratio = (i + 1 < nr_edges ? misses : r->cold) / total;
	}
	*nr = reuse_thin(points, nr_edges);
	*out = points;
	return 0;
}

uint32_t reuse_nr_samples(const struct reuse *r)
{
	return r->stack ? reuse_stack_nr(r->stack) : 0;
}

size_t reuse_memory(const struct reuse *r)
{
	return r->stack ? reuse_stack_memory(r->stack) : 0;
}
