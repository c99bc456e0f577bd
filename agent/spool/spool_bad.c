/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/spool/spool_bad.h"

static bool bad_is_older(const struct spool_bad_file *a, const struct spool_bad_file *b)
{
	return a->epoch != b->epoch ? a->epoch < b->epoch : a->sequence < b->sequence;
}

static void bad_insert(struct spool_bad *b, const struct spool_bad_file *file)
{
	size_t at = b->nr++;

	for (; at && bad_is_older(file, &b->files[at - 1]); at--)
		b->files[at] = b->files[at - 1];
	b->files[at] = *file;
	b->bytes += file->bytes;
}

static void bad_remove_oldest(struct spool_bad *b, int dir_fd, struct log *log)
{
	const struct spool_bad_file old = b->files[0];
	char name[48];

	snprintf(name, sizeof(name), "%020" PRIu64 "-%010" PRIu64 ".bad", old.epoch, old.sequence);
	if (unlinkat(dir_fd, name, 0) && errno != ENOENT)
		log_say(log, LEVEL_ERROR, "bad_segment_stays", "file=%s why=\"%s\"", name,
			strerror(errno));
	b->bytes -= old.bytes;
	b->nr--;
	memmove(b->files, b->files + 1, b->nr * sizeof(b->files[0]));
	b->nr_removed++;
	b->removed_bytes += old.bytes;
	log_say(log, LEVEL_WARN, "bad_segment_removed",
		"file=%s bytes=%" PRIu64 " removed=%" PRIu64 " removed_bytes=%" PRIu64, name,
		old.bytes, b->nr_removed, b->removed_bytes);
}

void spool_bad_add(struct spool_bad *b, int dir_fd, const struct spool_bad_file *file,
		   struct log *log)
{
	bad_insert(b, file);
	while (b->nr > SPOOL_BAD_FILES || (b->nr > 1 && b->bytes > SPOOL_BAD_BYTES))
		bad_remove_oldest(b, dir_fd, log);
}
