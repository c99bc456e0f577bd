/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse: the miss-ratio curve of an LRU cache in bounded memory, by fixed-size SHARDS (Waldspurger,
 * Park, Garthwaite and Ahmad, Efficient MRC Construction with SHARDS, FAST 2015).
 *
 * A block is sampled when its hash is at most a limit. Exact LRU stack distances are kept over the
 * sampled blocks and scaled by 1 / R, where R is the share of hashes that are sampled. When more
 * than max_samples blocks are held, the one with the largest hash is dropped and the limit is set
 * below that hash. The paper then rescales the histogram by R_new / R_old. Here each reference adds
 * the weight 1 / R of its time instead, which gives the same ratios without a pass over the
 * histogram. The weights are corrected at the smallest distances, where hot blocks are, so that
 * they sum to the number of all references (SHARDS-adj).
 *
 * As long as no more than max_samples distinct blocks have been seen, R is 1 and the curve is
 * exact. First references (cold misses) are misses at every cache size and belong to the
 * denominator. The mean absolute error against exact LRU is below 0.02 with 8 Ki samples
 * (docs/measured.md).
 *
 * Cost: one comparison per reference. A sampled reference costs a table look-up, a distance over
 * two levels of counts (at most 16 + max_samples / 512 additions) and, when the set changes, a heap
 * step. Memory: 0.5 MiB at 8 Ki samples (reuse_memory()), allocated with the first reference. With
 * a room (window_room.h) the table begins with REUSE_MIN_SAMPLES and grows as the room grants
 * bytes. Where the room is used up, the size that the table has by then becomes the bound on the
 * samples. Windows with a room take up to REUSE_MAX_SAMPLES by default (6 MiB), since the error
 * falls with the square root of the samples; those of the agent take REUSE_SAMPLES.
 *
 * reuse_clear() forgets the counts and keeps the history, so that the references of a period are
 * compared with the whole stream before them. Merging adds the counts: the curve of the sum is the
 * mean of both curves weighted by references, as if each stream had a cache of that size for
 * itself, empty at the stream's beginning. dst keeps its history.
 */
#ifndef WORKLOAD_REUSE_H
#define WORKLOAD_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory/u64map.h"
#include "formats/profile/profile.h"
#include "workload/window_room.h"

#define REUSE_SAMPLES	  8192 /* the default bound without a room */
#define REUSE_MIN_SAMPLES 64
#define REUSE_MAX_SAMPLES 65536
#define REUSE_NR_EDGES	  392 /* eight cache sizes per octave, up to 2^51 blocks */
/* A curve from fewer sampled references is noise, unless all references were sampled. */
#define REUSE_MIN_REFERENCES 100

struct reuse_stack;

struct reuse {
	uint32_t max_samples;
	uint64_t limit;		   /* a block is sampled where its hash <= limit */
	double weight;		   /* 1 / R */
	struct reuse_stack *stack; /* the sampled blocks by time of last reference; NULL until
				    * needed */
	uint64_t nr_references;	   /* references of this period, sampled or not */
	uint64_t nr_sampled;
	double cold;		     /* weight of first references */
	double hits[REUSE_NR_EDGES]; /* weight of the references that hit from this cache size on */
	bool is_sampled;	     /* R was below 1 in this period */
	struct window_room
		*room; /* borrowed, may be NULL; where it grants no more bytes, the samples stop
		        * growing */
};

/* max_samples lies in REUSE_MIN_SAMPLES..REUSE_MAX_SAMPLES. Allocates nothing. */
void reuse_init(struct reuse *r, uint32_t max_samples);
void reuse_release(struct reuse *r);
void reuse_clear(struct reuse *r);
/*
 * Adds references to blocks in their order, as hashes that block_hash() made. Returns 0 or -ENOMEM.
 */
int reuse_add_many(struct reuse *r, const uint64_t *hashes, size_t nr);

/* Returns the i-th cache size in blocks: 1 to 8, then eight sizes per octave. */
uint64_t reuse_edge_blocks(unsigned int i);
/*
 * Makes the curve at ascending cache sizes, with block_bytes per block, in an array that the caller
 * frees. A point is left out where both neighbours have the same value, and the curve ends where a
 * larger cache brings nothing more. *out is NULL and *nr 0 where too few references were sampled.
 * Returns 0 or -ENOMEM.
 */
int reuse_curve(const struct reuse *r, uint32_t block_bytes, struct cache_point **out, size_t *nr);
/* Returns how many blocks the curve is made of. All blocks are among them where !is_sampled. */
uint32_t reuse_nr_samples(const struct reuse *r);
size_t reuse_memory(const struct reuse *r);

#endif
