/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/output_file.h"
#include "formats/model_file.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

static const char *path_in(const char *dir, const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static int write_text(const char *path, const char *text, int status, struct err *err)
{
	struct output_file file;
	int ret = output_file_begin(&file, path, 0666, err);

	if (ret)
		return ret;
	fputs(text, file.out);
	return output_file_end(&file, status, err);
}

static bool holds(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");
	size_t nr = f ? fread(got, 1, sizeof(got) - 1, f) : 0;

	if (f)
		fclose(f);
	return f && nr == strlen(text) && !strcmp(got, text);
}

static unsigned int nr_entries(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned int nr = 0;

	while (d && readdir(d))
		nr++;
	if (d)
		closedir(d);
	return nr - 2;
}

static void whole_or_not(void)
{
	const char *dir = sample_folder();
	const char *path = path_in(dir, "file");
	struct err err = { 0 };

	ok_int(write_text(path, "one", 0, &err), 0);
	ok(holds(path, "one"));
	ok_int(write_text(path, "two", -EBADMSG, &err), -EBADMSG);
	ok(holds(path, "one"));
	ok_int(write_text(path, "three", 0, &err), 0);
	ok(holds(path, "three"));
	ok_eq(nr_entries(dir), 1);
	ok_int(write_text(dir, "x", 0, &err), -EISDIR);
	ok_int(write_text(path_in(dir, "no/such"), "x", 0, &err), -ENOENT);
	ok(strstr(err.line, "no/such: the file cannot be written: No such file or directory; "
			    "make its folder first, or name another path") != NULL);
	sample_remove(dir);
}

/*
 * The folder may be one to which others may write: what somebody put there under the name that the
 * process number gives is neither written to nor removed.
 */
static void the_name_beside_is_random(void)
{
	const char *dir = sample_folder();
	const char *path = path_in(dir, "file");
	struct output_file one, two;
	struct err err = { 0 };
	char old[512];
	struct stat st;

	snprintf(old, sizeof(old), "%s.%ld.tmp", path, (long)getpid());
	ok_int(symlink("/dev/null", old), 0);
	ok_int(output_file_begin(&one, path, 0666, &err), 0);
	ok_int(output_file_begin(&two, path, 0666, &err), 0);
	ok(strcmp(one.beside, two.beside) != 0 && strcmp(one.beside, old) != 0);
	ok_int(output_file_end(&two, 0, &err), 0);
	ok_int(output_file_end(&one, 0, &err), 0);
	ok(!lstat(old, &st) && S_ISLNK(st.st_mode));
	ok_eq(nr_entries(dir), 2);
	sample_remove(dir);
}

static void rights_stay(void)
{
	const char *dir = sample_folder();
	const char *path = path_in(dir, "file");
	struct err err = { 0 };
	struct stat st;

	ok_int(write_text(path, "one", 0, &err), 0);
	ok_int(chmod(path, 0640), 0);
	ok_int(write_text(path, "two", 0, &err), 0);
	ok(!stat(path, &st) && (st.st_mode & 0777) == 0640);
	if (!geteuid()) {
		ok_int(chown(path, 12345, 12346), 0);
		ok_int(write_text(path, "three", 0, &err), 0);
		ok(!stat(path, &st) && st.st_uid == 12345 && st.st_gid == 12346);
		ok((st.st_mode & 0777) == 0640);
	} else {
		ok_int(chmod(path, 0440), 0);
		ok_int(write_text(path, "three", 0, &err), -EACCES);
		ok(strstr(err.line, "file: the file cannot be written: Permission denied") != NULL);
		ok(holds(path, "two"));
	}
	ok_eq(nr_entries(dir), 1);
	sample_remove(dir);
}

static void links_stay(void)
{
	const char *dir = sample_folder();
	struct err err = { 0 };
	struct stat st;

	ok_int(write_text(path_in(dir, "file"), "one", 0, &err), 0);
	ok_int(symlink("file", path_in(dir, "link")), 0);
	ok_int(write_text(path_in(dir, "link"), "two", 0, &err), 0);
	ok(!lstat(path_in(dir, "link"), &st) && S_ISLNK(st.st_mode));
	ok(holds(path_in(dir, "file"), "two"));
	ok_int(symlink("new", path_in(dir, "early")), 0);
	ok_int(write_text(path_in(dir, "early"), "three", 0, &err), 0);
	ok(!lstat(path_in(dir, "early"), &st) && S_ISLNK(st.st_mode));
	ok(!lstat(path_in(dir, "new"), &st) && S_ISREG(st.st_mode));
	ok_int(symlink("round", path_in(dir, "round")), 0);
	ok_int(write_text(path_in(dir, "round"), "four", 0, &err), -ELOOP);
	ok_eq(nr_entries(dir), 5);
	sample_remove(dir);
}

/* By links, so that a mistake here takes no device away. */
static void devices_and_pipes_stay(void)
{
	const char *dir = sample_folder();
	struct err err = { 0 };
	char got[8] = "";
	struct stat st;
	int fd;

	ok_int(symlink("/dev/null", path_in(dir, "null")), 0);
	ok_int(write_text(path_in(dir, "null"), "one", 0, &err), 0);
	ok(!stat(path_in(dir, "null"), &st) && S_ISCHR(st.st_mode));
	ok_int(symlink("/dev/full", path_in(dir, "full")), 0);
	ok_int(write_text(path_in(dir, "full"), "one", 0, &err), -ENOSPC);
	ok(strstr(err.line, "full: it cannot be written in full: No space left on device; "
			    "make room") != NULL);
	ok_int(output_file_save(&(struct buf){ .data = (uint8_t *)"one", .len = 3 },
				path_in(dir, "full"), &err),
	       -ENOSPC);
	ok(strstr(err.line, "full: it cannot be written in full: No space left") != NULL);
	ok(!stat(path_in(dir, "full"), &st) && S_ISCHR(st.st_mode));
	ok_int(mkfifo(path_in(dir, "pipe"), 0600), 0);
	fd = open(path_in(dir, "pipe"), O_RDONLY | O_NONBLOCK);
	ok_int(write_text(path_in(dir, "pipe"), "one", 0, &err), 0);
	ok_int(read(fd, got, sizeof(got)), 3);
	ok(!stat(path_in(dir, "pipe"), &st) && S_ISFIFO(st.st_mode));
	close(fd);
	ok_eq(nr_entries(dir), 3);
	sample_remove(dir);
}

/* jansson refuses values that hold each other, and sets no errno. */
static void an_old_error_is_not_told(void)
{
	const char *dir = sample_folder();
	json_t *outer = json_object(), *inner = json_object();
	struct err err = { 0 };

	ok(!json_object_set(outer, "inner", inner) && !json_object_set(inner, "outer", outer));
	/* Before the file is made, its path is not found. */
	ok_int(model_file_write(path_in(dir, "model"), outer, &err), -EIO);
	ok(strstr(err.line, "model: the model cannot be written in full: Input/output error"));
	ok_eq(nr_entries(dir), 0);
	json_object_clear(inner);
	json_decref(inner);
	json_decref(outer);
	sample_remove(dir);
}

static void an_input_is_hit_by_any_name(void)
{
	const char *dir = sample_folder();
	struct err err = { 0 };
	char in[512], folder[512];

	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(folder, sizeof(folder), "%s/store", dir);
	ok_int(write_text(in, "one", 0, &err), 0);
	ok_int(mkdir(folder, 0700), 0);
	ok_int(symlink("in", path_in(dir, "link")), 0);
	ok_int(symlink("store/new", path_in(dir, "early")), 0);
	ok_int(symlink("store", path_in(dir, "way")), 0);
	ok(output_file_hits(in, in));
	ok(output_file_hits(path_in(dir, "link"), in));
	ok(output_file_hits(path_in(dir, "store/../in"), in));
	ok(output_file_hits(path_in(dir, "store/new"), folder));
	ok(output_file_hits(path_in(dir, "way/new"), folder));
	ok(output_file_hits(path_in(dir, "early"), folder));
	ok(output_file_hits(path_in(dir, "store/new"), dir));
	ok(!output_file_hits(path_in(dir, "other"), in));
	ok(!output_file_hits(path_in(dir, "store.html"), folder));
	ok(!output_file_hits(path_in(dir, "other"), path_in(dir, "missing")));
	ok(!output_file_hits("/dev/null", "/dev/null"));
	ok(holds(in, "one"));
	sample_remove(dir);
}

static const struct tap_test tests[] = {
	{ "a file is there whole, or as it was", whole_or_not },
	{ "nobody can tell the name that is written to", the_name_beside_is_random },
	{ "a file that is replaced keeps its rights", rights_stay },
	{ "a link stays one, and what it leads to is replaced", links_stay },
	{ "devices and pipes are written to and stay", devices_and_pipes_stay },
	{ "an input is known by any name, and what lies in it", an_input_is_hit_by_any_name },
	{ "a model that cannot be printed is not told by an older error",
	  an_old_error_is_not_told },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
