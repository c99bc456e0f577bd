/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/guest/busiest.h"
#include "formats/request.h"
#include "tests/support/tap.h"

static char root[64];

static void folder(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	mkdir(path, 0755);
}

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	if (ok(f)) {
		fputs(text, f);
		fclose(f);
	}
}

static void process(int pid, const char *comm, long long reads, long long writes)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "proc/%d", pid);
	folder(name);
	snprintf(name, sizeof(name), "proc/%d/io", pid);
	snprintf(text, sizeof(text),
		 "rchar: 9\nwchar: 9\nsyscr: 9\nsyscw: 9\nread_bytes: %lld\nwrite_bytes: %lld\n"
		 "cancelled_write_bytes: 0\n",
		 reads, writes);
	put(name, text);
	snprintf(name, sizeof(name), "proc/%d/comm", pid);
	snprintf(text, sizeof(text), "%s\n", comm);
	put(name, text);
}

static void begin(void)
{
	snprintf(root, sizeof(root), "/tmp/blkcast-busiest.XXXXXX");
	ok(mkdtemp(root) != NULL);
	folder("proc");
	folder("cg");
	folder("cg/a");
	folder("cg/a/b");
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ok_int(system(command), 0);
}

static struct busiest *opened(void)
{
	char proc[80], groups[80];
	struct busiest *b = NULL;

	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(groups, sizeof(groups), "%s/cg", root);
	ok_int(busiest_new(&b, proc, groups), 0);
	return b;
}

static const char *name_at(const json_t *list, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, i), key));
}

static double number_at(const json_t *list, size_t i, const char *key)
{
	return json_number_value(json_object_get(json_array_get(list, i), key));
}

static void processes(void)
{
	struct busiest *b;
	json_t *list;

	begin();
	process(10, "idle", 5000, 5000);
	process(11, "reader", 1000, 0);
	process(12, "writer", 0, 1000);
	process(13, "reused", 9000, 0);
	b = opened();
	process(11, "reader", 3000, 0); /* 2000 */
	process(12, "writer", 0, 9000); /* 8000 */
	process(13, "reused", 500, 0);	/* less than before: another process */
	process(14, "new", 4000, 0);	/* began since */
	process(15, "small1", 1, 0);
	process(16, "small2", 2, 0);
	busiest_read(b, 2);
	list = busiest_processes(b);
	ok_eq(json_array_size(list), BUSIEST_NR);
	ok_str(name_at(list, 0, "comm"), "writer");
	ok_near(number_at(list, 0, "write_bytes_per_s"), 4000, 0);
	ok_near(number_at(list, 0, "pid"), 12, 0);
	ok_str(name_at(list, 1, "comm"), "new");
	ok_near(number_at(list, 1, "read_bytes_per_s"), 2000, 0);
	ok_str(name_at(list, 2, "comm"), "reader");
	ok_str(name_at(list, 3, "comm"), "reused");
	ok_near(number_at(list, 3, "read_bytes_per_s"), 250, 0);
	ok_str(name_at(list, 4, "comm"), "small2");
	json_decref(list);
	busiest_free(b);
	end();
}

static void cgroups(void)
{
	struct busiest *b;
	json_t *list;

	begin();
	put("cg/io.stat", "8:0 rbytes=0 wbytes=0 rios=0 wios=0 dbytes=0 dios=0\n");
	put("cg/a/io.stat", "8:0 rbytes=0 wbytes=0 rios=0 wios=0 dbytes=0 dios=0\n");
	b = opened();
	put("cg/io.stat", "8:0 rbytes=700 wbytes=0 rios=7 wios=0 dbytes=0 dios=0\n");
	put("cg/a/io.stat", "8:0 rbytes=600 wbytes=0 rios=6 wios=0 dbytes=0 dios=0\n"
			    "8:16 rbytes=5 wbytes=5 rios=5 wios=5 dbytes=0 dios=0\n");
	put("cg/a/b/io.stat", "8:16\n8:0 rbytes=400 wbytes=0 rios=4 wios=0 dbytes=0 dios=0\n");
	busiest_read(b, 1);
	list = busiest_cgroups(b, device_make(8, 0));
	ok_eq(json_array_size(list), 3);
	ok_str(name_at(list, 0, "path"), "/a/b");
	ok_near(number_at(list, 0, "read_bytes_per_s"), 400, 0);
	ok_near(number_at(list, 0, "reads_per_s"), 4, 0);
	ok_str(name_at(list, 1, "path"), "/a"); /* its own, without what is below */
	ok_near(number_at(list, 1, "read_bytes_per_s"), 200, 0);
	ok_str(name_at(list, 2, "path"), "/");
	ok_near(number_at(list, 2, "read_bytes_per_s"), 100, 0);
	json_decref(list);
	list = busiest_cgroups(b, device_make(8, 16));
	ok_eq(json_array_size(list), 1);
	ok_near(number_at(list, 0, "write_bytes_per_s"), 5, 0);
	json_decref(list);
	busiest_free(b);
	end();
}

static void nothing_there(void)
{
	struct busiest *b = NULL;
	json_t *list;

	ok_int(busiest_new(&b, "/nonexistent", "/nonexistent"), 0);
	busiest_read(b, 1);
	list = busiest_processes(b);
	ok_eq(json_array_size(list), 0);
	json_decref(list);
	list = busiest_cgroups(b, 1);
	ok_eq(json_array_size(list), 0);
	json_decref(list);
	busiest_free(b);
}

static const struct tap_test tests[] = {
	{ "the processes that moved the most come first", processes },
	{ "a cgroup counts without those below it", cgroups },
	{ "where nothing can be read there is none", nothing_there },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
