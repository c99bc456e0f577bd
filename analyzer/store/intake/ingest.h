/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest: takes a segment into a store in such a way that an acknowledgement is a promise.
 *
 * The order is: check all of the segment; append it to the journal and sync the journal
 * (store_journal.h); put its file in place; add it to the catalog; only then report success. A
 * segment is named by (host, boot id, epoch, sequence). The same one received again is stored once
 * and answered in the same way; different content under the same name is refused.
 *
 * Many threads may call ingest_put() at the same time. Each checks its own segment. The first of
 * those that wait then does the rest for all that are waiting by then: one sync and one transaction
 * of the catalog for all of them.
 */
#ifndef ANALYZER_INGEST_H
#define ANALYZER_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "base/text/err.h"

struct ingest;

struct ingest_result {
	struct segment_name name;
	struct segment_hash hash;
	bool stored; /* false: it existed already */
	/* ingest_put() of a new segment: the requests that its agent kept back (LOSS_KEPT_BACK) */
	uint64_t nr_kept_back;
};

struct ingest_counts {
	uint64_t nr_stored, nr_repeated, stored_bytes;
	/* not a valid segment, another than the request named, or of values that fit no catalog */
	uint64_t nr_damaged;
	uint64_t nr_conflicts;	/* the name already belongs to other content */
	uint64_t nr_over_quota; /* refused by the quota of their host */
	uint64_t nr_disk_errors;
	uint64_t nr_catalog_errors; /* durable, but not in the catalog until the next sync */
	uint64_t nr_batches;	    /* number of syncs that nr_stored took */
	uint64_t nr_kept_journals;  /* journals that could not be retired; the next start does it */
};

/* Makes an ingest for a store in a folder. Returns 0 or -ENOMEM. */
int ingest_new(struct ingest **out, struct store *store);
/* Makes an ingest for any store. Returns 0, or -errno with the store's reason in err. */
int ingest_new_in(struct ingest **out, struct store *store, struct err *err);
/* Retires the journal and frees g. No thread may be in ingest_put(). */
void ingest_free(struct ingest *g);
/*
 * Prepares for many senders: from this call on a separate thread retires journals, so that no
 * sender waits for it, and a cluster gathers segments for a while. Returns 0 or -errno.
 */
int ingest_retire_beside(struct ingest *g);
/* The default size at which a journal is retired. */
#define INGEST_JOURNAL_BYTES (32ull << 20)
void ingest_limit_journal(struct ingest *g, uint64_t bytes);

/* Limits of one host; 0: no limit. */
struct ingest_quota {
	uint64_t nr_inodes, bytes;    /* in the store, as catalog_host() counts them */
	uint64_t nr_segments_per_day; /* received in one day (UTC) by the clock of this machine */
};

/*
 * From this call on no host may exceed the quota. Segments that are already stored are still
 * acknowledged again.
 */
void ingest_limit_hosts(struct ingest *g, const struct ingest_quota *quota);

/*
 * Takes the len bytes at data. expected (may be NULL) is the name that the sender gave. Returns 0
 * once the segment is durable, with *result filled; otherwise nothing is stored and err says why:
 *
 *	-EBADMSG, -EPROTONOSUPPORT, -EFBIG, -EINVAL   it is damaged, foreign or not the expected one
 *	-EILSEQ   the catalog of a cluster cannot hold its values
 *	-EEXIST   the name belongs to a segment with another hash
 *	-EUSERS   the host has used up its quota of segments for this day
 *	-EDQUOT   the host's quota of the store or the file system's quota of this user is used up;
 *		  trying again later may help
 *	-ENOSPC, -EIO, -EROFS, ...   the disk, or an engine of a cluster, did not take it; trying
 *		  again later may help
 *	-ENOMEM
 */
int ingest_put(struct ingest *g, const struct segment_name *expected, const void *data, size_t len,
	       struct ingest_result *result, struct err *err);

/*
 * Returns whether the segment of this name and hash (as text) is durable: 1 with *result filled as
 * by ingest_put(); 0 where it is not, or this cannot be determined.
 */
int ingest_find(struct ingest *g, const struct segment_name *name, const char *hash,
		struct ingest_result *result);

struct ingest_counts ingest_counted(struct ingest *g);

/*
 * Calls catalog_stream() where exactly is set, otherwise catalog_next_stream(). Safe beside
 * ingest_put().
 */
int ingest_stream(struct ingest *g, struct segment_name *n, bool exactly, struct err *err);

#endif
