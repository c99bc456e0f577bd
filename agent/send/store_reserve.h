/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_reserve: blocks of a store's disk that the agent keeps for itself, so that it can still
 * store what it lost when the disk is full.
 *
 * STORE_RESERVE_FILES files of STORE_RESERVE_BYTES each are written when a run begins; files that a
 * killed run left are used again. To store a small segment without any free block, one file is
 * overwritten in place and renamed. Used files are made again as soon as there is room. A file
 * system that never overwrites in place (btrfs, ZFS) may refuse even that; then the next segment
 * that can be stored reports the loss.
 */
#ifndef AGENT_STORE_RESERVE_H
#define AGENT_STORE_RESERVE_H

#include <stddef.h>

#define STORE_RESERVE_FILES 16
#define STORE_RESERVE_BYTES 8192

struct store_reserve {
	char *prefix; /* the path of each file without its number; owned */
	size_t nr;    /* files that are there, numbered from 0 */
};

/* Chooses the names of the files by dir and host, and makes none. 0 or -ENOMEM. */
int store_reserve_init(struct store_reserve *r, const char *dir, const char *host);
/* Removes the files. */
void store_reserve_release(struct store_reserve *r);
/* Makes the files that are missing, as far as there is room. */
void store_reserve_fill(struct store_reserve *r);
/*
 * Stores data durably under name in the folder. 0; -EFBIG: it does not fit into one file; -ENOSPC:
 * no file is left; or -errno.
 */
int store_reserve_use(struct store_reserve *r, int dir_fd, const char *name, const void *data,
		      size_t len);

#endif
