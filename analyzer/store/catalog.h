/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalog: an index of the segments of a store, in SQLite. A cache: every row comes from a file,
 * and a catalog that is missing, damaged or of another version is made anew from the files.
 *
 *   PRAGMA application_id = 0x626c6b63 ("blkc"), user_version = CATALOG_VERSION
 *
 *   segment(host, boot_id, epoch, sequence,           -- the primary key, as in the file's name
 *           hash BLOB(16),                            -- XXH3-128 of the file
 *           file_bytes, requests, captured, source, layer,
 *           begin_mono, begin_boot, begin_real, end_mono, end_boot, end_real,  -- ns
 *           first_real, last_real,                    -- ns; first arrival, last completion
 *           last, generation, segments, segment_bytes, dropped, dropped_begin, dropped_end,
 *           received,                                 -- ns; when this machine took it: of a file that the
 *                                                     -- catalog did not know, its last change
 *           untimed)                                  -- reads and writes without a response time
 *     Of a segment last is its sequence, segments 1, the rest 0. A summary (store_summary.h) stands in
 *     the three tables with the complement of the first sequence it has, below 0, as its own.
 *   device(host, boot_id, epoch, sequence, device, name, size_bytes,
 *          requests_0 .. requests_4, bytes_0 .. bytes_4)   -- by enum operation
 *   loss(host, boot_id, epoch, sequence, cause, count, count_known, device, begin_real, end_real)
 *   host(host PRIMARY KEY, inodes, bytes, day, segments)   -- what the store holds of each host: files of
 *                                                     -- segments and summaries and their folders; the
 *                                                     -- last day (UTC) of a receipt, and how many came then
 *     Triggers keep the table right at every change of table segment.
 *   damaged(path PRIMARY KEY, mtime_ns, file_bytes, why)   -- files that are no good segments
 *
 * Write-ahead journal, synchronous NORMAL: a power cut may lose the last rows, never the order of
 * them; the next sync reads them from the files again. One thread at a time.
 */
#ifndef ANALYZER_CATALOG_H
#define ANALYZER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/segment_facts.h"
#include "base/err.h"

#define CATALOG_VERSION 4

struct catalog;

/* path NULL: in memory. -EBADMSG where it is damaged, foreign or of another version: the caller
 * deletes it and tries again; -EACCES, -EROFS, -EIO, -ENOMEM. */
int catalog_open(struct catalog **out, const char *path, struct err *err);
void catalog_close(struct catalog *c);

/* Many changes at the cost of one. */
int catalog_begin(struct catalog *c, struct err *err);
int catalog_commit(struct catalog *c, struct err *err);
/* Ends a transaction whose commit failed. */
void catalog_rollback(struct catalog *c);

/* Adds a segment, or replaces what was known of it. */
int catalog_put(struct catalog *c, const struct segment_facts *f, struct err *err);
int catalog_remove(struct catalog *c, const struct segment_name *n, struct err *err);
/* A summary is put as a segment is; n: with the first sequence that it has. */
int catalog_remove_summary(struct catalog *c, const struct segment_name *n, struct err *err);
/* The summary in whose range of sequences n lies: 1 with its first and generation, 0 none, -errno. */
int catalog_find_summary(struct catalog *c, const struct segment_name *n, uint64_t *first,
			 uint64_t *generation, struct err *err);
/* Segments of a stream from first's sequence to last: how many, and removes them. */
int catalog_count_range(struct catalog *c, const struct segment_name *first, uint64_t last,
			uint64_t *nr, struct err *err);
int catalog_remove_range(struct catalog *c, const struct segment_name *first, uint64_t last,
			 struct err *err);
/* The hash under which a segment is known; 0, -ENOENT, -EIO. */
int catalog_hash(struct catalog *c, const struct segment_name *n, struct segment_hash *out,
		 struct err *err);

#define CATALOG_DAY_NS 86400000000000ull

/* What the store holds of one host. */
struct catalog_host {
	uint64_t nr_inodes, bytes; /* of segments and summaries; inodes with their folders */
	uint64_t day;		   /* CLOCK_REALTIME / CATALOG_DAY_NS of the last receipt */
	uint64_t nr_segments;	   /* that were received on that day */
};

/* Fills *out, all 0 for a host of which nothing is there. 0, -EIO. It reads one row. */
int catalog_host(struct catalog *c, const char *host, struct catalog_host *out, struct err *err);

int catalog_put_damaged(struct catalog *c, const char *path, uint64_t mtime_ns, uint64_t file_bytes,
			const char *why, struct err *err);
/* Whether this very file (by time and length) is known to be damaged. */
bool catalog_is_damaged(struct catalog *c, const char *path, uint64_t mtime_ns,
			uint64_t file_bytes);
int catalog_forget_damaged(struct catalog *c, const char *path, struct err *err);

/*
 * Each visits rows in the order said and stops early where the callback returns nonzero, which is
 * then returned. 0, -EIO, -ENOMEM. The callback must not call into the catalog.
 */
/* By host, boot id, epoch, sequence. devices and ledger of the facts are empty. */
int catalog_each_segment(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err);
/* Those after n in that order; NULL: all. */
int catalog_each_segment_after(struct catalog *c, const struct segment_name *n,
			       int (*visit)(void *ctx, const struct segment_facts *f), void *ctx,
			       struct err *err);
/* Likewise the summaries. */
int catalog_each_summary(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err);
/* Both, by host, boot id and epoch. */
int catalog_each_kept(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
		      void *ctx, struct err *err);
/* Of all segments and summaries; the sequence of a summary is no sequence. */
int catalog_each_device(struct catalog *c,
			int (*visit)(void *ctx, const struct segment_name *n,
				     const struct device_facts *d),
			void *ctx, struct err *err);
int catalog_each_loss(struct catalog *c,
		      int (*visit)(void *ctx, const struct segment_name *n, const struct loss *l),
		      void *ctx, struct err *err);
int catalog_each_damaged(struct catalog *c,
			 int (*visit)(void *ctx, const char *path, const char *why), void *ctx,
			 struct err *err);
/*
 * The highest sequence of the stream that n's host, boot id and epoch name, into its sequence: 1 with it,
 * 0 where there is no such stream, -EIO. And of the first stream of n's host at or behind n's boot id and
 * epoch ("" and 0: the first of all), whose names it fills in. Neither reads more than some rows.
 */
int catalog_stream(struct catalog *c, struct segment_name *n, struct err *err);
int catalog_next_stream(struct catalog *c, struct segment_name *n, struct err *err);
/* By host and boot id; the highest sequence of each epoch of host (NULL: of all), and how many
 * segments were taken, summarized or not. */
int catalog_each_stream(struct catalog *c, const char *host,
			int (*visit)(void *ctx, const struct segment_name *highest, uint64_t count),
			void *ctx, struct err *err);

#endif
