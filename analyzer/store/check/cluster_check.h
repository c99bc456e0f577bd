/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_check: this module checks that the catalog and the objects of a cluster agree, and
 * repairs what can be repaired.
 *
 * Every segment in the catalog is read from its object, compared with its hash and decoded. Objects
 * that no row names are orphans of commits that never happened; they are deleted once they are
 * older than any commit can take. A segment is never removed: an unreadable segment stays in the
 * catalog, so that it can be read again once its object is restored.
 */
#ifndef ANALYZER_CLUSTER_CHECK_H
#define ANALYZER_CLUSTER_CHECK_H

#include "analyzer/store/check/store_check.h"

/* Takes the same arguments and returns the same values as check_store(). */
int cluster_check(struct check_report *r, const char *name, bool repair, struct err *err);
int cluster_check_since(struct check_report *r, const char *name, bool repair, double orphan_s,
			struct err *err);

#endif
