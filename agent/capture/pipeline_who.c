/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_who: sums the requests of the running window by process and by control group, for the
 * live view. Names are looked up when the window closes, once per window, by the tables that the
 * segments use as well. Without a live view nothing is summed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture/pipeline_state.h"
#include "agent/guest/cgroup.h"
#include "agent/guest/task.h"

_Static_assert(SEGMENT_PATH_BYTES <= WHO_NAME_BYTES && SEGMENT_COMM_BYTES <= WHO_NAME_BYTES,
	       "a name of the trace has room in the table");

struct pipeline_who {
	struct who processes, cgroups;
	struct task_table *tasks;
	struct cgroup_table *names;
};

int pipeline_who_new(struct pipeline_who **out)
{
	struct pipeline_who *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	if (who_init(&w->processes, BOARD_WHO_MAX) || who_init(&w->cgroups, BOARD_WHO_MAX) ||
	    task_table_new(&w->tasks, TASK_MAX) || cgroup_table_new(&w->names)) {
		pipeline_who_free(w);
		return -ENOMEM;
	}
	*out = w;
	return 0;
}

void pipeline_who_free(struct pipeline_who *w)
{
	if (!w)
		return;
	cgroup_table_free(w->names);
	task_table_free(w->tasks);
	who_release(&w->cgroups);
	who_release(&w->processes);
	free(w);
}

void pipeline_who_task(struct pipeline_who *w, uint32_t tid, uint32_t pid, const char *comm)
{
	task_table_note(w->tasks, tid, pid, comm);
}

void pipeline_who_add(struct pipeline_who *w, const struct request *r, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		who_add(&w->processes, r[i].pid, &r[i]);
		who_add(&w->cgroups, r[i].cgroup_id, &r[i]);
	}
}

static void pipeline_who_name(struct pipeline_who *w, const struct pseudonym_key *key)
{
	const struct segment_process *processes;
	const struct segment_cgroup *cgroups;
	size_t nr_processes, nr_cgroups;

	for (size_t i = 0; i < w->processes.nr; i++)
		task_table_use(w->tasks, (uint32_t)w->processes.items[i].key);
	for (size_t i = 0; i < w->cgroups.nr; i++)
		cgroup_table_use(w->names, w->cgroups.items[i].key);
	nr_processes = task_table_collect(w->tasks, &processes);
	for (size_t i = 0; i < nr_processes; i++) {
		struct who_entry *e = who_find(&w->processes, processes[i].pid);

		if (e && key)
			pseudonym_comm(key, processes[i].comm, e->name);
		else if (e)
			memcpy(e->name, processes[i].comm, sizeof(processes[i].comm));
	}
	nr_cgroups = cgroup_table_collect(w->names, &cgroups);
	for (size_t i = 0; i < nr_cgroups; i++) {
		struct who_entry *e = who_find(&w->cgroups, cgroups[i].id);

		if (e && key)
			pseudonym_path(key, cgroups[i].path, e->name);
		else if (e)
			memcpy(e->name, cgroups[i].path, sizeof(cgroups[i].path));
	}
}

void pipeline_who_publish(struct pipeline *p)
{
	struct pipeline_who *w = p->who;

	pipeline_who_name(w, p->config.key);
	board_post_who(p->config.board, &w->processes, &w->cgroups);
	who_clear(&w->processes);
	who_clear(&w->cgroups);
}
