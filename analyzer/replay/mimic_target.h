/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mimic_target: finds out what the target of a mimicked load is: a block device, a folder or a
 * file.
 */
#ifndef ANALYZER_MIMIC_TARGET_H
#define ANALYZER_MIMIC_TARGET_H

#include "analyzer/replay/mimic.h"

/*
 * Fills target, target_bytes and directory of o: a block device and its size, a folder, or a file.
 * A path that does not exist counts as a file that fio will create. Returns 0, -EINVAL if fio's
 * options cannot hold the path or if the path is none of these, or -errno.
 */
int mimic_target(struct mimic_options *o, const char *path, struct err *err);

#endif
