/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection_options: the options by which commands choose a part of a trace
 * (store/scan/selection.h).
 *
 *	struct selection sel = { 0 };
 *	const struct cli_option options[] = { SELECTION_OPTIONS(&sel), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options)) ...
 *	ret = selection_open(&sel, cli, &scan, &hooks, &err);
 *	...
 *	scan_close(scan);
 *	selection_release(&sel);
 */
#ifndef ANALYZER_CMD_CLI_SELECTION_OPTIONS_H
#define ANALYZER_CMD_CLI_SELECTION_OPTIONS_H

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/store/scan/selection.h"

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
 * Opens the scan of the store or, without --store, of the segment files that are cli's operands.
 * hooks may be NULL; where they take no summaries, a note says what retention left of the
 * selection. Returns 0, or -errno with one line in err.
 */
int selection_open(struct selection *sel, const struct cli *cli, struct scan **out,
		   const struct scan_hooks *hooks, struct err *err);
/* Prints a line about requests of the selection that retention has summarized or dropped. */
void selection_note_retained(const struct cli *cli, const struct scan_retained *r);
/*
 * After the scan was read: return how many requests the hosts' agents kept back on purpose, and
 * print a line about them. nr_in_profiles of them are in the profiles that were shown. The scan may
 * be NULL.
 */
uint64_t selection_kept_back(const struct scan *scan);
void selection_note_kept_back(const struct cli *cli, const struct scan *scan,
			      uint64_t nr_in_profiles);
/*
 * For a scan that found no request, after scan_close(): says which devices exist, and returns the
 * exit status for wrong use. Where nothing was selected the source is empty, which gives a note and
 * CLI_DONE.
 */
int selection_nothing(const struct selection *sel, const struct cli *cli);
/*
 * Does the same for one path, a store's folder or a segment file, for commands with several paths.
 * Returns -EINVAL with a line in err that names the path and its devices.
 */
int selection_nothing_of(const struct selection *sel, const struct cli *cli, const char *path,
			 struct err *err);
/*
 * Does the same for a command that fails anyway without requests. Returns true where something was
 * selected; err then has -EINVAL and a line that names the existing devices.
 */
bool selection_says_nothing(const struct selection *sel, const struct cli *cli, struct err *err);

/*
 * Reads a scan to its end without using the requests: after that the scan knows all streams and
 * traces, and has called all hooks. *nr receives the number of requests. Returns 0 or -errno with
 * one line in err.
 */
int selection_read_all(struct scan *s, uint64_t *nr, struct err *err);

#endif
