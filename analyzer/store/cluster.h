/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster: a store in PostgreSQL and an object store, opened. Only cluster_*.c include this.
 *
 * The catalog is docs/cluster.sql. Segments of many senders lie one after the other in bundles, which are
 * objects with keys "bundles/YYYYMMDD/<16 hex digits>-<number>.seg"; a bundle is a valid file of segments by
 * itself. Summaries lie in "summaries/...". An object is never changed once it was put.
 */
#ifndef ANALYZER_CLUSTER_H
#define ANALYZER_CLUSTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/store/cluster_places.h"
#include "analyzer/store/cluster_sql.h"
#include "analyzer/store/cluster_url.h"
#include "analyzer/store/object_store.h"
#include "analyzer/store/store_home.h"

#define CLUSTER_HOLDER_BYTES 160

struct cluster {
	struct cluster_url url;
	struct object_store *objects;
	struct cluster_sql *reader; /* NULL: it was opened to fill */
	struct cluster_sql *keeper; /* takes writes; opened when it is needed */
	struct cluster_places places;
	char instance[17];		   /* hexadecimal; of this process, in keys of objects */
	char holder[CLUSTER_HOLDER_BYTES]; /* its name in leases: machine, process, instance */
	atomic_ulong nr_objects;	   /* that it named */
	pthread_mutex_t lock;		   /* guards the blocks */
	struct cluster_block *blocks;	   /* what was read lately, see cluster_read.h */
	uint64_t blocks_bytes;
	char scratch[64]; /* "" or the folder of files that are passed on */
	uint64_t nr_scratch;
};

/* Reads the URL and the keys, and connects to neither. cluster_free() also after a failure. */
int cluster_new(struct cluster **out, const char *name, struct err *err);
void cluster_free(struct cluster *c);
/* The connection that takes writes, with its schema checked. */
int cluster_keeper(struct cluster *c, struct cluster_sql **out, struct err *err);
/* A key that no other object has or will have. */
void cluster_new_key(struct cluster *c, const char *kind, const char *end,
		     char out[OBJECT_KEY_MAX]);

/* The lease for retention and compaction. */
#define CLUSTER_LEASE_S 600
int cluster_lease_take(struct cluster *c, int *token, struct err *err);
void cluster_lease_end(struct cluster *c, int token);

#endif
