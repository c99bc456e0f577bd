/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: a folder of trace segments and an index of them.
 *
 *   DIR/segments/...    the truth: see segment_name.h
 *                       and what retention left of them: see store_summary.h
 *   DIR/catalog.sqlite  a cache of what they hold: see catalog.h; may be deleted at any time
 *   DIR/journal-*       what serve took and has not yet synced in its place: see store_journal.h
 *
 * Opening to write (create) puts what is in journals to its place. Opening brings the catalog in step with the files, so that what agents wrote with
 * `--sink file:DIR` is seen. Where the folder cannot be written, the catalog is kept in memory
 * and nothing is changed on disk.
 */
#ifndef ANALYZER_STORE_H
#define ANALYZER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/catalog.h"
#include "analyzer/store/segment_name.h"
#include "base/buf.h"
#include "base/err.h"

/* In a row, of one file: then it is an error like another. */
#define STORE_MAX_INTERRUPTIONS 1000

struct stat;
struct store;
struct journal_recovery;

/* What the last sync found. */
struct store_sync {
	uint64_t nr_segments; /* good ones in the store */
	uint64_t nr_added, nr_removed;
	uint64_t nr_superseded; /* by summaries: left by a crash */
	uint64_t nr_damaged;	/* files that are no good segments: listed by the catalog */
};

/*
 * Opens the store in dir; with create, makes what is missing. -ENOENT where there is none,
 * -ENOTDIR, -EACCES, -ENOMEM, -EIO. Cost: one directory walk, and reading every new file once.
 */
int store_open(struct store **out, const char *dir, bool create, struct err *err);
void store_close(struct store *s);

const char *store_dir(const struct store *s);
int store_dir_fd(const struct store *s);
struct catalog *store_catalog(struct store *s);
const struct store_sync *store_sync_result(const struct store *s);
/* What journals held when it was opened to be written. */
const struct journal_recovery *store_recovery(const struct store *s);
/* Brings the catalog in step with the files again. */
int store_sync(struct store *s, struct err *err);

/* Reads a whole file of at most SEGMENT_MAX_BYTES, or limit, below the store into b (cleared first).
 * -ENOENT, -EFBIG, -EIO, -ENOMEM. */
int store_read_up_to(const struct store *s, const char *path, size_t limit, struct buf *b,
		     struct err *err);
int store_read(const struct store *s, const char *path, struct buf *b, struct err *err);

/* Of a file's last change. */
uint64_t store_mtime_ns(const struct stat *st);

#endif
