/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_admin: the operations of `blkcast cluster` on a whole cluster. */
#ifndef ANALYZER_CLUSTER_ADMIN_H
#define ANALYZER_CLUSTER_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/err.h"

/*
 * Creates the schema or updates it, checks the object store by writing, reading and deleting an
 * object, and claims the bucket for this catalog (-EXDEV if another catalog has it).
 */
struct cluster_made {
	int from, to; /* version of the schema before and now */
};
int cluster_init(const char *name, struct cluster_made *made, struct err *err);

struct cluster_state {
	int version;
	bool is_durable;    /* commits reach the disk of the primary: fsync and full_page_writes */
	bool is_standby;    /* the server that answered is a standby, which takes no writes */
	char standbys[256]; /* synchronous_standby_names; "": commits wait for no standby */
	uint64_t nr_standbys; /* standbys that are connected and for which commits wait now */
	uint64_t nr_hosts, nr_streams, nr_segments, nr_summaries;
	uint64_t nr_bundles, bundle_bytes, used_bytes;
	uint64_t nr_holes;   /* sequence numbers that are missing below a later one */
	uint64_t nr_garbage; /* objects that wait to be deleted */
	char holder[160];    /* the process that now retains or compacts; "": none */
};
int cluster_status(const char *name, struct cluster_state *out, struct err *err);

#endif
