/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_reserve: blocks of a store's disk that the agent keeps for itself, so that it can still say
 * what it lost once the disk is full.
 *
 * STORE_RESERVE_FILES files of STORE_RESERVE_BYTES each are written when the sink is opened. To store
 * a small segment without any free block, one of them is overwritten in place and renamed. Files that
 * were used are made again as soon as there is room. A file system that never overwrites in place
 * (btrfs, ZFS) may refuse even that; the loss is then told by the next segment that can be stored.
 */
#ifndef AGENT_STORE_RESERVE_H
#define AGENT_STORE_RESERVE_H

#include <stddef.h>

#define STORE_RESERVE_FILES 16
#define STORE_RESERVE_BYTES 8192

struct store_reserve {
	char *prefix; /* the path of each file but its number; owned */
	size_t nr;    /* files there are, numbered from 0 */
};

/* Names the files by dir and host; makes none. 0 or -ENOMEM. */
int store_reserve_init(struct store_reserve *r, const char *dir, const char *host);
/* Removes the files. */
void store_reserve_release(struct store_reserve *r);
/* Makes the files that are missing, as far as there is room. No-op where all are there. */
void store_reserve_fill(struct store_reserve *r);
/* Stores data durably as name in the folder. 0, -EFBIG (too large for one file), -ENOSPC (none is
 * left) or -errno. */
int store_reserve_use(struct store_reserve *r, int dir_fd, const char *name, const void *data,
		      size_t len);

#endif
