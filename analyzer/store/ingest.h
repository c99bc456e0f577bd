/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingest: takes one segment into a store so that an acknowledgement is a promise.
 *
 * The order is: validate all of it; append it to the journal and sync that (store_journal.h); put
 * its file to its place; add it to the catalog; only then return success. Segments are named by
 * (host, boot id, epoch, sequence): the same one again is stored once and answered the same; another
 * one under the same name is refused.
 *
 * Many threads may call ingest_put() at once. Each validates its own; the first that waits then does
 * the rest for all that wait by then: one sync and one transaction of the catalog for all of them.
 */
#ifndef ANALYZER_INGEST_H
#define ANALYZER_INGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/store.h"
#include "base/err.h"

struct ingest;

struct ingest_result {
	struct segment_name name;
	struct segment_hash hash;
	bool stored; /* false: it was there already */
};

struct ingest_counts {
	uint64_t nr_stored, nr_repeated, stored_bytes;
	uint64_t nr_damaged;	/* no good segment, or another than the request named */
	uint64_t nr_conflicts;	/* the name is taken by another content */
	uint64_t nr_over_quota; /* that the quota of their host refused */
	uint64_t nr_disk_errors;
	uint64_t nr_catalog_errors; /* durable, but not in the catalog until the next sync */
	uint64_t nr_batches;	    /* syncs that nr_stored took */
	uint64_t nr_kept_journals;  /* that could not be retired: the next start does it */
};

int ingest_new(struct ingest **out, struct store *store);
/* Retires the journal; nobody may be in ingest_put(). */
void ingest_free(struct ingest *g);
/* From here on a thread of its own retires journals, so that no sender waits for it. 0 or -errno. */
int ingest_retire_beside(struct ingest *g);
/* How far a journal may grow before it is retired; default INGEST_JOURNAL_BYTES. */
#define INGEST_JOURNAL_BYTES (32ull << 20)
void ingest_limit_journal(struct ingest *g, uint64_t bytes);

/* What one host may have; 0: not bounded. */
struct ingest_quota {
	uint64_t nr_inodes, bytes;    /* in the store, as catalog_host() counts them */
	uint64_t nr_segments_per_day; /* received in one day (UTC) by the clock of this machine */
};

/* From here on no host gets more. What is stored already is acknowledged again all the same. */
void ingest_limit_hosts(struct ingest *g, const struct ingest_quota *quota);

/*
 * Takes len bytes at data. expected (may be NULL) is the name that the sender gave. Returns 0 once
 * the segment is durable, with *result filled; else nothing is stored and err says why:
 * -EBADMSG, -EPROTONOSUPPORT, -EFBIG, -EINVAL: it is damaged, foreign, or not the one expected
 * -EEXIST: the name is taken by a segment with another hash
 * -EUSERS: the host has used up its quota of segments of this day; -EDQUOT: its quota of the store, or the
 *   file system's quota of this user; trying again later may help
 * -ENOSPC, -EIO, -EROFS, ...: the disk did not take it; trying again later may help
 * -ENOMEM
 */
int ingest_put(struct ingest *g, const struct segment_name *expected, const void *data, size_t len,
	       struct ingest_result *result, struct err *err);

/* Whether the segment of this name and hash (as text) is durable: 1 with *result filled, as
 * ingest_put() would; 0 where it is not, or cannot be told. */
int ingest_find(struct ingest *g, const struct segment_name *name, const char *hash,
		struct ingest_result *result);

struct ingest_counts ingest_counted(struct ingest *g);

/* catalog_stream() where exactly is set, else catalog_next_stream(); safe beside ingest_put(). */
int ingest_stream(struct ingest *g, struct segment_name *n, bool exactly, struct err *err);

#endif
