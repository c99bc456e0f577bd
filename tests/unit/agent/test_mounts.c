/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/guest/mounts.h"
#include "formats/request.h"
#include "tests/support/tap.h"

/* Numbers that no device of a real machine has. */
#define DISK  device_make(3000, 16)
#define OTHER device_make(3000, 32)

/* Returns the path of a file with the text, which the caller frees and removes. */
static char *mounts_file(const char *text)
{
	char *path = strdup("/tmp/blkcast-mounts-XXXXXX");
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	return path;
}

static void check(const char *text, uint32_t disk, const char *want)
{
	char *path = mounts_file(text), got[16];

	mounts_file_systems(path, disk, got, sizeof(got));
	ok_str(got, want);
	unlink(path);
	free(path);
}

static void types_of_the_disk(void)
{
	static const char text[] = "22 1 3000:16 / / rw,relatime shared:1 - ext4 /dev/x rw\n"
				   "23 22 0:21 / /proc rw - proc proc rw\n"
				   "24 22 3000:32 / /srv rw shared:2 master:3 - xfs /dev/y rw\n"
				   "25 22 3000:16 /sub /mnt/a\\040b ro - ext4 /dev/x rw\n"
				   "26 22 3000:16 / /efi rw - vfat /dev/x rw\n";

	check(text, DISK, "ext4,vfat");
	check(text, OTHER, "xfs");
	check(text, device_make(3000, 48), "");
	check("", DISK, "");
}

/* Such lines no kernel writes, but a text of another program could. */
static void odd_lines(void)
{
	check("- - -\n36 35 98:0\n1 2 3000:16 - \n1 2 3000:16 / / rw - \n", DISK, "");
	check("1 2 3000:16 / / rw - fuseblk.any<b> /dev/x rw\n", DISK, "fuseblk");
	check("1 2 3000:16 / / rw - <b> /dev/x rw\n", DISK, "");
	check("1 2 3000:16 / / rw - aaaaaaaaaaaa x rw\n1 2 3000:16 / / rw - bbbb x rw\n"
	      "1 2 3000:16 / / rw - cc x rw\n",
	      DISK, "aaaaaaaaaaaa,cc");
}

static void no_file(void)
{
	char got[16] = "old";

	mounts_file_systems("/nonexistent/mountinfo", DISK, got, sizeof(got));
	ok_str(got, "");
}

static const struct tap_test tests[] = {
	{ "the types of a disk's file systems, each once", types_of_the_disk },
	{ "odd lines give nothing but plain words", odd_lines },
	{ "without the kernel's list nothing is known", no_file },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
