/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint: a file of results that were found, so that a computation that was killed goes on.
 *
 * Each record holds some numbers under the hash of everything that determines them: for a search,
 * the technique, the data with their splits, and the parameter sets; for a sweep, the question and
 * the number of the point. A computation that starts again asks for the same results in the same
 * order, finds the recorded ones, and so comes to the same answer. In a search, records of other
 * searches do no harm. A sweep calls checkpoint_question(), so that a file has one question only.
 *
 * A record is appended by one write with a hash of its own; a torn one at the end of the file is
 * cut off when the file is opened. One process at a time uses a file. Among several ranks
 * (ranks.h), rank 0 reads and writes it for all.
 */
#ifndef ANALYZER_CHECKPOINT_H
#define ANALYZER_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

struct checkpoint;

struct checkpoint_key {
	uint64_t low, high;
};

/*
 * Opens the file, or makes it. command is the one whose results it holds, such as "fit"; it and
 * path are borrowed until the file is closed. Returns 0; -EINVAL where the file is something else,
 * which is then left as it is; -EBUSY where another process uses it; another -errno.
 */
int checkpoint_open(struct checkpoint **out, const char *path, const char *command,
		    struct err *err);
void checkpoint_close(struct checkpoint *c);
/*
 * Notes the question of an empty file, or compares it with that of the file. Returns 0, -EINVAL
 * where the file belongs to another question, or another -errno.
 */
int checkpoint_question(struct checkpoint *c, struct checkpoint_key question, struct err *err);
/* Copies the nr values of a record. Returns whether there is such a record. */
bool checkpoint_find(const struct checkpoint *c, struct checkpoint_key key, double *values,
		     size_t nr);
/* Appends a record. Returns 0 or -errno. */
int checkpoint_add(struct checkpoint *c, struct checkpoint_key key, const double *values,
		   size_t nr);

/*
 * This struct holds the numbers of one result on their way to a record or from there. A function
 * that names all numbers of a result by the calls below, in a fixed order, serves for both
 * directions.
 */
struct checkpoint_values {
	double *items; /* owned */
	size_t nr, cap;
	size_t at;    /* the next one that is read */
	bool is_read; /* numbers are copied from here to the result */
	int error;    /* 0, or -ENOMEM, which later calls keep */
};

void checkpoint_values_put(struct checkpoint_values *v, double *numbers, size_t nr);
/* The count must be below 2^53, because a record keeps it as a double. */
void checkpoint_values_count(struct checkpoint_values *v, uint64_t *count);
void checkpoint_values_flag(struct checkpoint_values *v, bool *flag);
void checkpoint_values_release(struct checkpoint_values *v);

#endif
