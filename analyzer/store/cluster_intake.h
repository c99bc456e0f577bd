/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_intake: takes checked segments of many senders into a cluster.
 *
 * One thread gathers what waits for at most CLUSTER_GATHER_MS, or CLUSTER_BUNDLE_BYTES. It leaves out what the
 * catalog has already, puts the rest as one object, and commits the bundle and the segments' names in one
 * transaction, for which the standbys are waited for. Only then does it tell the senders. What was there
 * before is in that transaction too: that the catalog shows it is no proof that it survives the loss of the
 * primary, but the fresh commit is.
 *
 * Where anything fails, nobody is told that his segment is stored, and nothing is taken back: a commit without
 * an answer may have been done, and then the segment is found when it comes again. An object without a
 * commit is named by nothing, and `blkcast cluster check` sweeps it.
 */
#ifndef ANALYZER_CLUSTER_INTAKE_H
#define ANALYZER_CLUSTER_INTAKE_H

#include "analyzer/store/store_home.h"

#define CLUSTER_GATHER_MS    250
#define CLUSTER_BUNDLE_BYTES (32u << 20)
#define CLUSTER_BUNDLE_MAX   4096 /* segments of one bundle */

int cluster_intake_new(struct home_intake **out, struct store *s, struct err *err);
void cluster_intake_free(struct home_intake *i);
void cluster_intake_gather(struct home_intake *i);
void cluster_intake_limit(struct home_intake *i, const struct ingest_quota *quota);
int cluster_intake_put(struct home_intake *i, const struct home_segment *one, struct err *err);
int cluster_intake_stream(struct home_intake *i, struct segment_name *n, bool exactly,
			  struct err *err);

#endif
