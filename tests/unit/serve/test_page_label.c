/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/serve/fleet/page_label.h"
#include "tests/support/tap.h"

#define MANY (64 * 1024)

static char path[] = "/tmp/blkcast-labels.XXXXXX";

/* Reads labels from this text, which stands in a file of its own. */
static int read_text(const char *text, size_t nr, struct page_labels **out, struct err *err)
{
	FILE *f = fopen(path, "w");

	*err = (struct err){ 0 };
	*out = NULL;
	if (!ok(f != NULL))
		return -EIO;
	ok_eq(fwrite(text, 1, nr, f), nr);
	ok_int(fclose(f), 0);
	return page_labels_read(out, path, err);
}

static void labels_are_found(void)
{
	static const char text[] = "# hosts\n\n web1 role=web site=north\t# role=no\r\n"
				   "db1 role=db=main\nweb1 rack=7\nalone\nlast role=x";
	struct page_labels *l;
	const char *const *keys;
	struct err err;

	ok_int(read_text(text, strlen(text), &l, &err), 0);
	ok_eq(page_labels_keys(l, &keys), 3);
	ok_str(keys[0], "rack");
	ok_str(keys[2], "site");
	ok_str(page_label(l, "web1", "role"), "web");
	ok_str(page_label(l, "web1", "site"), "north");
	ok_str(page_label(l, "web1", "rack"), "7");
	ok_str(page_label(l, "db1", "role"), "db=main");
	ok_str(page_label(l, "last", "role"), "x");
	ok(!page_label(l, "db1", "site") && !page_label(l, "alone", "role") &&
	   !page_label(l, "", "role") && !page_label(NULL, "db1", "role"));
	page_labels_free(l);
	ok_int(read_text("", 0, &l, &err), 0);
	ok_eq(page_labels_keys(l, &keys), 0);
	ok(!page_label(l, "web1", "role"));
	page_labels_free(l);
}

static void refuse(const char *text, size_t nr, const char *why)
{
	struct page_labels *l;
	struct err err;

	ok_int(read_text(text, nr, &l, &err), -EINVAL);
	if (!ok(strstr(err.line, path) == err.line && strstr(err.line, why)))
		tap_note("%s", err.line);
}

static void bad_files_are_refused(void)
{
	char *many = malloc(MANY);
	size_t len = 0;

	refuse("web1 role=web\nweb2 role\n", 24, ":2: expected HOST KEY=VALUE");
	refuse("web1 role=\n", 11, ":1: expected keys and values");
	refuse("web1 =web\n", 10, ":1: expected keys and values");
	refuse("web1 role=\x1b[2J\n", 15, ":1: expected keys and values");
	refuse("web1 role=\xff\n", 12, ":1: expected keys and values");
	refuse("web1 role=a\nweb1 role=b\n", 24, ":2: the host has this key already");
	refuse("web1 ro\0le=a\n", 13, ": expected text");
	for (int i = 0; i <= PAGE_LABEL_KEYS; i++)
		len += (size_t)snprintf(many + len, MANY - len, "h k%d=v\n", i);
	refuse(many, len, "at most 16 different keys");
	len = 0;
	for (int i = 0; i <= PAGE_LABEL_VALUES; i++)
		len += (size_t)snprintf(many + len, MANY - len, "h%d k=v%d\n", i, i);
	refuse(many, len, "at most 256 values of k");
	memset(many, 'x', 400);
	memcpy(many + 400, " k=v\n", 5);
	refuse(many, 405, "the host's name is too long");
	free(many);
}

static const struct tap_test tests[] = {
	{ "labels are found by host and key", labels_are_found },
	{ "bad files are refused with their line", bad_files_are_refused },
};

int main(void)
{
	int fd = mkstemp(path), status;

	if (fd >= 0)
		close(fd);
	status = tap_run(tests, TAP_NR(tests));
	unlink(path);
	return status;
}
