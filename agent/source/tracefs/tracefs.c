/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "agent/source/tracefs/tracefs.h"

#define READ_BYTES 4096
/* number of names that one process tries, because it may run several sources */
#define NAMES_TRIED 8
/* A program that walks through /sys may have the instance open for a moment. */
#define REMOVE_TRIES   50
#define REMOVE_WAIT_US 2000

static int open_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) || (long)fs.f_type != TRACEFS_MAGIC) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* Mounts tracefs for this process alone, in no folder. */
static int mount_detached(void)
{
	int fs = fsopen("tracefs", FSOPEN_CLOEXEC), fd = -1, code;

	if (fs < 0)
		return -errno;
	if (!fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	code = errno;
	close(fs);
	return fd < 0 ? -code : fd;
}

int tracefs_open(int *out_fd, struct err *err)
{
	/*
	 * Where debugfs is mounted, looking at the second path makes the kernel mount tracefs
	 * there.
	 */
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int fd = -ENOENT;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && fd < 0; i++) {
		fd = open_at(places[i]);
		if (fd == -EACCES || fd == -EPERM)
			return err_set(err, EACCES, "tracefs: %s: not permitted: run as root",
				       places[i]);
	}
	if (fd < 0)
		fd = mount_detached();
	if (fd == -EPERM)
		return err_set(err, EPERM,
			       "tracefs: not mounted, and mounting it is not permitted: run as "
			       "root, or mount -t tracefs none /sys/kernel/tracing");
	if (fd == -ENODEV)
		return err_set(err, ENODEV, "tracefs: this kernel has none");
	if (fd < 0)
		return err_set(err, -fd,
			       "tracefs: not mounted (%s): expected mount -t tracefs none "
			       "/sys/kernel/tracing",
			       strerror(-fd));
	*out_fd = fd;
	return 0;
}

int tracefs_write(int dir_fd, const char *path, const char *text)
{
	int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC | O_TRUNC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int tracefs_read(int dir_fd, const char *path, struct buf *out)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC);
	ssize_t nr = 1;

	buf_clear(out);
	if (fd < 0)
		return -errno;
	while (nr > 0 && !buf_reserve(out, READ_BYTES + 1)) {
		nr = read(fd, out->data + out->len, READ_BYTES);
		if (nr > 0)
			out->len += (size_t)nr;
	}
	nr = nr < 0 ? -errno : 0;
	close(fd);
	if (!nr && !buf_reserve(out, 1))
		out->data[out->len] = 0;
	return nr ? (int)nr : out->error;
}

/* The instance is switched off first, so that it costs nothing where it cannot be removed yet. */
static int instance_remove(int root_fd, const char *path)
{
	char file[80];
	int ret = -EBUSY;

	snprintf(file, sizeof(file), "%s/tracing_on", path);
	tracefs_write(root_fd, file, "0");
	for (int i = 0; i < REMOVE_TRIES && ret == -EBUSY; i++) {
		if (i)
			usleep(REMOVE_WAIT_US);
		ret = unlinkat(root_fd, path, AT_REMOVEDIR) ? -errno : 0;
	}
	return ret;
}

/* Returns whether a folder in instances/ was made by an agent whose process is gone. */
static bool is_stale(const char *name)
{
	size_t len = strlen(TRACEFS_INSTANCE);
	unsigned long pid;
	char *end;

	if (strncmp(name, TRACEFS_INSTANCE, len))
		return false;
	pid = strtoul(name + len, &end, 10);
	if (end == name + len || (*end && *end != '-') || !pid || pid > INT32_MAX)
		return false;
	return kill((pid_t)pid, 0) && errno == ESRCH;
}

static void clear_stale(int root_fd)
{
	int fd = openat(root_fd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		char path[300];

		if (!is_stale(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "instances/%s", entry->d_name);
		instance_remove(root_fd, path);
		rewinddir(dir);
	}
	if (dir)
		closedir(dir);
}

static int instance_make(struct tracefs_instance *i)
{
	for (int n = 1; n <= NAMES_TRIED; n++) {
		snprintf(i->path, sizeof(i->path), "instances/" TRACEFS_INSTANCE "%d", getpid());
		if (n > 1)
			snprintf(i->path + strlen(i->path), sizeof(i->path) - strlen(i->path),
				 "-%d", n);
		if (!mkdirat(i->root_fd, i->path, 0700))
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int tracefs_instance_new(struct tracefs_instance *out, struct err *err)
{
	struct tracefs_instance i = { .root_fd = -1, .fd = -1 };
	int ret = tracefs_open(&i.root_fd, err);

	if (ret)
		return ret;
	clear_stale(i.root_fd);
	ret = instance_make(&i);
	if (ret) {
		close(i.root_fd);
		return err_set(err, -ret, "tracefs: %s: cannot be made: %s", i.path,
			       strerror(-ret));
	}
	i.fd = openat(i.root_fd, i.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (i.fd < 0) {
		ret = -errno;
		tracefs_instance_remove(&i);
		return err_set(err, -ret, "tracefs: %s: %s", i.path, strerror(-ret));
	}
	*out = i;
	return 0;
}

void tracefs_instance_remove(struct tracefs_instance *i)
{
	if (i->fd >= 0)
		close(i->fd);
	if (i->root_fd >= 0 && i->path[0])
		instance_remove(i->root_fd, i->path);
	if (i->root_fd >= 0)
		close(i->root_fd);
	*i = (struct tracefs_instance){ .root_fd = -1, .fd = -1 };
}
