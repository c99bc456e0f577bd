/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/json.h"
#include "base/memory/array.h"
#include "base/memory/buf.h"
#include "base/system/clock.h"
#include "base/system/file.h"
#include "base/text/err.h"
#include "tests/support/tap.h"

static void array_keeps_items(void)
{
	uint32_t *items = NULL;
	size_t cap = 0, nr_growths = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		size_t before = cap;

		ok(!array_grow(&items, &cap, i + 1, sizeof(*items)));
		nr_growths += cap != before;
		items[i] = i * 7;
	}
	for (uint32_t i = 0; i < 100000; i++) {
		if (items[i] != i * 7)
			ok_eq(items[i], i * 7);
	}
	/* 8, 16, ... 131072: the copies add up to fewer than two for each item. */
	ok_eq(nr_growths, 15);
	free(items);
}

static void array_refuses_overflow(void)
{
	uint64_t *items = NULL, *before;
	size_t cap = 0;

	ok(!array_grow(&items, &cap, 3, sizeof(*items)));
	before = items;
	ok_int(array_grow(&items, &cap, SIZE_MAX / 4, sizeof(*items)), -ENOMEM);
	ok_int(array_grow(&items, &cap, SIZE_MAX, 1), -ENOMEM);
	ok(items == before);
	ok_eq(cap, ARRAY_FIRST_ITEMS);
	free(items);
}

static void file_is_read_whole(void)
{
	char path[] = "/tmp/blkcast-base.XXXXXX";
	int fd = mkstemp(path);
	char *bytes = malloc(200000);
	struct buf out = { 0 };
	struct err err = { 0 };

	memset(bytes, 'x', 200000);
	ok(fd >= 0 && write(fd, bytes, 200000) == 200000);
	close(fd);
	ok_int(file_read(path, 200000, &out, &err), 0);
	ok_eq(out.len, 200000);
	ok(!memcmp(out.data, bytes, 200000) && out.data[200000] == 0);
	ok_int(file_read(path, 199999, &out, &err), -EFBIG);
	ok_eq(out.len, 0);
	ok(strstr(err.line, path) == err.line && strstr(err.line, "199999"));
	unlink(path);
	ok_int(file_read(path, 10, &out, &err), -ENOENT);
	buf_release(&out);
	free(bytes);
}

static void file_of_proc_is_read(void)
{
	struct buf out = { 0 };

	ok_int(file_read("/proc/self/status", 1 << 20, &out, NULL), 0);
	ok(out.len > 0 && strstr((const char *)out.data, "Name:"));
	buf_release(&out);
}

static void unknown_numbers_are_null(void)
{
	json_t *known = json_number(0.25), *unknown = json_number(NAN),
	       *endless = json_number(INFINITY);

	ok(json_is_real(known) && json_real_value(known) == 0.25);
	ok(json_is_null(unknown) && json_is_null(endless));
	json_decref(known);
}

static void clocks_go_on(void)
{
	uint64_t monotonic = clock_monotonic_ns(), cpu = clock_process_cpu_ns();

	ok(clock_monotonic_ns() >= monotonic);
	ok(clock_process_cpu_ns() >= cpu);
	/* time(2) reads the same clock in whole seconds, a tick late at most. */
	ok((uint64_t)time(NULL) <= clock_real_ns() / CLOCK_NS_PER_S + 1);
}

static const struct tap_test tests[] = {
	{ "an array that grows keeps its items and doubles its room", array_keeps_items },
	{ "an array refuses a size that overflows and stays as it was", array_refuses_overflow },
	{ "a file is read whole, up to its bound", file_is_read_whole },
	{ "a file of /proc, which says that it is empty, is read", file_of_proc_is_read },
	{ "unknown and infinite numbers are null in JSON", unknown_numbers_are_null },
	{ "clocks go on", clocks_go_on },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
