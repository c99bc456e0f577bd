/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/guest/fileset_scan.h"
#include "formats/request.h"
#include "tests/support/tap.h"

/*
 * On tmpfs, which is no partition of a disk: a tree of three files of 1, 2 and 4 KiB, a link and a
 * pipe.
 */
static void make_tree(char dir[64])
{
	char command[512];

	snprintf(dir, 64, "/dev/shm/blkcast-fileset.XXXXXX");
	ok(mkdtemp(dir) != NULL);
	snprintf(command, sizeof(command),
		 "cd '%s' && mkdir -p a/b && truncate -s 1K a/one && truncate -s 2K a/b/two && "
		 "truncate -s 4K four && ln -s four link && mkfifo pipe",
		 dir);
	ok(!system(command));
}

static void remove_tree(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ok(!system(command));
}

static void folders_are_counted_with_all_below(void)
{
	struct fileset_sample sample = { 0 };
	bool is_cut = true;
	char dir[64];

	make_tree(dir);
	ok_int(fileset_count_dir(dir, 1000, &sample, &is_cut), 0);
	ok_eq(sample.nr_files, 3);
	ok_eq(sample.total_bytes, 7168);
	ok(!is_cut);
	ok_int(fileset_count_dir(dir, 3, &sample, &is_cut), 0);
	ok(is_cut);
	remove_tree(dir);
	ok(fileset_count_dir(dir, 1000, &sample, &is_cut) < 0);
}

static void open_files_are_counted_once_each(void)
{
	struct fileset_sample sample = { 0 }, again = { 0 };
	char dir[64], path[96];
	struct stat st;
	uint32_t device;
	uint32_t pids[] = { (uint32_t)getpid(), 0x7ffffff0, (uint32_t)getpid() };
	int fds[3];

	make_tree(dir);
	snprintf(path, sizeof(path), "%s/four", dir);
	fds[0] = open(path, O_RDONLY);
	fds[1] = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "%s/a/one", dir);
	fds[2] = open(path, O_RDONLY);
	ok(!fstat(fds[0], &st));
	device = device_make(major(st.st_dev), minor(st.st_dev));
	ok_int(fileset_count_pids(pids, 1, device, &sample), 0);
	/* Standard output may be a file there too: at least these two, once each. */
	ok(sample.nr_files >= 2 && sample.total_bytes >= 5120);
	ok_int(fileset_count_pids(pids, 3, device, &again), 0);
	ok_eq(again.nr_files, sample.nr_files); /* one process does not exist, one comes twice */
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	ok_int(fileset_count_pids(pids, 1, device_make(4000, 1), &sample), 0);
	ok_eq(sample.nr_files, 0);
	remove_tree(dir);
}

static void missing_folder_is_refused(void)
{
	const char *dirs[] = { "/nonexistent/dir" };
	struct fileset_config config = { .dirs = dirs, .nr_dirs = 1 };
	struct fileset_scan *s = NULL;
	struct err err = { 0 };

	ok_int(fileset_scan_new(&s, &config, &err), -ENOENT);
	ok_str(err.line, "fileset: /nonexistent/dir: No such file or directory: expected a folder");
	ok(!s);
	fileset_scan_free(NULL);
}

static const struct tap_test tests[] = {
	{ "folders are counted with all below them", folders_are_counted_with_all_below },
	{ "open files are counted once each", open_files_are_counted_once_each },
	{ "a missing folder is refused by name", missing_folder_is_refused },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
