/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/guest/mounts.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "agent/guest/device.h"
#include "base/memory/buf.h"
#include "base/system/file.h"
#include "formats/request.h"

#define MOUNTS_MAX_BYTES (4u << 20)
#define MOUNTS_MAX_DEPTH 4 /* volumes made of volumes */
#define MOUNTS_NAMED	 "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* Returns the number of the device that the file at path names as "8:1", or 0. */
static uint32_t mounts_number(const char *path)
{
	unsigned int major, minor;
	FILE *f = fopen(path, "re");
	uint32_t device = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%u:%u", &major, &minor) == 2)
		device = device_make(major, minor);
	fclose(f);
	return device;
}

/* Returns whether the device is the disk, a partition of it, or a volume made of one of them. */
static bool mounts_is_on(uint32_t device, uint32_t disk, int depth)
{
	char folder[64], path[PATH_MAX];
	struct device_info info;
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	if (device == disk || (!device_read(device, &info) && info.disk == disk))
		return true;
	snprintf(folder, sizeof(folder), "/sys/dev/block/%u:%u/slaves", device_major(device),
		 device_minor(device));
	dir = depth ? opendir(folder) : NULL;
	while (dir && !found && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/dev", folder, entry->d_name);
		found = mounts_is_on(mounts_number(path), disk, depth - 1);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Adds a type that is not in the list yet. A type "fuseblk.x" is cut at the dot. */
static void mounts_add(const char *type, char *out, size_t size)
{
	size_t len = strspn(type, MOUNTS_NAMED), used = strlen(out);

	for (const char *at = out; *at;) {
		size_t word = strcspn(at, ",");

		if (word == len && !strncmp(at, type, len))
			return;
		at += word + (at[word] == ',');
	}
	if (len && used + len + 1 < size)
		snprintf(out + used, size - used, "%s%.*s", used ? "," : "", (int)len, type);
}

/*
 * Adds the file system of a line, such as
 *	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
 */
static void mounts_line(const char *line, uint32_t disk, char *out, size_t size)
{
	const char *rest = strstr(line, " - ");
	char type[64], source[PATH_MAX];
	unsigned int major, minor;
	uint32_t device;
	struct stat st;

	if (!rest || sscanf(line, "%*u %*u %u:%u", &major, &minor) != 2 ||
	    sscanf(rest + 3, "%63s %4095s", type, source) != 2)
		return;
	device = device_make(major, minor);
	if (!major) {
		/* The file system has no device number of its own, but its source may have one. */
		if (strncmp(source, "/dev/", 5) != 0 || stat(source, &st) || !S_ISBLK(st.st_mode))
			return;
		device = device_make(major(st.st_rdev), minor(st.st_rdev));
	}
	if (mounts_is_on(device, disk, MOUNTS_MAX_DEPTH))
		mounts_add(type, out, size);
}

void mounts_file_systems(const char *path, uint32_t disk, char *out, size_t size)
{
	struct buf text;
	char *at, *line;

	out[0] = 0;
	buf_init(&text);
	if (!file_read(path, MOUNTS_MAX_BYTES, &text, NULL))
		for (line = strtok_r((char *)text.data, "\n", &at); line;
		     line = strtok_r(NULL, "\n", &at))
			mounts_line(line, disk, out, size);
	buf_release(&text);
}
