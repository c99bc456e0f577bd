/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint: a file of evaluated parameter sets, so that a search that was killed goes on.
 *
 * Each record holds the errors of some parameter sets under the hash of everything that determines
 * them: the technique, the data with their splits, and the sets. A search that starts again asks
 * for the same sets in the same order, finds the recorded ones, and so comes to the same answer.
 * Records of other searches do no harm. A record is appended by one write with a hash of its own; a
 * torn one at the end of the file is cut off when the file is opened. One process at a time uses a
 * file. Among several ranks (ranks.h), rank 0 reads and writes it for all.
 */
#ifndef ANALYZER_REGRESSION_CHECKPOINT_H
#define ANALYZER_REGRESSION_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct checkpoint;

struct checkpoint_key {
	uint64_t low, high;
};

/*
 * Opens the file, or makes it. Returns 0; -EINVAL where the file is something else, which is then
 * left as it is; -EBUSY where another process uses it; another -errno.
 */
int checkpoint_open(struct checkpoint **out, const char *path, struct err *err);
void checkpoint_close(struct checkpoint *c);
/* Copies the nr values of a record. Returns whether there is such a record. */
bool checkpoint_find(const struct checkpoint *c, struct checkpoint_key key, double *values,
		     size_t nr);
/* Returns 0 or -errno. */
int checkpoint_add(struct checkpoint *c, struct checkpoint_key key, const double *values,
		   size_t nr);

#endif
