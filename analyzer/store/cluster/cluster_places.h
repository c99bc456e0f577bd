/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_places: this module holds where the bytes of each segment and summary of a cluster lie,
 * according to the catalog at the time when it was read. It takes about 56 bytes of memory for each
 * segment.
 */
#ifndef ANALYZER_CLUSTER_PLACES_H
#define ANALYZER_CLUSTER_PLACES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/engine/cluster_sql.h"
#include "analyzer/store/engine/object_store.h"
#include "analyzer/store/index/catalog.h"
#include "analyzer/store/index/segment_name.h"

struct cluster_place {
	uint64_t sequence, at, bytes;
	struct segment_hash hash;
	uint32_t bundle; /* index */
};

struct cluster_stream {
	struct segment_name name; /* with sequence 0 */
	uint64_t id;		  /* id in the catalog */
	size_t first, nr;	  /* range of its entries in places */
	atomic_bool is_read;	  /* something of it was read */
};

struct cluster_bundle {
	uint64_t id, bytes;
	char key[OBJECT_KEY_MAX];
};

struct cluster_summary {
	struct segment_name first;
	uint64_t generation, bytes;
	char key[OBJECT_KEY_MAX];
	char sha256[OBJECT_SHA256_HEX];
};

struct cluster_places {
	struct cluster_bundle *bundles; /* sorted by id */
	size_t nr_bundles, cap_bundles;
	struct cluster_stream *streams; /* sorted by name */
	size_t nr_streams, cap_streams;
	struct cluster_place *places; /* sorted by stream and sequence */
	size_t nr_places, cap_places;
	struct cluster_summary *summaries; /* sorted by name of the first segment */
	size_t nr_summaries, cap_summaries;
};

void cluster_places_release(struct cluster_places *p);
/* Reads the whole catalog in one consistent snapshot, into an empty p and an empty catalog. */
int cluster_places_load(struct cluster_places *p, struct catalog *catalog, struct cluster_sql *sql,
			struct err *err);
/* These functions return NULL if there is no such entry. */
const struct cluster_place *cluster_places_find(const struct cluster_places *p,
						const struct cluster_stream *s, uint64_t sequence);
const struct cluster_summary *cluster_places_summary(const struct cluster_places *p,
						     const struct segment_name *first,
						     uint64_t generation);
/* Adds or replaces a summary that was made meanwhile. Returns 0 or -ENOMEM. */
int cluster_places_put_summary(struct cluster_places *p, const struct segment_facts *f,
			       const char *key, const char *sha256);
struct cluster_stream *cluster_places_stream(const struct cluster_places *p,
					     const struct segment_name *n);

#endif
