/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection_options: the options by which commands choose a part of a trace
 * (store/scan/selection.h).
 *
 *	struct selection sel = { 0 };
 *	const struct cli_option options[] = { SELECTION_OPTIONS(&sel), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options) || !selection_take(cli, &sel)) ...
 *	ret = selection_open(&sel, &cli->teller, &scan, &hooks, &err);
 *	...
 *	scan_close(scan);
 *	selection_release(&sel);
 */
#ifndef ANALYZER_CMD_CLI_SELECTION_OPTIONS_H
#define ANALYZER_CMD_CLI_SELECTION_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/store/scan/selection_told.h"

#define SELECTION_OPTIONS(sel)                                                                    \
	CLI_STRING("store", 's', "DIR", &(sel)->dir, "a store to read instead of segment files"), \
		CLI_LIST("host", 0, "HOST,...", &(sel)->hosts, "only of these hosts"),            \
		CLI_LIST("device", 'd', "DEV,...", &(sel)->devices,                               \
			 "only these devices: sda or 8:0"),                                       \
		CLI_TIME("begin", 0, "TIME", &(sel)->begin_real_ns,                               \
			 "only what completed at or after it: 2026-01-31T14:05"),                 \
		CLI_TIME("end", 0, "TIME", &(sel)->end_real_ns, "only what completed before it"), \
		CLI_LIST("cgroup", 0, "CGROUP,...", &(sel)->cgroups,                              \
			 "only of these cgroups and below: path or id"),                          \
		CLI_LIST("process", 0, "PROCESS,...", &(sel)->processes,                          \
			 "only of these: process id or command name"),                            \
		CLI_LIST("operation", 0, "OP,...", &(sel)->operations,                            \
			 "only read, write, discard, flush, other"),                              \
		CLI_FLAG("leave-out-own", 0, &(sel)->leave_out_own,                               \
			 "leave out the agent's own requests")

/*
 * Gives the selection the operands as its files. Returns false, with cli->status set, where both a
 * store and files were given, or none of them.
 */
bool selection_take(struct cli *cli, struct selection *sel);
/*
 * Ends a command whose selection has no request (selection_nothing()): returns the exit status for
 * wrong use, or CLI_DONE where the source is empty.
 */
int selection_end(struct cli *cli, const struct selection *sel);

#endif
