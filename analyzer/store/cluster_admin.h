/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_admin: what `blkcast cluster` does to a cluster as a whole. */
#ifndef ANALYZER_CLUSTER_ADMIN_H
#define ANALYZER_CLUSTER_ADMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Makes the schema or brings it up to date, and puts, reads and deletes an object. */
struct cluster_made {
	int from, to; /* version of the schema before and now */
};
int cluster_init(const char *name, struct cluster_made *made, struct err *err);

struct cluster_state {
	int version;
	bool is_durable;    /* commits reach the disk of the primary: fsync and full_page_writes */
	bool is_standby;    /* the server that answered takes no writes */
	char standbys[256]; /* synchronous_standby_names; "" where no standby is waited for */
	uint64_t nr_standbys; /* that are connected and are waited for now */
	uint64_t nr_hosts, nr_streams, nr_segments, nr_summaries;
	uint64_t nr_bundles, bundle_bytes, used_bytes;
	uint64_t nr_holes;   /* sequence numbers that are missing below a later one */
	uint64_t nr_garbage; /* objects that wait to be deleted */
	char holder[160];    /* who retains or compacts now; "" nobody */
};
int cluster_status(const char *name, struct cluster_state *out, struct err *err);

#endif
