/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection: a part of a trace, chosen by host, device, time, cgroup, process and operation, and
 * the scan of it.
 *
 *	struct selection sel = { .dir = "/srv/traces" };
 *	int ret = selection_open_store(&sel, &scan, NULL, &err);
 *	...
 *	scan_close(scan);
 *	selection_release(&sel);
 *
 * An empty list, or a time of 0, selects everything. Words are borrowed until selection_release().
 */
#ifndef ANALYZER_STORE_SCAN_SELECTION_H
#define ANALYZER_STORE_SCAN_SELECTION_H

#include "analyzer/store/scan/scan.h"
#include "analyzer/store/store.h"
#include "base/text/word_list.h"

struct selection {
	const char *dir;	  /* folder of the store, or NULL: segment files */
	const char *const *files; /* these segment files, where there is no store */
	size_t nr_files;
	struct word_list hosts, devices, cgroups, processes, operations;
	/* completed at or after begin and before end; 0: any time */
	uint64_t begin_real_ns, end_real_ns;
	bool leave_out_own;	 /* leave out the requests of the agent itself */
	uint32_t part, nr_parts; /* of the hosts (scan_filter); 0, 0: all of them */

	struct store *store; /* owned while the scan is open */
	struct scan_filter filter;
};

/*
 * Checks the selection and opens the scan: of the store in dir, of nr segment files, or of a path
 * that
 * is either. hooks may be NULL. Returns 0, or -errno with one line in err: -EINVAL if the selection
 * itself makes no sense, else the error of opening the store or a file.
 */
int selection_open_store(struct selection *sel, struct scan **out, const struct scan_hooks *hooks,
			 struct err *err);
int selection_open_files(struct selection *sel, const char *const *files, size_t nr,
			 struct scan **out, const struct scan_hooks *hooks, struct err *err);
int selection_open_path(struct selection *sel, const char *path, struct scan **out,
			const struct scan_hooks *hooks, struct err *err);
/* Closes the store. Call it after scan_close(). */
void selection_release(struct selection *sel);

#endif
