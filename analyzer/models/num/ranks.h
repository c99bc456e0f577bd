/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks: several processes, possibly on several machines, that work on one question together.
 *
 * `mpirun -n 4 blkcast fit ...` or `srun -n 4 blkcast fit ...` starts four processes with the same
 * arguments. Each of them runs the whole command. What differs is parallel_run() (parallel.h):
 * every rank works on its share of the chunks, and all ranks receive all results, so that they go
 * on with the same numbers. Only rank 0 prints and writes files; the standard output of the others
 * and all files that they would write are discarded.
 *
 * MPI is used only by a shared object, libblkcast-mpi.so, which is loaded when the environment says
 * that the process is one of several. The program itself does not depend on it. The state here
 * belongs to the process, as its environment does, and does not change once the command runs.
 */
#ifndef ANALYZER_RANKS_H
#define ANALYZER_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

/*
 * The shared object provides this struct; its one symbol is `struct ranks_transport
 * ranks_transport`.
 */
struct ranks_transport {
	uint32_t version;
	/*
	 * *nr_threads receives how many processors each rank of this machine may use, where the
	 * ranks that share processors divide them. Returns 0, or -errno where MPI does not begin.
	 */
	int (*begin)(unsigned *own, unsigned *nr, unsigned *nr_threads);
	/*
	 * Collects `size` bytes of each rank in `all`, in the order of ranks. Returns 0 or -errno.
	 */
	int (*gather)(const void *mine, size_t size, void *all);
	/*
	 * Collects bytes as gather() does, with sizes that differ: sizes[] has one item for each
	 * rank.
	 */
	int (*gather_sizes)(const void *mine, const size_t *sizes, void *all);
	void (*end)(void);
};

#define RANKS_VERSION 1
#define RANKS_SYMBOL  "ranks_transport"

/*
 * Loads the shared object if the process was started as one of several. Returns 0, or -errno where
 * it was, but cannot work as one.
 */
int ranks_begin(struct err *err);
/* Returns 1 unless the process is one of several that share the work. */
unsigned ranks_nr(void);
unsigned ranks_own(void);
/* Returns the number of processors for this rank's threads, or 0 for one process alone. */
unsigned ranks_threads(void);

/* From this call on this process prints nothing, unless it is rank 0. */
int ranks_quiet(struct err *err);
/*
 * Serves a command that does not spread its work: returns whether this process does the work, which
 * rank 0 does from now on; ranks_nr() returns 1 there. The others have nothing to do and call
 * ranks_end(0), which waits for rank 0.
 */
bool ranks_works_alone(void);

/* This struct holds the bytes of all ranks, in the order of ranks. */
struct ranks_bytes {
	uint8_t *data; /* owned */
	size_t *sizes; /* owned; one for each rank */
};

/*
 * Hands `size` bytes to all ranks and receives theirs. Every rank calls it in the same order. tag
 * describes the work: where the tags differ, the ranks do not work on the same question. Where
 * they do not, or where a rank ended early, rank 0 prints one line and all ranks exit with status
 * 3; where rank 0 failed, they exit with its status. A rank that has no memory for the exchange
 * prints one line and aborts. Returns 0, or -EMSGSIZE in all ranks where the sum of the sizes is
 * too large. The caller releases *all.
 */
int ranks_exchange(struct ranks_bytes *all, uint64_t tag, const void *mine, size_t size);
/*
 * Ends all ranks as ranks_exchange() does where the tags differ. A rank calls it when it received
 * bytes that do not fit its own question.
 */
void __attribute__((noreturn)) ranks_apart(void);
void ranks_bytes_release(struct ranks_bytes *b);

/*
 * Gives the value of rank 0 to all ranks, for decisions that depend on the clock or on a file that
 * only rank 0 has. For one process alone the function does nothing. Returns 0 or -errno.
 */
int ranks_agree(void *value, size_t size);

/* Ends the work of all ranks and returns the exit status of this process. */
int ranks_end(int status);

#endif
