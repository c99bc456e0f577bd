/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a journal that a crash left in a store, which the store recovers. The first byte
 * says which heads are put right (bit 0), whether the segments in them are too (bit 1), and whether
 * the journal is one whose sync failed (bit 2). Whatever it holds, the journal is gone afterwards,
 * and the same journal a second time writes no file again, but for one whose files must be
 * rewritten. A journal without a whole record leaves nothing and is recovered once: most inputs are
 * such.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/store/store.h"
#include "analyzer/store/store_journal.h"
#include "tests/fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define JOURNAL_FUZZ_HEAD    32
#define JOURNAL_FUZZ_SEGMENT 24 /* magic, length and checksum of a segment */
#define JOURNAL_FUZZ_RECORDS 8	/* more of them take no other way */

static void journal_put_le(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t journal_get_le32(const uint8_t *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
	       (uint32_t)from[3] << 24;
}

/* Magic, length, hash and checksum of each record, as far as the records reach. */
static void journal_put_right(uint8_t *journal, size_t size, bool segments_too)
{
	size_t at = 0;

	for (int nr = 0; nr < JOURNAL_FUZZ_RECORDS && size - at > JOURNAL_FUZZ_HEAD; nr++) {
		uint8_t *head = journal + at, *segment = head + JOURNAL_FUZZ_HEAD;
		size_t left = size - at - JOURNAL_FUZZ_HEAD, len = journal_get_le32(head + 4);
		struct segment_hash hash;

		if (len > left)
			len = left;
		if (segments_too && len >= JOURNAL_FUZZ_SEGMENT) {
			journal_put_le(segment + 12, len, 4);
			journal_put_le(segment + 16,
				       XXH3_64bits(segment + JOURNAL_FUZZ_SEGMENT,
						   len - JOURNAL_FUZZ_SEGMENT),
				       8);
		}
		hash = segment_hash_of(segment, len);
		memcpy(head, "bcj1", 4);
		journal_put_le(head + 4, len, 4);
		memcpy(head + 8, hash.bytes, sizeof(hash.bytes));
		journal_put_le(head + 24, XXH3_64bits(head, 24), 8);
		at += JOURNAL_FUZZ_HEAD + len;
	}
}

/* One store serves all inputs: what a recovery put there is removed after each. */
static struct store *journal_fuzz_store(char folder[FUZZ_PATH_MAX + 16])
{
	static struct store *store;

	snprintf(folder, FUZZ_PATH_MAX + 16, "%s/store", fuzz_folder());
	if (!store && store_open(&store, folder, true, NULL))
		abort();
	return store;
}

static struct journal_recovery journal_fuzz_recover(struct store *store, const char *folder,
						    const char *name, const uint8_t *journal,
						    size_t size)
{
	char path[2 * FUZZ_PATH_MAX];
	struct journal_recovery r;

	fuzz_put(folder, name, journal, size);
	r = journal_recover(store);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (r.nr_failed || r.nr_journals != 1 || access(path, F_OK) == 0)
		abort();
	if (r.nr_placed > r.nr_records || r.nr_skipped > size)
		abort();
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char folder[FUZZ_PATH_MAX + 16], segments[FUZZ_PATH_MAX + 32];
	struct store *store = journal_fuzz_store(folder);
	struct journal_recovery first, second;
	uint8_t *journal;
	const char *name;

	if (!size)
		return 0;
	journal = malloc(size);
	if (!journal)
		abort();
	memcpy(journal, data + 1, size - 1);
	name = data[0] & 4 ? "journal-0000000001.redo" : "journal-0000000001.log";
	if (data[0] & 1)
		journal_put_right(journal, size - 1, data[0] & 2);
	first = journal_fuzz_recover(store, folder, name, journal, size - 1);
	if (!first.nr_records) {
		if (first.nr_placed)
			abort();
		free(journal);
		return 0;
	}
	second = journal_fuzz_recover(store, folder, name, journal, size - 1);
	if (second.nr_records != first.nr_records || (!(data[0] & 4) && second.nr_placed))
		abort();
	if (first.nr_placed) {
		snprintf(segments, sizeof(segments), "%s/segments", folder);
		fuzz_remove(segments);
	}
	free(journal);
	return 0;
}
