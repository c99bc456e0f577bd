/* SPDX-License-Identifier: Apache-2.0 */
/* arch_calibrate: the verbs of blkcast arch that compare a model with measurements. */
#ifndef ANALYZER_ARCH_CALIBRATE_H
#define ANALYZER_ARCH_CALIBRATE_H

#include "analyzer/cmd/cli.h"

/* Each parses the command line and returns the exit code. */
int arch_calibrate(struct cli *cli);
int arch_validate(struct cli *cli);

#endif
