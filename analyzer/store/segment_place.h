/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment_place: puts segments to their places in a store, whole or not at all for whoever reads it.
 *
 * A file is written under a temporary name and renamed. Nothing is synced: that it lasts is the
 * journal's part (store_journal.h), or of segment_place_sync(). One thread at a time.
 */
#ifndef ANALYZER_SEGMENT_PLACE_H
#define ANALYZER_SEGMENT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/store/segment_name.h"

#define PLACER_NR_FOLDERS 256

struct placer {
	int dir_fd;
	uint64_t nr_temporary;				   /* makes their names unique */
	char folders[PLACER_NR_FOLDERS][SEGMENT_PATH_MAX]; /* known to be there, by hash of path */
};

void placer_init(struct placer *p, int dir_fd);

/* -EEXIST where a file is there and replace is not asked for; -ENOSPC, -EIO, ... leave nothing. */
int placer_put(struct placer *p, const struct segment_name *n, const void *data, size_t len,
	       bool replace);

/* Makes a file that is there durable, with all folders above. Thread-safe. Five syncs. */
int segment_place_sync(int dir_fd, const struct segment_name *n);

/* Writes all of it; -errno. */
int write_whole(int fd, const void *data, size_t len);
/* fsync of a file or folder by its path below dir_fd. */
int sync_path(int dir_fd, const char *path);
/* Of a folder alone: -ENOTDIR where it is none. */
int sync_folder(int dir_fd, const char *path);

#endif
