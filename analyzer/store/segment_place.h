/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_place: puts segments in their place in a store, so that a reader sees all of a segment or
 * nothing.
 *
 * A file is written under a temporary name and renamed. Nothing is synced here: durability is the
 * task of the journal (store_journal.h) or of segment_place_sync(). One thread at a time.
 */
#ifndef ANALYZER_SEGMENT_PLACE_H
#define ANALYZER_SEGMENT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/index/segment_name.h"

#define PLACER_NR_FOLDERS 256

struct placer {
	int dir_fd;
	uint64_t nr_temporary; /* makes temporary names unique */
	/* folders that are known to exist, by hash of the path */
	char folders[PLACER_NR_FOLDERS][SEGMENT_PATH_MAX];
};

void placer_init(struct placer *p, int dir_fd);

/*
 * Returns 0; -EEXIST where a file exists and replace is not set; on -ENOSPC, -EIO, ... nothing is
 * left behind.
 */
int placer_put(struct placer *p, const struct segment_name *n, const void *data, size_t len,
	       bool replace);

/* Makes an existing file durable, with all folders above it. Thread-safe. It takes five syncs. */
int segment_place_sync(int dir_fd, const struct segment_name *n);

/* Writes all of data. Returns 0 or -errno. */
int write_whole(int fd, const void *data, size_t len);
/* Syncs a file or folder by its path below dir_fd. */
int sync_path(int dir_fd, const char *path);
/* Syncs a folder only. Returns -ENOTDIR where it is something else. */
int sync_folder(int dir_fd, const char *path);

#endif
