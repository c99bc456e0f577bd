/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_check: proves that the catalog and the objects of a cluster agree, and repairs what can be.
 *
 * Every segment that the catalog names is read from its object, held against its hash and decoded. Objects
 * that nothing names are orphans of commits that never were; they are swept once they are older than any
 * commit can take. A segment is never removed: what cannot be read stays in the catalog, so that it can be
 * read again once its object is restored.
 */
#ifndef ANALYZER_CLUSTER_CHECK_H
#define ANALYZER_CLUSTER_CHECK_H

#include "analyzer/store/store_check.h"

#define CLUSTER_ORPHAN_S 86400.0 /* age from which an object that nothing names is an orphan */

/* As check_store(). */
int cluster_check(struct check_report *r, const char *name, bool repair, struct err *err);
int cluster_check_since(struct check_report *r, const char *name, bool repair, double orphan_s,
			struct err *err);

#endif
