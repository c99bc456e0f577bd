/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headroom_storage: --storage of blkcast headroom: stored requests, multiplied, are simulated on a
 * device (headroom_device.h).
 *
 *	ret = headroom_storage_open(&storage, cli, &load_options, &err);
 *	... headroom_find_device(&found, &storage.device, &objective, &err) ...
 *	headroom_storage_release(&storage);
 */
#ifndef ANALYZER_CMD_HEADROOM_STORAGE_H
#define ANALYZER_CMD_HEADROOM_STORAGE_H

#include "analyzer/cmd/load_options.h"
#include "analyzer/cmd/study_device.h"
#include "analyzer/whatif/headroom_device.h"

struct headroom_storage {
	const char *path, *intervals; /* options; NULL: not given */
	double duration_s;	      /* of the recordings, only the beginning; 0: all */
	/* The members below are set by headroom_storage_open(). */
	struct headroom_device device;
	struct study_device target;
	struct study study;
	struct application_errors errors;
	struct profile_set sets[STUDY_LOADS_MAX];
	const char *paths[STUDY_LOADS_MAX]; /* by load: the path that it was read from */
	size_t nr_sets;
};

/* Reads the loads, their requests and the device. Release s whatever this returns. */
int headroom_storage_open(struct headroom_storage *s, const struct cli *cli,
			  const struct load_options *options, struct err *err);
void headroom_storage_release(struct headroom_storage *s);

#endif
