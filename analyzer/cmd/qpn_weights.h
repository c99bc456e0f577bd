/* SPDX-License-Identifier: Apache-2.0 */
/* qpn_weights: what blkcast qpn weights does once its options are read. */
#ifndef ANALYZER_QPN_WEIGHTS_H
#define ANALYZER_QPN_WEIGHTS_H

#include "analyzer/cmd/cli.h"
#include "analyzer/models/storage/calibrate_weights.h"

/* Calibrates and prints. Returns an exit code. */
int qpn_weights(struct cli *cli, const struct weights_task *t);

#endif
