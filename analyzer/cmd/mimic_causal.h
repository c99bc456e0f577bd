/* SPDX-License-Identifier: Apache-2.0 */
/* mimic_causal: blkcast mimic --replay --run. */
#ifndef ANALYZER_MIMIC_CAUSAL_H
#define ANALYZER_MIMIC_CAUSAL_H

#include "analyzer/cmd/cli.h"
#include "analyzer/replay/mimic.h"
#include "analyzer/cmd/selection_options.h"

/* 
 * Sends what is selected to o's target by cause, and prints response times. overwrite: see
 * target_guard_take(). 0, or -errno with one line.
 */
int mimic_causal(const struct cli *cli, struct selection *sel, const struct mimic_options *o,
		 const char *overwrite, struct err *err);

#endif
