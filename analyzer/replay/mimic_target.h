/* SPDX-License-Identifier: Apache-2.0 */
/* mimic_target: what a target of a mimicked load is. */
#ifndef ANALYZER_MIMIC_TARGET_H
#define ANALYZER_MIMIC_TARGET_H

#include "analyzer/replay/mimic.h"

/*
 * Fills target, target_bytes and directory of o: a block device and its size, a folder, or a file,
 * which may be made by fio. A path that does not exist is a file to be made. -EINVAL for a path that
 * fio's options cannot hold, or for what is none of these; -errno.
 */
int mimic_target(struct mimic_options *o, const char *path, struct err *err);

#endif
