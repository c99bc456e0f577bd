/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: a folder of trace segments and an index of them.
 *
 *   DIR/segments/...    the segments (segment_name.h)
 *                       and what retention kept of them (store_summary.h)
 *   DIR/catalog.sqlite  an index of their content (catalog.h), which may be deleted at any time
 *   DIR/journal-*       what serve received and has not synced in place yet (store_journal.h)
 *
 * Opening for writing (create) first puts the content of journals in place. Every opening brings
 * the catalog in step with the files, so that what agents wrote with `--sink file:DIR` is seen.
 * Where the folder cannot be written, the catalog is kept in memory and nothing is changed on the
 * disk.
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

/* After this many interruptions in a row of one file, an interruption counts as an error. */
#define STORE_MAX_INTERRUPTIONS 1000

struct stat;
struct store;
struct journal_recovery;

/* What the last sync found. */
struct store_sync {
	uint64_t nr_segments; /* valid segments in the store */
	uint64_t nr_added, nr_removed;
	uint64_t nr_superseded; /* segments that summaries name, left by a crash */
	uint64_t nr_damaged;	/* files that are not valid segments; the catalog lists them */
};

/*
 * Opens the store in dir; with create, makes what is missing. Returns 0, -ENOENT where there is no
 * store, -ENOTDIR, -EACCES, -ENOMEM or -EIO. Cost: one walk over the folders, and one reading of
 * every new file.
 */
int store_open(struct store **out, const char *dir, bool create, struct err *err);
void store_close(struct store *s);

const char *store_dir(const struct store *s);
int store_dir_fd(const struct store *s);
struct catalog *store_catalog(struct store *s);
const struct store_sync *store_sync_result(const struct store *s);
/* Returns what journals held when the store was opened for writing. */
const struct journal_recovery *store_recovery(const struct store *s);
/* Brings the catalog in step with the files again. */
int store_sync(struct store *s, struct err *err);

/*
 * Reads a whole file below the store, of at most SEGMENT_MAX_BYTES or limit, into b, which is
 * cleared first. Returns 0, -ENOENT, -EFBIG, -EIO or -ENOMEM.
 */
int store_read_up_to(const struct store *s, const char *path, size_t limit, struct buf *b,
		     struct err *err);
int store_read(const struct store *s, const char *path, struct buf *b, struct err *err);

/* Returns the time of a file's last change. */
uint64_t store_mtime_ns(const struct stat *st);

#endif
