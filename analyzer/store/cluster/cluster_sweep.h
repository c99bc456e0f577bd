/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_sweep: this module deletes objects that the catalog no longer names.
 *
 * Replaced objects stand in table garbage with the time after which nobody reads them any more.
 * Orphans stand nowhere: their commit never happened. They are found by listing the bucket, and
 * their age is the difference between two times of the object store's own clock, so that a wrong
 * clock of this machine deletes nothing that another process is about to commit.
 *
 * Whatever another catalog wrote looks like an orphan. The bucket therefore has an object "owner"
 * with the identity of its catalog, and orphans are looked for only by that one.
 */
#ifndef ANALYZER_CLUSTER_SWEEP_H
#define ANALYZER_CLUSTER_SWEEP_H

#include "analyzer/store/cluster/cluster.h"

#define CLUSTER_ORPHAN_S    86400.0 /* age from which an object that nothing names is an orphan */

#define CLUSTER_OWNER_KEY   "owner"
#define CLUSTER_OWNER_BYTES 37 /* the text of a UUID, with the final 0 */

/* Claims the bucket for this catalog, if none has it. It is -EXDEV if another one has it. */
int cluster_owner_claim(struct cluster *c, struct err *err);
/* Returns 0 if the bucket is this catalog's, -EXDEV if it is another's or nobody's. */
int cluster_owner_check(struct cluster *c, struct err *err);

/* Deletes the objects that have waited long enough in table garbage, and counts them. */
int cluster_sweep_garbage(struct cluster *c, uint64_t *nr_deleted, struct err *err);

/*
 * Calls found for each orphan that is at least orphan_s seconds old; it ends early if found returns
 * nonzero, and returns that value. It is -EXDEV if the bucket is not this catalog's.
 */
int cluster_sweep_orphans(struct cluster *c, double orphan_s,
			  int (*found)(void *ctx, const char *key, uint64_t bytes), void *ctx,
			  struct err *err);

#endif
