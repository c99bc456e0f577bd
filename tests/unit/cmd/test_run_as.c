/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/serve/http/run_as.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

static void who_it_is(void)
{
	struct run_as r = { .uid = 77 };
	struct err err = { 0 };

	if (geteuid() == 0) {
		ok_int(run_as_find(&r, NULL, &err), -EUSERS);
		ok_str(err.line,
		       "started by root: it never runs as root; expected the name of another account");
		ok_int(run_as_find(&r, "root", &err), -EINVAL);
		ok_int(run_as_find(&r, "0", &err), -EINVAL);
		ok_eq(r.uid, 77);
		ok_int(run_as_find(&r, "54321", &err), 0);
		ok_eq(r.uid, 54321);
		ok_eq(r.gid, 54321);
		ok(r.by_root && !r.name);
	} else {
		ok_int(run_as_find(&r, NULL, &err), 0);
		ok_eq(r.uid, geteuid());
		ok(!r.by_root);
		ok_int(run_as_find(&r, "0", &err), -EINVAL);
	}
	ok_int(run_as_find(&r, "no such account", &err), -EINVAL);
	ok_int(run_as_find(&r, "-1", &err), -EINVAL);
	ok_int(run_as_find(&r, "4294967295", &err), -EINVAL);
	ok_int(run_as_find(&r, "", &err), -EINVAL);
}

/* In a process of its own, since there is no way back. */
static int become(const char *dir)
{
	struct run_as r;
	struct stat st;
	char path[256];

	snprintf(path, sizeof(path), "%s/made", dir);
	if (run_as_find(&r, geteuid() ? NULL : "54321", NULL) || run_as_folder(&r, path, NULL) ||
	    run_as_folder(&r, path, NULL) || run_as_become(&r, NULL))
		return 1;
	if (getuid() == 0 || geteuid() == 0 || getgroups(0, NULL) > (r.by_root ? 0 : 65536))
		return 2;
	if (r.by_root && (stat(path, &st) || st.st_uid != 54321 || (st.st_mode & 0777) != 0700))
		return 3;
	if (setuid(0) == 0 || setgid(0) == 0)
		return 4;
	execl("/bin/true", "true", NULL);
	return errno == EPERM ? 0 : 5;
}

static void there_is_no_way_back(void)
{
	const char *dir = sample_folder();
	int status = -1;
	pid_t pid;

	chmod(dir, 0755);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(become(dir));
	waitpid(pid, &status, 0);
	ok_eq((unsigned int)status, 0);
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "root must name another account, and others can only be themselves", who_it_is },
	{ "what it became it stays, and it starts no program", there_is_no_way_back },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
