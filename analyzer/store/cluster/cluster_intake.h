/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_intake: this module stores checked segments of many senders in a cluster.
 *
 * CLUSTER_WRITERS threads take turns, so that one bundle is gathered while others are stored. A
 * thread collects the waiting segments for at most CLUSTER_GATHER_MS, or up to
 * CLUSTER_BUNDLE_BYTES. It leaves out segments that the catalog already has, writes the others as
 * one object, and commits the bundle and the names of the segments in one transaction that waits
 * for the standbys. Only then does it answer the senders. Segments that were already stored are
 * part of this transaction too. That the catalog shows them does not prove that they survive the
 * loss of the primary, but the new commit does.
 *
 * If any step fails, no sender is told that its segment is stored, and nothing is undone: a commit
 * without an answer may have succeeded, and then the segment is found when it is sent again. No row
 * names an object without a commit; `blkcast cluster check` deletes such objects.
 */
#ifndef ANALYZER_CLUSTER_INTAKE_H
#define ANALYZER_CLUSTER_INTAKE_H

#include "analyzer/store/store_home.h"

#define CLUSTER_GATHER_MS    250
#define CLUSTER_BUNDLE_BYTES (32u << 20) /* of segments and of their rows for the catalog */
#define CLUSTER_BUNDLE_MAX   4096	 /* segments of one bundle */
#define CLUSTER_WRITERS	     2 /* bundles under way; each has a connection to PostgreSQL */

int cluster_intake_new(struct home_intake **out, struct store *s, struct err *err);
void cluster_intake_free(struct home_intake *i);
void cluster_intake_gather(struct home_intake *i);
void cluster_intake_limit(struct home_intake *i, const struct ingest_quota *quota);
int cluster_intake_put(struct home_intake *i, const struct home_segment *one, struct err *err);
int cluster_intake_stream(struct home_intake *i, struct segment_name *n, bool exactly,
			  struct err *err);

#endif
