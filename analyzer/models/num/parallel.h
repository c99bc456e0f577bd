/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: does work in fixed chunks on any number of threads, with the same bits for every
 * number.
 *
 * The items 0..nr_items-1 are cut into chunks of `chunk` items. The cuts depend only on the sizes
 * and never on the threads. work() handles one chunk and keeps its result in a slot of its own
 * (ctx, indexed by chunk). Afterwards reduce(), if given, is called for chunk 0, 1, 2, ... in order
 * by the caller's thread. Random numbers belong to the chunk: rng_stream(seed, chunk).
 *
 * Where several processes work together (ranks.h) and the caller has given pieces(), rank r of n
 * works on chunks r, r + n, r + 2n, ... and receives the results of the others as bytes. Without
 * pieces() each rank does all the work itself. Both give the same bits as one process.
 */
#ifndef ANALYZER_PARALLEL_H
#define ANALYZER_PARALLEL_H

#include <stddef.h>

#include "base/text/err.h"

/* This struct is the result of a chunk on its way to another process, or from there. */
struct parallel_bytes;

/*
 * Copies `size` bytes of a result: from `at` where the result is sent, to `at` where it is
 * received. Returns 0, or -errno where memory is short or bytes are missing.
 */
int parallel_piece(struct parallel_bytes *b, void *at, size_t size);

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
	 * reduce may be NULL. Returns 0, or -errno, which ends the reduction. The function is not
	 * called at all if work() failed.
	 */
	int (*reduce)(void *ctx, size_t chunk);
	/*
	 * May be NULL. Names everything that work() left behind for a chunk, by calls of
	 * parallel_piece() in an order that the caller's arguments and the pieces themselves
	 * determine. Memory for pieces that are received has to exist or is allocated on the way.
	 * Returns 0 or -errno.
	 */
	int (*pieces)(void *ctx, size_t chunk, struct parallel_bytes *b);
	void *ctx;
	/*
	 * May be NULL. Messages, one for each chunk, which work() fills where it fails. That of the
	 * lowest chunk that failed is copied to err (may be NULL).
	 */
	struct err *errs, *err;
};

/*
 * Runs everything. Returns 0, or the -errno of the lowest chunk that failed, which is the same for
 * any number of threads. Where threads cannot be started, those that were started (or the caller
 * alone) do the work.
 */
int parallel_run(const struct parallel *p);

/* Returns the number of chunks of size `chunk` that nr_items make. */
size_t parallel_nr_chunks(size_t nr_items, size_t chunk);

/*
 * Returns the number of processors on which this process may run, at least 1. Ranks of one machine
 * divide what they share.
 */
unsigned parallel_cpus(void);

#endif
