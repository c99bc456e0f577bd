// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/scan/selection.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int selection_operations(struct selection *sel, struct err *err)
{
	for (size_t i = 0; i < sel->operations.nr; i++) {
		unsigned int op = 0;

		while (op < NR_OPERATIONS &&
		       strcmp(operation_name(op), sel->operations.items[i]) != 0)
			op++;
		if (op == NR_OPERATIONS)
			return err_set(err, EINVAL,
				       "operation: expected read, write, discard, flush or "
				       "other, got '%s'",
				       sel->operations.items[i]);
		sel->filter.operations |= 1u << op;
	}
	return 0;
}

static int selection_filter(struct selection *sel, struct err *err)
{
	if (sel->end_real_ns && sel->end_real_ns <= sel->begin_real_ns)
		return err_set(err, EINVAL, "end: expected a time after begin");
	sel->filter = (struct scan_filter){
		.hosts = sel->hosts.items,
		.nr_hosts = sel->hosts.nr,
		.devices = sel->devices.items,
		.nr_devices = sel->devices.nr,
		.cgroups = sel->cgroups.items,
		.nr_cgroups = sel->cgroups.nr,
		.processes = sel->processes.items,
		.nr_processes = sel->processes.nr,
		.begin_real_ns = sel->begin_real_ns,
		.end_real_ns = sel->end_real_ns,
		.leave_out_own = sel->leave_out_own,
		.part = sel->part,
		.nr_parts = sel->nr_parts,
	};
	return selection_operations(sel, err);
}

static int selection_scan_store(struct selection *sel, const char *dir, struct scan **out,
				const struct scan_hooks *hooks, struct err *err)
{
	int ret = store_open(&sel->store, dir, false, err);

	if (ret == 0)
		ret = scan_open_store(out, sel->store, &sel->filter, hooks, err);
	return ret;
}

int selection_open_store(struct selection *sel, struct scan **out, const struct scan_hooks *hooks,
			 struct err *err)
{
	int ret = selection_filter(sel, err);

	return ret ? ret : selection_scan_store(sel, sel->dir, out, hooks, err);
}

int selection_open_files(struct selection *sel, const char *const *files, size_t nr,
			 struct scan **out, const struct scan_hooks *hooks, struct err *err)
{
	int ret = selection_filter(sel, err);

	return ret ? ret : scan_open_files(out, files, nr, &sel->filter, hooks, err);
}

int selection_open_path(struct selection *sel, const char *path, struct scan **out,
			const struct scan_hooks *hooks, struct err *err)
{
	struct stat st;
	int ret = selection_filter(sel, err);

	if (ret < 0)
		return ret;
	if (!store_is_folder(path))
		return selection_scan_store(sel, path, out, hooks, err);
	if (stat(path, &st) < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return selection_scan_store(sel, path, out, hooks, err);
	return scan_open_files(out, &path, 1, &sel->filter, hooks, err);
}

void selection_release(struct selection *sel)
{
	store_close(sel->store);
	sel->store = NULL;
}
