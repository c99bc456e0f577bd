/* SPDX-License-Identifier: Apache-2.0 */
/* mimic_causal: the command blkcast mimic --replay --run. */
#ifndef ANALYZER_MIMIC_CAUSAL_H
#define ANALYZER_MIMIC_CAUSAL_H

#include "analyzer/cmd/cli.h"
#include "analyzer/replay/mimic.h"
#include "analyzer/cmd/selection_options.h"

/*
 * Sends the selected requests to o's target in their causal order, and prints response times.
 * overwrite: see target_guard_take(). Returns 0, or -errno with one line in err.
 */
int mimic_causal(const struct cli *cli, struct selection *sel, const struct mimic_options *o,
		 const char *overwrite, struct err *err);

#endif
