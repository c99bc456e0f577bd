/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_bundle: one bundle of segments, from the senders to the object store and the catalog. */
#ifndef ANALYZER_CLUSTER_BUNDLE_H
#define ANALYZER_CLUSTER_BUNDLE_H

#include <jansson.h>

#include "analyzer/store/cluster.h"

/* One segment of it. */
struct bundle_item {
	struct home_segment segment;
	json_t *row;   /* for the catalog */
	int64_t day;   /* since 1970, of its clock */
	uint64_t at;   /* in the object */
	bool is_known; /* the catalog had it before */
	int ret;       /* 0 stored, -EALREADY, or a failure with err */
	struct err err;
};

/* Makes the row from the segment; -ENOMEM. */
int bundle_item_init(struct bundle_item *item, struct err *err);
void bundle_item_release(struct bundle_item *item);

/* Days whose partitions are known to be there. */
struct bundle_days {
	int64_t *days;
	size_t nr, cap;
};
void bundle_days_release(struct bundle_days *d);

struct bundle_commit {
	struct cluster *cluster;
	struct cluster_sql **sql; /* opened where it is NULL */
	struct bundle_days *days;
	struct ingest_quota quota;
	struct bundle_item **items;
	size_t nr;
};

/* Sets ret, and err where that is negative, of each item. */
void bundle_commit(struct bundle_commit *b);

#endif
