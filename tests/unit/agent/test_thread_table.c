/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/guest/thread_table.h"
#include "tests/support/tap.h"

/* Writes the status of thread 7 into a folder that stands for /proc. */
static void status_write(const char *proc, const char *text)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "%s/7", proc);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/7/status", proc);
	out = fopen(path, "w");
	if (!ok(out != NULL))
		return;
	fputs(text, out);
	fclose(out);
}

static void status_remove(const char *proc)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/7/status", proc);
	unlink(path);
	snprintf(path, sizeof(path), "%s/7", proc);
	rmdir(path);
	rmdir(proc);
}

static void names_are_those_of_proc(void)
{
	static const struct {
		const char *status, *comm;
	} cases[] = {
		{ "Name:\tfio\nUmask:\t0022\nTgid:\t5\nVmSize:\t1 kB\n", "fio" },
		{ "Name:\t\nUmask:\t0022\nTgid:\t5\nVmSize:\t1 kB\n", "" },
		{ "Name:\t a b\nTgid:\t5\nVmSize:\t1 kB\n", " a b" },
		{ "Name:\tlonger than fifteen\nTgid:\t5\nVmSize:\t1 kB\n", "longer than fif" },
		{ "Umask:\t0022\nTgid:\t5\nVmSize:\t1 kB\n", "" },
	};
	char proc[] = "/tmp/test_thread_table.XXXXXX";
	const struct thread_fact *fact;
	struct thread_table *t;
	bool is_new;

	if (!ok(mkdtemp(proc) != NULL))
		return;
	for (size_t i = 0; i < TAP_NR(cases); i++) {
		status_write(proc, cases[i].status);
		ok_int(thread_table_new(&t, proc), 0);
		fact = thread_table_find(t, 7, "", 1, &is_new);
		ok(is_new);
		ok_str(fact->comm, cases[i].comm);
		ok_eq(fact->pid, 5);
		ok(!fact->is_kernel);
		thread_table_free(t);
	}
	status_remove(proc);
}

static const struct tap_test tests[] = {
	{ "a thread has the name that proc tells, even an empty one", names_are_those_of_proc },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
