// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/target_guard.h"

#include <blkid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text/units.h"

/* Returns whether both paths are the same file, or name the same block device. */
static bool guard_same_file(const struct stat *st, const char *path)
{
	struct stat other;

	if (stat(path, &other) < 0)
		return false;
	if (S_ISBLK(st->st_mode))
		return S_ISBLK(other.st_mode) && st->st_rdev == other.st_rdev;
	return st->st_dev == other.st_dev && st->st_ino == other.st_ino;
}

/* mountinfo and swaps write blanks, tabs, newlines and backslashes in paths as \ooo. */
static void guard_unescape(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		unsigned int code;

		if (at[0] == '\\' && sscanf(at + 1, "%3o", &code) == 1 && at[1] && at[2] && at[3]) {
			*to++ = (char)code;
			at += 3;
			continue;
		}
		*to++ = *at;
	}
	*to = 0;
}

/* Finds where the device is mounted. */
static bool guard_mounted(dev_t device, char *where, size_t size)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (f && !found && getline(&line, &room, f) > 0) {
		char point[PATH_MAX], source[PATH_MAX] = "";
		unsigned int major, minor;
		const char *rest = strstr(line, " - ");
		struct stat st;

		if (sscanf(line, "%*d %*d %u:%u %*s %4095s", &major, &minor, point) != 3)
			continue;
		if (rest)
			sscanf(rest, " - %*s %4095s", source);
		guard_unescape(source);
		/*
		 * Some file systems, such as btrfs, have device numbers of their own; their source
		 * is the device.
		 */
		found = makedev(major, minor) == device ||
			(source[0] == '/' && stat(source, &st) == 0 && S_ISBLK(st.st_mode) &&
			 st.st_rdev == device);
		if (found) {
			guard_unescape(point);
			snprintf(where, size, "mounted at %.200s", point);
		}
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool guard_swapped(const struct stat *st, char *why, size_t size)
{
	FILE *f = fopen("/proc/swaps", "re");
	char line[PATH_MAX + 64], path[PATH_MAX];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%4095s", path) != 1 || path[0] != '/')
			continue;
		guard_unescape(path);
		found = guard_same_file(st, path);
	}
	if (f)
		fclose(f);
	if (found)
		snprintf(why, size, "swap space in use");
	return found;
}

/* Gives the first name in a folder of sysfs; "" if there is none. */
static void guard_first_name(const char *folder, char *name, size_t size)
{
	DIR *dir = opendir(folder);
	const struct dirent *d;

	name[0] = 0;
	while (dir && !name[0] && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			snprintf(name, size, "%s", d->d_name);
	if (dir)
		closedir(dir);
}

static bool guard_held(const char *sysfs, char *why, size_t size)
{
	char folder[PATH_MAX], name[NAME_MAX + 1];

	snprintf(folder, sizeof(folder), "%.3000s/holders", sysfs);
	guard_first_name(folder, name, sizeof(name));
	if (name[0])
		snprintf(why, size, "held by %.100s", name);
	return name[0] != 0;
}

/*
 * Returns whether a loop device is backed by the file or device; the kernel allows an exclusive
 * open in that case.
 */
static bool guard_backs_loop(const struct stat *st, char *why, size_t size)
{
	DIR *dir = opendir("/sys/block");
	const struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		char path[PATH_MAX], backing[PATH_MAX] = "";
		FILE *f;

		if (strncmp(d->d_name, "loop", 4) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fgets(backing, sizeof(backing), f)) {
			backing[strcspn(backing, "\n")] = 0;
			found = guard_same_file(st, backing);
		}
		fclose(f);
		if (found)
			snprintf(why, size, "what the loop device %.60s is backed by", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void guard_sysfs(dev_t device, char *out, size_t size)
{
	snprintf(out, size, "/sys/dev/block/%u:%u", major(device), minor(device));
}

/*
 * Calls look for each partition that the kernel has of the device, until one is found to be in use.
 */
static bool guard_parts(const char *sysfs,
			bool (*look)(const struct stat *, const char *, char *, size_t), char *why,
			size_t size)
{
	DIR *dir = opendir(sysfs);
	const struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		char path[PATH_MAX], inner[200] = "";
		struct stat st = { .st_mode = S_IFBLK };
		unsigned int major, minor;
		FILE *f;

		snprintf(path, sizeof(path), "%.3000s/%s/partition", sysfs, d->d_name);
		if (d->d_name[0] == '.' || access(path, F_OK) < 0)
			continue;
		snprintf(path, sizeof(path), "%.3000s/%s/dev", sysfs, d->d_name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%u:%u", &major, &minor) == 2) {
			st.st_rdev = makedev(major, minor);
			snprintf(path, sizeof(path), "%.3000s/%s", sysfs, d->d_name);
			found = look(&st, path, inner, sizeof(inner));
		}
		if (f)
			fclose(f);
		if (found)
			snprintf(why, size, "its partition %.60s is %s", d->d_name, inner);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Finds who uses the device itself, apart from its partitions. */
static bool guard_used_itself(const struct stat *st, const char *sysfs, char *why, size_t size)
{
	return guard_mounted(st->st_rdev, why, size) || guard_swapped(st, why, size) ||
	       guard_held(sysfs, why, size) || guard_backs_loop(st, why, size);
}

static bool guard_any(const struct stat *st, const char *sysfs, char *why, size_t size)
{
	(void)st;
	(void)sysfs;
	snprintf(why, size, "there");
	return true;
}

/* Adds one kind of content that libblkid found. */
static void guard_add(struct target_guard *g, const char *what, const char *type)
{
	size_t len = strlen(g->content);

	if (type)
		snprintf(g->content + len, sizeof(g->content) - len, "%s%s %.40s",
			 len ? " and " : "", what, type);
}

/* Finds what the device contains, as far as libblkid recognizes it. */
static int guard_contents(struct target_guard *g, int fd, const char *sysfs, struct err *err)
{
	blkid_probe probe = blkid_new_probe();
	const char *type = NULL, *usage = NULL, *table = NULL;
	int ret = 0, found = -1;

	if (!probe || blkid_probe_set_device(probe, fd, 0, 0) != 0) {
		ret = err_set(err, EIO, "%s: it cannot be told what is on this device", g->path);
		goto out;
	}
	blkid_probe_enable_superblocks(probe, 1);
	blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
	blkid_probe_enable_partitions(probe, 1);
	found = blkid_do_safeprobe(probe);
	if (found == -1) {
		ret = err_set(err, EIO, "%s: it cannot be read what is on this device", g->path);
		goto out;
	}
	if (found == -2)
		snprintf(g->content, sizeof(g->content), "signatures of several kinds");
	blkid_probe_lookup_value(probe, "TYPE", &type, NULL);
	blkid_probe_lookup_value(probe, "USAGE", &usage, NULL);
	blkid_probe_lookup_value(probe, "PTTYPE", &table, NULL);
	guard_add(g, "a partition table", table);
	guard_add(g, usage && !strcmp(usage, "filesystem") ? "a file system" : "a signature", type);
	if (!g->content[0] && guard_parts(sysfs, guard_any, g->content, sizeof(g->content)))
		snprintf(g->content, sizeof(g->content), "partitions that the kernel knows");
out:
	blkid_free_probe(probe);
	return ret;
}

static int guard_refuse_used(const struct target_guard *g, const char *why, struct err *err)
{
	return err_set(err, EINVAL,
		       "%s: this target is in use and is not written: it is %s; free it first, or "
		       "name another target",
		       g->path, why);
}

static int guard_device(struct target_guard *g, const struct stat *st, bool writes, bool named,
			struct err *err)
{
	char sysfs[64], why[256] = "claimed by another program or driver";
	int fd = open(g->path, (writes ? O_RDWR | O_EXCL : O_RDONLY) | O_CLOEXEC), error = errno;
	int ret;

	g->kind = TARGET_DEVICE;
	guard_sysfs(st->st_rdev, sysfs, sizeof(sysfs));
	if (fd < 0 && error != EBUSY)
		return err_set(err, error, "%s: %s", g->path, strerror(error));
	if (writes && (guard_used_itself(st, sysfs, why, sizeof(why)) ||
		       guard_parts(sysfs, guard_used_itself, why, sizeof(why)) || fd < 0)) {
		if (fd >= 0)
			close(fd);
		return guard_refuse_used(g, why, err);
	}
	g->fd = fd;
	if (ioctl(fd, BLKGETSIZE64, &g->bytes) < 0)
		return err_set(err, errno, "%s: %s", g->path, strerror(errno));
	if (!writes)
		return 0;
	ret = guard_contents(g, fd, sysfs, err);
	if (ret || !g->content[0] || named)
		return ret;
	return err_set(err, ENOTEMPTY, "%s: this device carries %s, which would be destroyed",
		       g->path, g->content);
}

static int guard_file(struct target_guard *g, const struct stat *st, bool writes, bool named,
		      struct err *err)
{
	char why[256], size[UNITS_BYTES];

	g->kind = TARGET_FILE;
	g->bytes = (uint64_t)st->st_size;
	if (!writes)
		return 0;
	if (guard_swapped(st, why, sizeof(why)) || guard_backs_loop(st, why, sizeof(why)))
		return guard_refuse_used(g, why, err);
	if (named)
		return 0;
	return err_set(err, ENOTEMPTY, "%s: this file of %s exists and would be overwritten",
		       g->path, units_bytes((double)g->bytes, size));
}

/* Gives the folder that contains a path, with all links resolved; -errno. */
static int guard_parent(const char *path, char out[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int len = snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
			   slash ? path : ".");
	struct stat st;

	if (len < 0 || len >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	if (!realpath(len ? folder : "/", out) || stat(out, &st) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

static bool guard_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (!path[len] || path[len] == '/');
}

/* Handles a file that will be created. */
static int guard_new_file(struct target_guard *g, struct err *err)
{
	char parent[PATH_MAX];
	struct stat st;
	int ret = guard_parent(g->path, parent);

	g->kind = TARGET_FILE;
	g->exists = false;
	if (!g->path[0] || g->path[strlen(g->path) - 1] == '/')
		return err_set(err, ENOENT, "%s: this folder does not exist", g->path);
	if (ret == -ENOENT || ret == -ENOTDIR)
		return err_set(err, -ret,
			       "%s: the folder that this file would lie in does not exist, and no "
			       "folder is made for a target",
			       g->path);
	if (ret)
		return err_set(err, -ret, "%s: %s", g->path, strerror(-ret));
	if (lstat(g->path, &st) == 0)
		return err_set(err, ENOENT, "%s: this symbolic link leads to nothing", g->path);
	if ((guard_below(parent, "/dev") && !guard_below(parent, "/dev/shm")) ||
	    guard_below(parent, "/proc") || guard_below(parent, "/sys"))
		return err_set(err, ENOENT,
			       "%s: there is no such device, and no file is made in its place",
			       g->path);
	return 0;
}

static int guard_free_bytes(struct target_guard *g, struct err *err)
{
	char parent[PATH_MAX];
	const char *folder = g->path;
	struct statvfs v;
	int ret = g->exists ? 0 : guard_parent(g->path, parent);

	if (!g->exists)
		folder = parent;
	if (ret || statvfs(folder, &v) < 0)
		return err_set(err, ret ? -ret : errno, "%s: %s", g->path,
			       strerror(ret ? -ret : errno));
	g->free_bytes = (uint64_t)v.f_bavail * v.f_frsize;
	return 0;
}

int target_guard_take(struct target_guard *g, const char *path, bool writes, const char *overwrite,
		      struct err *err)
{
	struct stat st;
	bool named = overwrite && !strcmp(overwrite, path);
	int ret;

	*g = (struct target_guard){ .path = path, .exists = true, .fd = -1 };
	if (overwrite && !named)
		return err_set(err, EINVAL,
			       "%.200s: expected the target's own path a second time, %.200s",
			       overwrite, path);
	if (stat(path, &st) < 0) {
		if (errno != ENOENT)
			return err_set(err, errno, "%s: %s", path, strerror(errno));
		ret = guard_new_file(g, err);
	} else if (S_ISBLK(st.st_mode)) {
		return guard_device(g, &st, writes, named, err);
	} else if (S_ISREG(st.st_mode)) {
		ret = guard_file(g, &st, writes, named, err);
	} else if (S_ISDIR(st.st_mode)) {
		g->kind = TARGET_FOLDER;
		ret = 0;
	} else {
		ret = err_set(err, EINVAL, "%s: expected a block device, a file or a folder", path);
	}
	return ret ? ret : guard_free_bytes(g, err);
}

int target_guard_room(const struct target_guard *g, uint64_t more_bytes, struct err *err)
{
	char need[UNITS_BYTES], have[UNITS_BYTES];

	if (g->kind == TARGET_DEVICE || more_bytes <= g->free_bytes)
		return 0;
	return err_set(
		err, EFBIG,
		"%s: the load needs %s of new space, and the file system has %s free; make room "
		"there, or name a target that is as large as what the load touches",
		g->path, units_bytes((double)more_bytes, need),
		units_bytes((double)g->free_bytes, have));
}

int target_guard_make(struct target_guard *g, struct err *err)
{
	int fd;

	if (g->exists)
		return 0;
	fd = open(g->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, errno, "%s: %s", g->path, strerror(errno));
	close(fd);
	g->made = true;
	return 0;
}

void target_guard_describe(const struct target_guard *g, char *out, size_t size)
{
	char bytes[UNITS_BYTES];

	if (g->kind == TARGET_DEVICE)
		snprintf(out, size, "block device of %s%s%s", units_bytes((double)g->bytes, bytes),
			 g->content[0] ? ", which carries " : "", g->content);
	else if (g->kind == TARGET_FOLDER)
		snprintf(out, size, "folder with %s free",
			 units_bytes((double)g->free_bytes, bytes));
	else if (g->exists)
		snprintf(out, size, "file of %s", units_bytes((double)g->bytes, bytes));
	else
		snprintf(out, size, "new file, with %s free",
			 units_bytes((double)g->free_bytes, bytes));
}

void target_guard_release(struct target_guard *g)
{
	if (g->made)
		unlink(g->path);
	g->made = false;
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}
