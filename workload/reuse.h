/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse: LRU miss-ratio curve in bounded memory, by fixed-size SHARDS.
 *
 * Waldspurger, Park, Garthwaite and Ahmad, "Efficient MRC Construction with SHARDS" (FAST 2015). A
 * block is sampled when its hash is at most a limit; exact LRU stack distances are kept over the
 * sampled blocks and scaled by 1 / R, R being the share of hashes sampled. When more than
 * max_samples blocks are held, the one with the largest hash goes and the limit drops below it.
 * Instead of rescaling the histogram by R_new / R_old, each reference adds the weight 1 / R of its
 * time: the same ratios, without the pass over the histogram. The weights are made to sum to all
 * references at the smallest distances, where hot blocks are (SHARDS-adj).
 *
 * Until max_samples distinct blocks have been seen R is 1 and the curve is exact. First references
 * (cold misses) are misses at every cache size and belong to the denominator. Mean absolute error
 * against exact LRU: below 0.02 with 8 Ki samples (docs/measured.md).
 *
 * Cost: a comparison per reference; a sampled one a table look-up, a distance over two levels of
 * counts (at most 16 + max_samples / 512 additions) and, when the set changes, a heap step. Memory:
 * 0.5 MiB at 8 Ki samples (reuse_memory()), allocated with the first reference. With a room
 * (window_room.h) the table begins with REUSE_MIN_SAMPLES and grows as the room grants it; where the room
 * is used up, the bound on the samples is what the table holds by then.
 *
 * reuse_clear() forgets the counts and keeps the history, so that a period's references are held
 * against the whole stream. Merge adds the counts: the curve of the sum is the mean of both curves
 * weighted by references, as if each stream had a cache of that size to itself, each cold at its
 * own beginning. dst keeps its history.
 */
#ifndef WORKLOAD_REUSE_H
#define WORKLOAD_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/profile/profile.h"
#include "base/u64map.h"
#include "workload/window_room.h"

#define REUSE_SAMPLES	  8192 /* the default bound */
#define REUSE_MIN_SAMPLES 64
#define REUSE_MAX_SAMPLES 65536
#define REUSE_NR_EDGES	  392 /* eight cache sizes per octave up to 2^51 blocks */
/* A curve from fewer sampled references is noise, unless all were sampled. */
#define REUSE_MIN_REFERENCES 100

struct reuse_stack;

struct reuse {
	uint32_t max_samples;
	uint64_t limit;		   /* a block is sampled where its hash <= limit */
	double weight;		   /* 1 / R */
	struct reuse_stack *stack; /* the sampled blocks by time of last reference; NULL at first */
	uint64_t nr_references;	   /* of this period, sampled or not */
	uint64_t nr_sampled;
	double cold;		     /* weight of first references */
	double hits[REUSE_NR_EDGES]; /* weight of references that hit from that cache size on */
	bool is_sampled;	     /* R was below 1 in this period */
	struct window_room
		*room; /* borrowed; where it grants no more bytes, no more samples; may be NULL */
};

/* max_samples in REUSE_MIN_SAMPLES..REUSE_MAX_SAMPLES. Allocates nothing. */
void reuse_init(struct reuse *r, uint32_t max_samples);
void reuse_release(struct reuse *r);
void reuse_clear(struct reuse *r);
/* Forgets the history too, keeping the memory. */
void reuse_reset(struct reuse *r);
/* References to blocks in their order, as block_hash() makes them. 0 or -ENOMEM. */
int reuse_add_many(struct reuse *r, const uint64_t *hashes, size_t nr);

/* The i-th cache size in blocks: 1 to 8, then eight per octave. */
uint64_t reuse_edge_blocks(unsigned int i);
/*
 * The curve at cache sizes ascending, block_bytes per block, in an array that the caller frees;
 * points that lie on the line between their neighbours' equal values are left out, and it ends
 * where a larger cache gains nothing more. NULL and 0 where too few references were sampled. 0,
 * -ENOMEM.
 */
int reuse_curve(const struct reuse *r, uint32_t block_bytes, struct cache_point **out, size_t *nr);
size_t reuse_memory(const struct reuse *r);

#endif
