/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster: an open store in PostgreSQL and an object store. Only cluster_*.c include this file.
 *
 * The catalog is docs/cluster.sql. Segments of many senders lie one after the other in bundles,
 * which are objects with keys "bundles/YYYYMMDD/<16 hex digits>-<number>.seg". A bundle is a valid
 * file of segments by itself. Summaries have keys "summaries/...". Object "owner" says whose catalog
 * the bucket belongs to (cluster_sweep.h). An object is never changed after it was written.
 */
#ifndef ANALYZER_CLUSTER_H
#define ANALYZER_CLUSTER_H

#include <pthread.h>
#include <stdatomic.h>

#include "analyzer/store/cluster/cluster_places.h"
#include "analyzer/store/engine/cluster_sql.h"
#include "analyzer/store/engine/cluster_url.h"
#include "analyzer/store/engine/object_store.h"
#include "analyzer/store/store_home.h"

#define CLUSTER_HOLDER_BYTES 160

struct cluster {
	struct cluster_url url;
	struct object_store *objects;
	struct cluster_sql *reader; /* NULL: the store was opened only to add segments */
	/* connection that takes writes; opened when it is first needed */
	struct cluster_sql *keeper;
	struct cluster_places places;
	/* hexadecimal number of this process, used in keys of objects */
	char instance[17];
	char holder[CLUSTER_HOLDER_BYTES]; /* its name in leases: machine, process, instance */
	int token;			   /* of the lease while a pass holds it, else 0 */
	atomic_ulong nr_objects;	   /* number of objects that this process has named */
	struct cluster_blocks *blocks;	   /* data that was read recently, see cluster_blocks.h */
	atomic_uint nr_streams_read;	   /* number of streams of the index that were read */
	pthread_mutex_t reader_lock;	   /* guards the reader once the index was read */
	char scratch[64]; /* "", or the folder of temporary files that are passed on */
	uint64_t nr_scratch;
};

/*
 * Reads the URL and the keys, but connects to neither server. Call cluster_free() also after a
 * failure.
 */
int cluster_new(struct cluster **out, const char *name, struct err *err);
void cluster_free(struct cluster *c);
/* Opens one more connection to the object store. */
int cluster_objects_open(struct cluster *c, struct object_store **out, struct err *err);
/* Gives the connection that takes writes, after its schema was checked. */
int cluster_keeper(struct cluster *c, struct cluster_sql **out, struct err *err);
/* Makes a key that no other object has or will have. */
void cluster_new_key(struct cluster *c, const char *kind, const char *end,
		     char out[OBJECT_KEY_MAX]);

/*
 * Takes the lease for retention and compaction, or extends it. It is -EBUSY if
 * another process has the lease, or has had it since cluster_home_lock().
 */
#define CLUSTER_LEASE_S 300
int cluster_lease_take_for(struct cluster *c, uint64_t seconds, int *token, struct err *err);
int cluster_lease_take(struct cluster *c, int *token, struct err *err);
void cluster_lease_end(struct cluster *c, int token);

#endif
