/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/durable.h"

/* After this many interruptions in a row of one file, an interruption counts as an error. */
#define MAX_INTERRUPTIONS 1000

const struct durable_calls durable_libc = { write, fsync };

static int write_all(int fd, const char *data, size_t len, const struct durable_calls *calls)
{
	unsigned int interrupted = 0;

	while (len > 0) {
		ssize_t nr = calls->write(fd, data, len);

		if (nr < 0 && errno == EINTR && ++interrupted < MAX_INTERRUPTIONS)
			continue;
		if (nr < 0)
			return -errno;
		if (nr == 0)
			return -ENOSPC;
		data += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/* Writes the file once. Nothing is left behind on failure. */
static int write_temporary(int dir_fd, const char *name, const void *data, size_t len,
			   const struct durable_calls *calls)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write_all(fd, data, len, calls);
	if (ret)
		goto out;
	if (calls->fsync(fd))
		ret = -errno;
	if (ret)
		goto out;
	if (close(fd))
		ret = -errno;
out:
	if (ret)
		unlinkat(dir_fd, name, 0);
	return ret;
}

/* Returns whether writing a new file can help. It cannot where the disk has no room. */
static bool is_worth_a_rewrite(int ret)
{
	return ret == -EIO || ret == -EINTR || ret == -EAGAIN;
}

int durable_write(int dir_fd, const char *name, const void *data, size_t len,
		  const struct durable_calls *calls)
{
	char temporary[NAME_MAX + 1];
	int ret;

	if (!calls)
		calls = &durable_libc;
	if ((size_t)snprintf(temporary, sizeof(temporary), "%s" DURABLE_TEMPORARY, name) >=
	    sizeof(temporary))
		return -ENAMETOOLONG;
	unlinkat(dir_fd, temporary, 0);
	ret = write_temporary(dir_fd, temporary, data, len, calls);
	if (is_worth_a_rewrite(ret))
		ret = write_temporary(dir_fd, temporary, data, len, calls);
	if (ret)
		return ret;
	if (renameat(dir_fd, temporary, dir_fd, name)) {
		ret = -errno;
		unlinkat(dir_fd, temporary, 0);
		return ret;
	}
	if (calls->fsync(dir_fd)) {
		/*
		 * It is unknown whether the name would survive a power cut, so the file must not
		 * stay. A file that cannot be removed counts as stored.
		 */
		ret = -errno;
		if (unlinkat(dir_fd, name, 0))
			ret = 0;
	}
	return ret;
}

int durable_sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
	char parent[PATH_MAX];
	int fd, ret;

	if (len >= sizeof(parent))
		return -ENAMETOOLONG;
	memcpy(parent, path, len);
	parent[len] = 0;
	fd = open(len ? parent : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fsync(fd) ? -errno : 0;
	close(fd);
	return ret;
}

/* Makes a folder and syncs its parent, so that the new name survives a power cut. */
static int make_one(const char *path)
{
	if (mkdir(path, 0700))
		return errno == EEXIST ? 0 : -errno;
	return durable_sync_parent(path);
}

int durable_mkdir(const char *path, struct err *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);
	int fd, ret;

	if (!len || len >= sizeof(part))
		return err_set(err, ENAMETOOLONG, "%.80s...: expected the path of a folder", path);
	memcpy(part, path, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (part[i] && part[i] != '/')
			continue;
		part[i] = 0;
		ret = make_one(part);
		if (ret)
			return err_set(err, -ret, "%s: cannot make the folder: %s", path,
				       strerror(-ret));
		if (i < len)
			part[i] = '/';
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "%s: %s: expected a folder", path, strerror(errno));
	return fd;
}
