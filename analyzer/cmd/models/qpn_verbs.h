/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_verbs: declares the verbs of blkcast qpn that have files of their own. Each function returns
 * an exit code.
 */
#ifndef ANALYZER_CMD_MODELS_QPN_VERBS_H
#define ANALYZER_CMD_MODELS_QPN_VERBS_H

#include "analyzer/cmd/cli/cli.h"

int qpn_calibrate(struct cli *cli);
int qpn_predict(struct cli *cli);

#endif
