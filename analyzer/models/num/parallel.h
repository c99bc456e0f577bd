/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: does work in fixed chunks on any number of threads, with the same bits for every
 * number.
 *
 * The items 0..nr_items-1 are cut into chunks of `chunk` items. The cuts depend only on the sizes
 * and never on the threads. work() handles one chunk and keeps its result in a slot of its own
 * (ctx, indexed by chunk). Afterwards reduce(), if given, is called for chunk 0, 1, 2, ... in order
 * by the caller's thread. Random numbers belong to the chunk: rng_stream(seed, chunk).
 */
#ifndef ANALYZER_PARALLEL_H
#define ANALYZER_PARALLEL_H

#include <stddef.h>

struct parallel {
	size_t nr_items;
	size_t chunk;	     /* items per chunk; 0 means 1 */
	unsigned nr_threads; /* 0: parallel_cpus() */
	/*
	 * Handles the items [begin, end) of one chunk. Called once per chunk, by any thread.
	 * Returns 0, or -errno; later chunks may then be left out.
	 */
	int (*work)(void *ctx, size_t chunk, size_t begin, size_t end);
	/*
	 * May be NULL. Returns 0, or -errno, which ends the reduction. It is not called at all
	 * where work() failed.
	 */
	int (*reduce)(void *ctx, size_t chunk);
	void *ctx;
};

/*
 * Runs everything. Returns 0, or the -errno of the lowest chunk that failed, which is the same for
 * any number of threads. Where threads cannot be started, those that were started (or the caller
 * alone) do the work.
 */
int parallel_run(const struct parallel *p);

/* Returns the number of chunks of size `chunk` that nr_items make. */
size_t parallel_nr_chunks(size_t nr_items, size_t chunk);

/* Returns the number of processors on which this process may run, at least 1. */
unsigned parallel_cpus(void);

#endif
