/* SPDX-License-Identifier: Apache-2.0 */
/*
 * study_device: blkcast study migrate --storage: replays stored requests on a simulated device
 * (device_study.h).
 */
#ifndef ANALYZER_CMD_STUDY_DEVICE_H
#define ANALYZER_CMD_STUDY_DEVICE_H

#include "analyzer/cmd/cli.h"
#include "analyzer/whatif/study.h"

struct study_device {
	const struct cli *cli;
	const struct study *study;
	const char *const *paths; /* by load: the path that it was read from */
	/* by load: means that were measured on the target; NaN: none */
	const double (*measured)[2];
	const char *storage, *from, *report; /* paths; from and report may be NULL */
	bool cannot_tell;		     /* set by study_device() */
};

/*
 * Predicts and shows. Returns 0; -ENODATA where a load is a profile without requests; or the -errno
 * of the files.
 */
int study_device(struct study_device *d, struct err *err);

#endif
