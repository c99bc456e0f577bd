/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store: durable trace segments and an index of them, in one of two homes.
 *
 * The first home is a folder, the default, which needs nothing else:
 *
 *   DIR/segments/...    the truth: see segment_name.h
 *                       and the summaries that retention left: see store_summary.h
 *   DIR/catalog.sqlite  a cache of their facts: see catalog.h; may be deleted at any time
 *   DIR/page.sqlite     a cache of the live page (serve/period/page_kept.h); may be deleted too
 *   DIR/saved.sqlite    answers that readers of the page saved, see serve/question/page_saved.h
 *   DIR/journal-*       segments that serve has not yet synced in place: see store_journal.h
 *
 * Opening for writing puts the segments of journals in their place. Opening also brings the catalog
 * in step with the files, so that segments which agents wrote with `--sink file:DIR` are seen.
 * Where the folder cannot be written, the catalog is kept in memory and nothing is changed on disk.
 *
 * The second home is a cluster, named by a URL (cluster_url.h): the bytes are in an object store,
 * the index in PostgreSQL. Many processes on many machines may take segments at once. A reader has
 * a copy of the index in memory, as it was when the store was opened.
 */
#ifndef ANALYZER_STORE_H
#define ANALYZER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/catalog.h"
#include "analyzer/store/index/segment_name.h"
#include "base/memory/buf.h"
#include "base/text/err.h"

/* After this many interruptions in a row of one file, an interruption counts as an error. */
#define STORE_MAX_INTERRUPTIONS 1000

struct stat;
struct store;
struct journal_recovery;

/* The files that the last sync found. */
struct store_sync {
	uint64_t nr_segments; /* valid segments in the store */
	uint64_t nr_added, nr_removed;
	uint64_t nr_superseded; /* segments that summaries name, left by a crash */
	uint64_t nr_damaged;	/* files that are not valid segments; the catalog lists them */
};

enum store_use {
	STORE_TO_READ,
	STORE_TO_KEEP, /* retention: reads and writes; makes a missing store */
	/* intake: writes, and need not know the segments that exist; makes a missing store */
	STORE_TO_FILL,
};

/* Returns whether the name of a store is the path of a folder, and not the URL of a cluster. */
bool store_is_folder(const char *name);

/*
 * Opens the store of that name. Returns 0, -ENOENT if there is none, -ENOTDIR, -EACCES, -EINVAL
 * (the URL), -ENOMEM or -EIO. Cost: for a folder one directory walk, and reading every new file
 * once; for a cluster reading the index, except for STORE_TO_FILL.
 */
int store_open_for(struct store **out, const char *dir, enum store_use use, struct err *err);
/* Opens the store for retention if create is set, otherwise for reading. */
int store_open(struct store **out, const char *dir, bool create, struct err *err);
void store_close(struct store *s);

const char *store_dir(const struct store *s);
int store_dir_fd(const struct store *s); /* -1 of a cluster */
struct catalog *store_catalog(struct store *s);
const struct store_sync *store_sync_result(const struct store *s);
/* Returns what journals held when the store was opened for writing. */
const struct journal_recovery *store_recovery(const struct store *s);
/* Brings the catalog in step with the files again. */
int store_sync(struct store *s, struct err *err);

/*
 * Updates the index with the changes of other processes since the store was opened. A folder's
 * catalog is shared, so that this does nothing for a folder.
 */
int store_refresh(struct store *s, struct err *err);

/*
 * Reads a whole file below the store, of at most SEGMENT_MAX_BYTES or limit, into b, which is
 * cleared first. Returns 0, -ENOENT, -EACCES, -ELOOP where it is a symbolic link or anything else
 * that is no regular file, -EFBIG, -EIO or -ENOMEM.
 */
int store_read_up_to(const struct store *s, const char *path, size_t limit, struct buf *b,
		     struct err *err);
int store_read(const struct store *s, const char *path, struct buf *b, struct err *err);

/*
 * Provides a local file with the bytes of the segment at path, which data already holds. out
 * receives the file's path, valid until store_file_done(). In a folder the file is the segment
 * itself.
 */
#define STORE_FILE_MAX 4096
int store_file(const struct store *s, const char *path, const struct buf *data,
	       char out[STORE_FILE_MAX], struct err *err);
void store_file_done(const struct store *s, const char *file);

/*
 * Gives the bytes and inodes that the store can hold in all; 0: the store has no limit of its own.
 */
void store_space(const struct store *s, uint64_t *nr_inodes, uint64_t *bytes);

enum store_lock {
	STORE_LOCK_SERVE,     /* one serve to a folder; a cluster takes any number */
	STORE_LOCK_RETENTION, /* one pass of retention at a time, whichever process makes it */
};
/*
 * Takes a lock. Returns -EBUSY if another process has it, or -EALREADY if that is another serve;
 * the line in err names that process.
 */
int store_lock(struct store *s, enum store_lock which, int *token, struct err *err);
void store_unlock(struct store *s, enum store_lock which, int token);

/* Finds the hash under which a segment is stored. Returns 0, -ENOENT or -EIO. */
int store_hash(struct store *s, const struct segment_name *n, struct segment_hash *out);
/* Removes the segments of an import that failed, as far as this is possible. */
void store_take_out(struct store *s, const struct segment_name *names, size_t nr);

/* Returns the time of a file's last change. */
uint64_t store_mtime_ns(const struct stat *st);

#endif
