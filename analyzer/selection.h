/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection: the options by which commands choose a part of a trace, and the scan of it.
 *
 *	struct selection sel = { 0 };
 *	const struct cli_option options[] = { SELECTION_OPTIONS(&sel), ..., CLI_END };
 *
 *	if (!cli_parse(cli, options)) ...
 *	status = selection_open(&sel, cli, &scan, &hooks, &err);   operands are segment files
 *	...
 *	scan_close(scan);
 *	selection_release(&sel);
 */
#ifndef ANALYZER_SELECTION_H
#define ANALYZER_SELECTION_H

#include "analyzer/cli.h"
#include "analyzer/store/scan.h"
#include "analyzer/store/store.h"

struct selection {
	const char *dir; /* --store, or NULL: files */
	struct cli_list hosts, devices, cgroups, processes, operations;
	uint64_t begin_real_ns, end_real_ns;
	bool leave_out_own;

	struct store *store; /* owned while open */
	struct scan_filter filter;
};

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
 * Checks the selection and opens the scan of the store or, without --store, of the files that
 * cli's operands name. hooks may be NULL. 0 or -errno with one line in err.
 */
int selection_open(struct selection *sel, const struct cli *cli, struct scan **out,
		   const struct scan_hooks *hooks, struct err *err);
/* The same for a path that is a store's folder or a segment file; --store is not looked at. */
int selection_open_path(struct selection *sel, const char *path, struct scan **out,
			const struct scan_hooks *hooks, struct err *err);
/* A line on what retention left no requests of; selection_open() says it where hooks take no summaries. */
void selection_note_retained(const struct cli *cli, const struct scan_retained *r);
/*
 * After scan_close(), where nothing was selected: an error that names the devices which are there, and
 * its exit status. Without any selection the source is empty: a note and CLI_DONE.
 */
int selection_nothing(const struct selection *sel, const struct cli *cli);
/* After scan_close(). */
void selection_release(struct selection *sel);

#endif
