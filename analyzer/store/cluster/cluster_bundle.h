/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_bundle: this module stores one bundle of segments in the object store and commits it to
 * the catalog.
 */
#ifndef ANALYZER_CLUSTER_BUNDLE_H
#define ANALYZER_CLUSTER_BUNDLE_H

#include <jansson.h>

#include "analyzer/store/cluster/cluster.h"
#include "analyzer/store/intake/ingest.h"

/* One segment of a bundle. */
struct bundle_item {
	struct home_segment segment;
	char *row;     /* the segment's row for the catalog: the text of a JSON object */
	size_t nr_row; /* bytes of row */
	int64_t day;   /* days since 1970 by the segment's clock */
	uint64_t at;   /* offset in the object */
	bool is_known; /* the catalog already had the segment */
	int ret;       /* 0: stored; -EALREADY; or a failure with err */
	struct err err;
};

/* Makes the row from the segment; for reader see cluster_profiles_json(). Returns 0 or -ENOMEM. */
int bundle_item_init(struct bundle_item *item, struct segment_reader **reader, struct err *err);
void bundle_item_release(struct bundle_item *item);
/*
 * The bytes that the item adds to its bundle: those of the segment for the object store and those
 * of the row for PostgreSQL. A row with many profiles can be larger than its segment.
 */
size_t bundle_item_bytes(const struct bundle_item *item);

/* Days whose partitions are known to exist. */
struct bundle_days {
	int64_t *days;
	size_t nr, cap;
};
void bundle_days_release(struct bundle_days *d);

struct bundle_commit {
	struct cluster *cluster;
	struct cluster_sql **sql; /* opened if it is NULL */
	struct bundle_days *days;
	struct ingest_quota quota;
	struct bundle_item **items;
	size_t nr;
};

/* Sets ret of each item, and err if ret is negative. */
void bundle_commit(struct bundle_commit *b);

#endif
