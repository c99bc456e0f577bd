/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: work in fixed chunks on any number of threads, the same bits for every number.
 *
 * The items 0..nr_items-1 are cut into chunks of `chunk` items; where the cuts lie depends on the
 * sizes alone, never on the threads. work() handles one chunk and keeps what it found in a slot
 * of its own (ctx indexed by chunk); then reduce(), if given, is called for chunk 0, 1, 2, ... in
 * order by the caller's thread. Randomness belongs to the chunk: rng_stream(seed, chunk).
 */
#ifndef ANALYZER_PARALLEL_H
#define ANALYZER_PARALLEL_H

#include <stddef.h>

struct parallel {
	size_t nr_items;
	size_t chunk;	     /* items per chunk; 0 is 1 */
	unsigned nr_threads; /* 0: parallel_cpus() */
	/*
	 * Items [begin, end) of one chunk. Called once per chunk, by any thread. 0 or -errno:
	 * then chunks after it may be left out.
	 */
	int (*work)(void *ctx, size_t chunk, size_t begin, size_t end);
	/* May be NULL. 0 or -errno, which ends it. Not called at all where work() failed. */
	int (*reduce)(void *ctx, size_t chunk);
	void *ctx;
};

/*
 * Runs it to its end. 0, or the -errno of the lowest chunk that failed: the same for any number of
 * threads. Where threads cannot be started, those that did (or the caller's alone) do the work.
 */
int parallel_run(const struct parallel *p);

/* Chunks that nr_items in chunks of `chunk` make. */
size_t parallel_nr_chunks(size_t nr_items, size_t chunk);

/* Processors this process may run on, 1 at least. */
unsigned parallel_cpus(void);

#endif
