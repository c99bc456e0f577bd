/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/guest/device.h"
#include "formats/request.h"

#define SYSFS_CLASS "/sys/class/block"
#define SYSFS_DEV   "/sys/dev/block"

/*
 * Makes a path of at most PATH_MAX bytes. A longer one is emptied, so that opening it finds
 * nothing.
 */
static void __attribute__((format(printf, 2, 3))) path_make(char *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(out, PATH_MAX, fmt, ap) >= PATH_MAX)
		out[0] = 0;
	va_end(ap);
}

/* Reads the first line of a small file, without its newline. Returns 0 or -errno. */
static int line_read(const char *path, char *out, size_t bytes)
{
	FILE *f = fopen(path, "re");
	int ret = 0;

	if (!f)
		return -errno;
	if (!fgets(out, (int)bytes, f))
		ret = -ENODATA;
	else
		out[strcspn(out, "\n")] = 0;
	fclose(f);
	return ret;
}

static uint64_t attribute_u64(const char *folder, const char *name)
{
	char path[PATH_MAX], text[32];

	path_make(path, "%s/%s", folder, name);
	if (line_read(path, text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 10);
}

/* Fills info from a device's sysfs folder. */
static int info_read(const char *folder, const char *name, struct device_info *out)
{
	struct device_info info = { 0 };
	char path[PATH_MAX], text[32];
	struct stat st;
	int ret;

	path_make(path, "%s/dev", folder);
	ret = line_read(path, text, sizeof(text));
	if (ret)
		return ret;
	ret = device_parse(text, &info.device);
	if (ret)
		return ret;
	snprintf(info.name, sizeof(info.name), "%s", name);
	info.size_bytes = attribute_u64(folder, "size") * SECTOR_BYTES;
	path_make(path, "%s/partition", folder);
	info.partition = !stat(path, &st);
	info.disk = info.device;
	path_make(path, "%s/../dev", folder);
	if (info.partition && !line_read(path, text, sizeof(text)))
		device_parse(text, &info.disk);
	path_make(path, "%s%s", folder, info.partition ? "/.." : "");
	info.rotational = attribute_u64(path, "queue/rotational") != 0;
	*out = info;
	return 0;
}

int device_read(uint32_t device, struct device_info *out)
{
	char link[PATH_MAX], folder[PATH_MAX];

	path_make(link, SYSFS_DEV "/%u:%u", device_major(device), device_minor(device));
	if (!realpath(link, folder))
		return -ENODEV;
	return info_read(folder, strrchr(folder, '/') + 1, out) ? -ENODEV : 0;
}

int device_list(int (*each)(void *ctx, const struct device_info *info), void *ctx)
{
	DIR *dir = opendir(SYSFS_CLASS);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		char link[PATH_MAX], folder[PATH_MAX];
		struct device_info info;

		path_make(link, SYSFS_CLASS "/%s", entry->d_name);
		if (entry->d_name[0] == '.' || !realpath(link, folder))
			continue;
		if (info_read(folder, entry->d_name, &info))
			continue;
		ret = each(ctx, &info);
		if (ret)
			break;
	}
	closedir(dir);
	return ret;
}

struct search {
	const char *name;
	struct device_info found;
	char known[256]; /* names of devices for the error message */
	size_t len;
};

static int search_name(void *ctx, const struct device_info *info)
{
	struct search *s = ctx;

	if (!strcmp(info->name, s->name)) {
		s->found = *info;
		return 1;
	}
	if (!info->partition && !device_is_hidden_by_default(info) && s->len < sizeof(s->known))
		s->len += (size_t)snprintf(s->known + s->len, sizeof(s->known) - s->len, "%s%s",
					   s->len ? ", " : "", info->name);
	return 0;
}

int device_find(const char *what, struct device_info *out, struct err *err)
{
	struct search s = { .name = what };
	uint32_t device;
	struct stat st;
	int ret;

	if (!device_parse(what, &device)) {
		ret = device_read(device, out);
		return ret ? err_set(err, ENODEV, "device: no block device %s", what) : 0;
	}
	if (what[0] == '/') {
		if (stat(what, &st))
			return err_set(err, errno, "device: %s: %s", what, strerror(errno));
		if (!S_ISBLK(st.st_mode))
			return err_set(err, ENOTBLK, "device: %s is not a block device", what);
		ret = device_read(device_make(major(st.st_rdev), minor(st.st_rdev)), out);
		return ret ? err_set(err, ENODEV, "device: %s: the device is gone", what) : 0;
	}
	ret = device_list(search_name, &s);
	if (ret < 0)
		return err_set(err, -ret, "device: %s: %s", SYSFS_CLASS, strerror(-ret));
	if (ret) {
		*out = s.found;
		return 0;
	}
	return err_set(err, ENODEV, "device: no block device %s, expected one of %s", what,
		       s.len ? s.known : "(none here)");
}

bool device_is_hidden_by_default(const struct device_info *info)
{
	static const char *const kinds[] = { "loop", "ram", "zram", "fd", "sr" };

	if (info->partition)
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t len = strlen(kinds[i]);

		if (!strncmp(info->name, kinds[i], len) &&
		    strspn(info->name + len, "0123456789") == strlen(info->name + len))
			return true;
	}
	return false;
}

int device_queue_flag(uint32_t device, const char *name)
{
	char path[PATH_MAX], text[32];

	path_make(path, SYSFS_DEV "/%u:%u/queue/%s", device_major(device), device_minor(device),
		  name);
	if (line_read(path, text, sizeof(text)))
		return -ENOENT;
	return (int)strtol(text, NULL, 10);
}

int device_completed(uint32_t device, uint64_t *out)
{
	uint64_t v[12] = { 0 };
	char path[PATH_MAX], text[512];
	char *at = text;

	path_make(path, SYSFS_DEV "/%u:%u/stat", device_major(device), device_minor(device));
	if (line_read(path, text, sizeof(text)))
		return -ENODEV;
	if (device_queue_flag(device, "iostats") == 0)
		return -ENODATA;
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		v[i] = strtoull(at, &at, 10);
	/*
	 * The fields are read I/Os, write I/Os and, since Linux 4.18, discard I/Os:
	 * Documentation/block/stat.rst.
	 */
	*out = v[0] + v[4] + v[11];
	return 0;
}

int64_t device_in_flight(uint32_t device)
{
	char path[PATH_MAX], text[64];
	unsigned long long reads, writes;

	path_make(path, SYSFS_DEV "/%u:%u/inflight", device_major(device), device_minor(device));
	if (line_read(path, text, sizeof(text)) || sscanf(text, "%llu %llu", &reads, &writes) != 2)
		return -ENODEV;
	if (device_queue_flag(device, "iostats") == 0)
		return -ENODATA;
	return (int64_t)(reads + writes);
}
