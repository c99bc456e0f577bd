/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog: an index of the segments of a store, in SQLite. It is a cache: every row comes from a
 * file, and a catalog that is missing, damaged or of another version is made again from the files.
 *
 *   PRAGMA application_id = 0x626c6b63 ("blkc"), user_version = CATALOG_VERSION
 *
 *   segment(host, boot_id, epoch, sequence,           -- the primary key, as in the file's name
 *           hash BLOB(16),                            -- XXH3-128 of the file
 *           file_bytes, requests, captured, source, layer,
 *           begin_mono, begin_boot, begin_real, end_mono, end_boot, end_real,  -- ns
 *           first_real, last_real,                    -- ns; first arrival, last completion
 *           last, generation, segments, segment_bytes, dropped, dropped_begin, dropped_end,
 *           received,                                 -- ns; when this machine received it, or
 *                                                     -- the last change of the file
 *           untimed)                                  -- reads and writes without response time
 *     For a segment, last is its sequence, segments is 1, and the others are 0. A summary
 *     (store_summary.h) is stored in the three tables under the complement of its first
 *     sequence, which is negative.
 *   device(host, boot_id, epoch, sequence, device, name, size_bytes,
 *          requests_0 .. requests_4, bytes_0 .. bytes_4)   -- by enum operation
 *   loss(host, boot_id, epoch, sequence, cause, count, count_known, device, begin_real, end_real)
 *   host(host PRIMARY KEY, inodes, bytes, day, segments)   -- what the store holds of each host:
 *                                                     -- files of segments and summaries with
 *                                                     -- their folders; the last day (UTC) of a
 *                                                     -- receipt, and the segments of that day
 *     Triggers keep this table correct at every change of table segment.
 *   damaged(path PRIMARY KEY, mtime_ns, file_bytes, why)   -- files that are no valid segments
 *     mtime_ns is 0 for a file that could not be read; the next sync tries it again.
 *
 * The journal is write-ahead with synchronous NORMAL: a power cut may lose the last rows but never
 * changes their order, and the next sync reads the lost ones from the files again. One thread at a
 * time.
 */
#ifndef ANALYZER_CATALOG_H
#define ANALYZER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_facts.h"
#include "base/text/err.h"

#define CATALOG_VERSION 5

struct catalog;

/*
 * path NULL: the catalog is in memory. Returns 0; -EBADMSG where the file is damaged, foreign or of
 * another version, in which case the caller deletes it and tries again; -EACCES, -EROFS, -EIO or
 * -ENOMEM.
 */
int catalog_open(struct catalog **out, const char *path, struct err *err);
void catalog_close(struct catalog *c);

/* Begins a transaction, which makes many changes at the cost of one. */
int catalog_begin(struct catalog *c, struct err *err);
int catalog_commit(struct catalog *c, struct err *err);
/* Ends a transaction whose commit failed. */
void catalog_rollback(struct catalog *c);

/* Adds a segment, or replaces its earlier row. */
int catalog_put(struct catalog *c, const struct segment_facts *f, struct err *err);
int catalog_remove(struct catalog *c, const struct segment_name *n, struct err *err);
/* Removes a summary, which is added like a segment. n has the first sequence of the summary. */
int catalog_remove_summary(struct catalog *c, const struct segment_name *n, struct err *err);
/*
 * Finds the summary whose range of sequences contains n. Returns 1 with its first sequence and
 * generation, 0 where there is none, or -errno.
 */
int catalog_find_summary(struct catalog *c, const struct segment_name *n, uint64_t *first,
			 uint64_t *generation, struct err *err);
/* Count and remove the segments of a stream from first's sequence to last. */
int catalog_count_range(struct catalog *c, const struct segment_name *first, uint64_t last,
			uint64_t *nr, struct err *err);
int catalog_remove_range(struct catalog *c, const struct segment_name *first, uint64_t last,
			 struct err *err);
/* Finds the hash under which a segment is known. Returns 0, -ENOENT or -EIO. */
int catalog_hash(struct catalog *c, const struct segment_name *n, struct segment_hash *out,
		 struct err *err);

#define CATALOG_DAY_NS 86400000000000ull

/* The files that the store holds for one host. */
struct catalog_host {
	/* of segments and summaries; inodes include those of their folders */
	uint64_t nr_inodes, bytes;
	uint64_t day;	      /* CLOCK_REALTIME / CATALOG_DAY_NS of the last receipt */
	uint64_t nr_segments; /* segments received on that day */
};

/* Fills *out, with zeros for an unknown host. Returns 0 or -EIO. It reads one row. */
int catalog_host(struct catalog *c, const char *host, struct catalog_host *out, struct err *err);

/* mtime_ns CATALOG_UNREAD: the file could not be read, and nothing is known of its content. */
#define CATALOG_UNREAD 0
int catalog_put_damaged(struct catalog *c, const char *path, uint64_t mtime_ns, uint64_t file_bytes,
			const char *why, struct err *err);
/*
 * Returns whether this very file, recognized by time and length, is known to be damaged. A file
 * that could not be read is not: whether it can be read now does not show in its time.
 */
bool catalog_is_damaged(struct catalog *c, const char *path, uint64_t mtime_ns,
			uint64_t file_bytes);
int catalog_forget_damaged(struct catalog *c, const char *path, struct err *err);

/*
 * Each of these visits rows in the stated order. It stops early where the callback returns nonzero,
 * and returns that value. Returns 0, -EIO or -ENOMEM. The callback must not call the catalog.
 */
/* Visits by host, boot id, epoch and sequence. devices and ledger of the facts are empty. */
int catalog_each_segment(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err);
/* Visits the segments after n in the same order; with NULL it visits all. */
int catalog_each_segment_after(struct catalog *c, const struct segment_name *n,
			       int (*visit)(void *ctx, const struct segment_facts *f), void *ctx,
			       struct err *err);
/*
 * The interval that a segment watched and its counts: the few facts that a walk over a long period
 * needs.
 */
struct catalog_span {
	uint64_t sequence;
	uint64_t begin_real_ns, end_real_ns, received_real_ns;
	uint64_t nr_requests;
};
/*
 * Visits the segments of the stream of n, from the sequence of n on. Reading such a row costs a
 * fraction of reading all facts of a segment.
 */
int catalog_each_span(struct catalog *c, const struct segment_name *n,
		      int (*visit)(void *ctx, const struct catalog_span *span), void *ctx,
		      struct err *err);
/* Visits the summaries in the same way. */
int catalog_each_summary(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err);
/* Visits the summaries of the stream of n. */
int catalog_each_summary_of(struct catalog *c, const struct segment_name *n,
			    int (*visit)(void *ctx, const struct segment_facts *f), void *ctx,
			    struct err *err);
/* Visits segments and summaries, by host, boot id and epoch. */
int catalog_each_kept(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
		      void *ctx, struct err *err);
/*
 * Visits the devices of all segments and summaries. The sequence given for a summary is not a real
 * one.
 */
int catalog_each_device(struct catalog *c,
			int (*visit)(void *ctx, const struct segment_name *n,
				     const struct device_facts *d),
			void *ctx, struct err *err);
int catalog_each_loss(struct catalog *c,
		      int (*visit)(void *ctx, const struct segment_name *n, const struct loss *l),
		      void *ctx, struct err *err);
int catalog_each_damaged(struct catalog *c,
			 int (*visit)(void *ctx, const char *path, bool is_unread, const char *why),
			 void *ctx, struct err *err);
/*
 * catalog_stream() writes the highest sequence of the stream that n names (host, boot id, epoch)
 * into n; it returns 1, 0 where there is no such stream, or -EIO. catalog_next_stream() does the
 * same for the first stream of n's host at or after n's boot id and epoch ("" and 0: the first of
 * all), whose names it fills in. Neither reads more than a few rows.
 */
int catalog_stream(struct catalog *c, struct segment_name *n, struct err *err);
int catalog_next_stream(struct catalog *c, struct segment_name *n, struct err *err);
/*
 * Turns n into the least name behind its stream, from which catalog_next_stream() goes on. The
 * epoch is what a guest says, up to SEGMENT_EPOCH_MAX, and must not overflow.
 */
void catalog_pass_stream(struct segment_name *n);

#endif
