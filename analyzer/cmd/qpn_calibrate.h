/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_calibrate: the verb calibrate of blkcast qpn, which makes a storage model from a measurement
 * table.
 */
#ifndef ANALYZER_QPN_CALIBRATE_H
#define ANALYZER_QPN_CALIBRATE_H

#include "analyzer/cmd/cli.h"

/* Returns an exit code. */
int qpn_calibrate(struct cli *cli);

#endif
