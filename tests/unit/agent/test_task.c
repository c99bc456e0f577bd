/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/guest/cgroup.h"
#include "agent/guest/task.h"
#include "tests/support/tap.h"

static const char *name_of(const struct segment_process *p, size_t nr, uint32_t pid)
{
	for (size_t i = 0; i < nr; i++)
		if (p[i].pid == pid)
			return p[i].comm;
	return NULL;
}

static void segments_name_the_processes_they_mention(void)
{
	const struct segment_process *p;
	struct task_table *t;
	size_t nr;

	ok_int(task_table_new(&t, 16), 0);
	task_table_note(t, 101, 100, "worker");
	task_table_note(t, 100, 100, "database");
	task_table_note(t, 102, 100, "flusher");
	task_table_note(t, 200, 200, "quiet");
	task_table_use(t, 100);
	task_table_use(t, 100);
	task_table_use(t, 0);
	nr = task_table_collect(t, &p);
	ok_eq(nr, 1);
	/* The process is named after its first thread, whatever came last. */
	ok_str(name_of(p, nr, 100), "database");
	ok_eq(task_table_collect(t, &p), 0);
	task_table_use(t, 100);
	task_table_use(t, 200);
	nr = task_table_collect(t, &p);
	ok_eq(nr, 2);
	ok_str(name_of(p, nr, 200), "quiet");
	task_table_free(t);
}

static void unknown_names_come_from_proc(void)
{
	const struct segment_process *p;
	struct task_table *t;
	uint32_t pids[4];
	size_t nr;

	prctl(PR_SET_NAME, "test_task"); /* else an emulator's name, where one runs it */
	ok_int(task_table_new(&t, 16), 0);
	task_table_use(t, (uint32_t)getpid());
	nr = task_table_collect(t, &p);
	ok_str(name_of(p, nr, (uint32_t)getpid()), "test_task");
	ok_eq(task_table_pids(t, pids, 4), 1);
	ok_eq(pids[0], (uint32_t)getpid());
	task_table_free(t);
}

static void full_table_forgets_the_unused(void)
{
	const struct segment_process *p;
	struct task_table *t;
	size_t nr;

	ok_int(task_table_new(&t, 64), 0);
	for (uint32_t pid = 1000; pid < 3000; pid++) {
		task_table_note(t, pid, pid, "many");
		if (pid % 50 == 0)
			task_table_use(t, 77);
		task_table_use(t, pid);
		if (pid % 20 == 0)
			task_table_collect(t, &p);
	}
	task_table_note(t, 5000, 5000, "last");
	task_table_use(t, 5000);
	nr = task_table_collect(t, &p);
	ok_str(name_of(p, nr, 5000), "last");
	ok(nr <= 64);
	ok_int(task_table_new(&t, 3), -EINVAL);
	task_table_free(t);
}

static void cgroup_is_found_by_path_and_named_by_id(void)
{
	const struct segment_cgroup *found;
	struct cgroup_table *t;
	struct err err = { 0 };
	uint32_t level = 99;
	uint64_t id = 0;
	size_t nr;

	ok_int(cgroup_find("no such group", &id, &level, &err), -ENOENT);
	ok(!strncmp(err.line, "cgroup: no such group: ", 23));
	if (getenv("BLKCAST_EMULATED"))
		tap_skip("native", "file handles, opaque, keep the byte order of the kernel");
	if (cgroup_find("/", &id, &level, &err))
		tap_skip("cgroup", "no hierarchy for block I/O is mounted");
	ok_eq(level, 0);
	ok_int(cgroup_table_new(&t), 0);
	cgroup_table_use(t, id);
	cgroup_table_use(t, 0);
	cgroup_table_use(t, 0xffffffffffff); /* nobody's: left out */
	nr = cgroup_table_collect(t, &found);
	if (geteuid() == 0 && ok_eq(nr, 1)) {
		ok_eq(found[0].id, id);
		ok_str(found[0].path, "/");
	}
	ok_eq(cgroup_table_collect(t, &found), 0);
	/* More than it keeps at once: bounded, and it goes on. */
	for (uint64_t i = 1; i < 3 * CGROUP_MAX; i++)
		cgroup_table_use(t, i << 32);
	cgroup_table_collect(t, &found);
	cgroup_table_use(t, id);
	nr = cgroup_table_collect(t, &found);
	ok(nr == 1 || geteuid());
	cgroup_table_free(t);
}

/* A full table keeps those of the running and of the last segment, not what came before. */
static void full_table_keeps_the_recent(void)
{
	const struct segment_process *p;
	struct task_table *t;
	size_t nr;

	ok_int(task_table_new(&t, 64), 0);
	for (uint32_t pid = 1000; pid < 1060; pid++) {
		task_table_note(t, pid, pid, "old");
		task_table_use(t, pid);
	}
	task_table_collect(t, &p);
	task_table_collect(t, &p);
	for (uint32_t pid = 4000000; pid < 4000004; pid++) {
		task_table_note(t, pid, pid, "recent");
		task_table_use(t, pid);
	}
	task_table_note(t, 4100000, 4100000, "newest"); /* one too many */
	task_table_use(t, 4100000);
	nr = task_table_collect(t, &p);
	ok_eq(nr, 5);
	for (uint32_t pid = 4000000; pid < 4000004; pid++)
		ok_str(name_of(p, nr, pid), "recent");
	task_table_free(t);
}

static const struct tap_test tests[] = {
	{ "segments name the processes they mention", segments_name_the_processes_they_mention },
	{ "unknown names come from /proc", unknown_names_come_from_proc },
	{ "a full table forgets the unused and goes on", full_table_forgets_the_unused },
	{ "a cgroup is found by its path and named by its id",
	  cgroup_is_found_by_path_and_named_by_id },
	{ "a full table keeps the names of the last two segments", full_table_keeps_the_recent },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
