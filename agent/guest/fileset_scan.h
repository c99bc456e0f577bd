/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileset_scan: how many files a workload works on, and how large they are together.
 *
 * Given folders are counted with everything below them. Without any, the regular files are taken
 * that processes doing I/O on a device hold open, where the file lies on that device. A thread of
 * its own looks at most once a second, and no longer than FILESET_MAX_FILES entries each time: the
 * cost is bounded whatever the folders hold.
 */
#ifndef AGENT_FILESET_SCAN_H
#define AGENT_FILESET_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define FILESET_MAX_FILES 100000
#define FILESET_MAX_PIDS  256

struct fileset_sample {
	uint64_t nr_files, total_bytes;
};

/* Regular files below dir on its file system, no link followed. -errno; *is_cut where there are
 * more than max entries. */
int fileset_count_dir(const char *dir, size_t max, struct fileset_sample *out, bool *is_cut);
/* Regular files that the process holds open on the device, each inode once per call. */
int fileset_count_pid(uint32_t pid, uint32_t device, struct fileset_sample *out);

struct fileset_scan;

struct fileset_config {
	const char *const *dirs; /* borrowed for the scan's life */
	size_t nr_dirs;		 /* 0: automatic */
	/* Processes to look at in automatic mode; called by the scan's thread. NULL: none. */
	size_t (*pids)(void *ctx, uint32_t *out, size_t max);
	void *ctx;
};

/* -errno with one line in err: a folder that cannot be read. */
int fileset_scan_new(struct fileset_scan **out, const struct fileset_config *config,
		     struct err *err);
/* Starts the thread; without it there are no samples. -errno with one line in err. */
int fileset_scan_start(struct fileset_scan *s, struct err *err);
/* Ends the thread; samples can still be asked for. */
void fileset_scan_stop(struct fileset_scan *s);
/* Both: NULL is legal. */
void fileset_scan_free(struct fileset_scan *s);
/*
 * The latest sample for a device, which is looked at from the first call on. False: none yet, or
 * nothing was found.
 */
bool fileset_scan_latest(struct fileset_scan *s, uint32_t device, struct fileset_sample *out);

#endif
