/* SPDX-License-Identifier: Apache-2.0 */
/*
 * qpn_analysis: the methods of `blkcast qpn solve` that give no steady state: bounds and transient
 * analysis.
 */
#ifndef ANALYZER_CMD_QPN_ANALYSIS_H
#define ANALYZER_CMD_QPN_ANALYSIS_H

#include "analyzer/cmd/cli.h"
#include "analyzer/models/solve/transient.h"

/* Each prints its result. Returns 0, or -errno with a line in err. */
int qpn_bounds(const struct cli *cli, const struct net *n, struct err *err);
int qpn_transient(const struct cli *cli, const struct net *n, const struct transient_options *o,
		  struct err *err);

#endif
