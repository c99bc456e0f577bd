/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_together: `blkcast report --together`, all hosts and devices at once
 * (report/fleet/fleet.h).
 */
#ifndef ANALYZER_CMD_PROFILES_REPORT_TOGETHER_H
#define ANALYZER_CMD_PROFILES_REPORT_TOGETHER_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/store/scan/selection.h"

/*
 * Writes the page to output (NULL: no page) and the answer to standard output; or only a table as
 * CSV, where csv is set, by its name (NULL: devices). Returns the exit status of the command.
 */
int report_together(struct cli *cli, struct selection *sel, const char *output, const char *table,
		    bool csv);

#endif
