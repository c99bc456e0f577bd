/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_journal: makes segments of many senders durable by one sync.
 *
 * DIR/journal-<number>.log is a row of records, each the head below and one whole segment. Who
 * appends has them written and synced at once; then the segments may be put to their places
 * without syncing there. A journal is retired when it has grown: all of the file system is
 * synced (syncfs, which reports errors since Linux 5.8), then it is removed. One that cannot be
 * retired so is kept as journal-<number>.redo: its files are written again from it.
 *
 * After a crash whatever is in journals is put to its place again where it is missing or damaged.
 * A file that is whole is left as it is; of two records of a name the later one counts, since a
 * name is taken into a journal only while no file has it. The owner holds a lock (flock) on its
 * journal while it lives; nobody else touches it then.
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

#include "analyzer/store/segment_name.h"
#include "formats/segment/segment.h"

#define JOURNAL_BATCH 256 /* records of one append */

struct journal;
struct store;

struct journal_item {
	const void *data;
	size_t len;
	const struct segment_hash *hash;
};

/* A new one, its name durable. -errno. */
int journal_new(struct journal **out, int dir_fd);
/* Appends at most JOURNAL_BATCH items, durable on return. After an error nothing more may be
 * appended: the pages of a failed sync are never synced again. */
int journal_append(struct journal *j, const struct journal_item *items, size_t nr);
uint64_t journal_bytes(const struct journal *j);
/* Makes lasting what it holds, removes and frees it; -errno: it is kept for journal_recover(). NULL
 * is legal. Any thread. */
int journal_retire(struct journal *j, struct store *store);

/* Whether a name is a journal's; then *number is its own. */
bool journal_name(const char *file, uint64_t *number, bool *redo);

struct journal_recovery {
	uint64_t nr_journals, nr_records;
	uint64_t nr_placed;  /* files written again */
	uint64_t nr_skipped; /* bytes of records that were never finished */
	uint64_t nr_failed;  /* journals that stay for the next time */
};
/* Does what a crash left undone; journals of living owners are passed over. Cost: reads all of
 * them; nothing where there are none. */
struct journal_recovery journal_recover(struct store *store);

#endif
