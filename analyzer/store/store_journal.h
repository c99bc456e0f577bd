/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_journal: makes segments of many senders durable with one sync.
 *
 * DIR/journal-<number>.log is a sequence of records, each of which has the head below and one whole
 * segment. The appending thread has them written and synced together; afterwards the segments may
 * be put in place without a sync there. A journal that has grown is retired: the whole file system
 * is synced (syncfs, which reports errors since Linux 5.8), and the journal is removed. One that
 * cannot be retired in this way is kept as journal-<number>.redo, and its files are written again
 * from it.
 *
 * After a crash the content of journals is put in place where it is missing or damaged. A whole
 * file is left as it is. Of two records of a name the later one is valid, because a name is taken
 * into a journal only while no file has it. The owner holds a lock (flock) on its journal while it
 * lives, and nobody else touches the journal then.
 *
 *   offset  record, little-endian
 *   0       "bcj1"
 *   4       u32 length of the segment
 *   8       16 bytes segment_hash of it
 *   24      u64 XXH3 of bytes 0 to 23
 *   32      the segment
 */
#ifndef ANALYZER_STORE_JOURNAL_H
#define ANALYZER_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"
#include "formats/segment/segment.h"

#define JOURNAL_BATCH 256 /* most records of one append */

struct journal;
struct store;

struct journal_item {
	const void *data;
	size_t len;
	const struct segment_hash *hash;
};

/* Makes a new journal with a durable name. Returns 0 or -errno. */
int journal_new(struct journal **out, int dir_fd);
/*
 * Appends at most JOURNAL_BATCH items, which are durable on return. After an error nothing more may
 * be appended, because pages of a failed sync are never synced again.
 */
int journal_append(struct journal *j, const struct journal_item *items, size_t nr);
uint64_t journal_bytes(const struct journal *j);
/*
 * Makes the content durable in its place, and removes and frees the journal. On -errno it is kept
 * for journal_recover(). j may be NULL. For any thread.
 */
int journal_retire(struct journal *j, struct store *store);

/* Returns whether a name is that of a journal; *number is then its number. */
bool journal_name(const char *file, uint64_t *number, bool *redo);

struct journal_recovery {
	uint64_t nr_journals, nr_records;
	uint64_t nr_placed;  /* files that were written again */
	uint64_t nr_skipped; /* bytes of records that were never finished */
	uint64_t nr_failed;  /* journals that remain for the next time */
};
/*
 * Completes what a crash left unfinished; journals of living owners are skipped. Cost: all journals
 * are read; nothing where there are none.
 */
struct journal_recovery journal_recover(struct store *store);

#endif
