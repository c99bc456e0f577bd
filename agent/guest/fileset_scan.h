/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fileset_scan: counts how many files a workload works on, and how large they are together.
 *
 * Where folders are given, all files below them are counted. Otherwise the regular files are
 * counted that lie on a device and that processes doing I/O on this device hold open. A separate
 * thread scans at most once a second and at most FILESET_MAX_FILES entries each time, so the cost
 * is bounded whatever the folders contain.
 */
#ifndef AGENT_FILESET_SCAN_H
#define AGENT_FILESET_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/err.h"

#define FILESET_MAX_FILES 100000
#define FILESET_MAX_PIDS  256

struct fileset_sample {
	uint64_t nr_files, total_bytes;
};

/*
 * Counts the regular files below dir on its file system, following no link. Returns 0 or -errno;
 * *is_cut is set where there are more than max entries.
 */
int fileset_count_dir(const char *dir, size_t max, struct fileset_sample *out, bool *is_cut);
/*
 * Counts the regular files that the processes hold open on the device, each file once. A process
 * that has ended adds none. Returns 0 or -ENOMEM.
 */
int fileset_count_pids(const uint32_t *pids, size_t nr, uint32_t device,
		       struct fileset_sample *out);

struct fileset_scan;

struct fileset_config {
	const char *const *dirs; /* borrowed for the life of the scan */
	size_t nr_dirs;		 /* 0: the files of processes are counted */
	/*
	 * Returns the processes to examine where no folders are given. It is called by the scan's
	 * thread. NULL: none.
	 */
	size_t (*pids)(void *ctx, uint32_t *out, size_t max);
	void *ctx;
};

/* Returns 0, or -errno with one line in err where a folder cannot be read. */
int fileset_scan_new(struct fileset_scan **out, const struct fileset_config *config,
		     struct err *err);
/*
 * Starts the thread, without which there are no samples. Returns 0 or -errno with one line in err.
 */
int fileset_scan_start(struct fileset_scan *s, struct err *err);
/* Ends the thread. Samples can still be asked for. */
void fileset_scan_stop(struct fileset_scan *s);
/* Stops and frees the scan. Both functions accept NULL. */
void fileset_scan_free(struct fileset_scan *s);
/*
 * Returns the latest sample of a device. The device is scanned from the first call on. Returns
 * false where there is no sample yet or nothing was found.
 */
bool fileset_scan_latest(struct fileset_scan *s, uint32_t device, struct fileset_sample *out);

#endif
