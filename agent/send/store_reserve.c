/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/send/store_reserve.h"

int store_reserve_init(struct store_reserve *r, const char *dir, const char *host)
{
	*r = (struct store_reserve){ NULL, 0 };
	return asprintf(&r->prefix, "%s/agent/%s.reserve", dir, host) < 0 ? -ENOMEM : 0;
}

static void reserve_path(const struct store_reserve *r, size_t i, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s.%02zu", r->prefix, i);
}

static int reserve_write(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t nr = write(fd, data, len);

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return nr ? -errno : -ENOSPC;
		data += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/*
 * Whether an earlier run that was killed has left a whole file: its blocks are allocated, and
 * neither its content nor its durability matters. Using it again saves the start an fsync(2) per
 * file, each of which can take a second on a busy disk.
 */
static bool reserve_is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	       st.st_uid == geteuid() && st.st_size == STORE_RESERVE_BYTES &&
	       st.st_blocks * 512 >= STORE_RESERVE_BYTES;
}

/* Writes bytes that are not zero, so that no file system leaves their blocks out. */
static int reserve_make(const char *path)
{
	char bytes[STORE_RESERVE_BYTES];
	int fd, ret;

	memset(bytes, 'r', sizeof(bytes));
	unlinkat(AT_FDCWD, path, 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = reserve_write(fd, bytes, sizeof(bytes));
	if (ret)
		goto out;
	if (fsync(fd))
		ret = -errno;
out:
	close(fd);
	if (ret)
		unlinkat(AT_FDCWD, path, 0);
	return ret;
}

void store_reserve_fill(struct store_reserve *r)
{
	char path[PATH_MAX];

	while (r->nr < STORE_RESERVE_FILES) {
		reserve_path(r, r->nr, path);
		if (!reserve_is_there(path) && reserve_make(path))
			return;
		r->nr++;
	}
}

int store_reserve_use(struct store_reserve *r, int dir_fd, const char *name, const void *data,
		      size_t len)
{
	char path[PATH_MAX];
	int fd, ret;

	if (len > STORE_RESERVE_BYTES)
		return -EFBIG;
	if (!r->nr)
		return -ENOSPC;
	reserve_path(r, --r->nr, path);
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = reserve_write(fd, data, len);
	if (!ret && (ftruncate(fd, (off_t)len) || fsync(fd)))
		ret = -errno;
	close(fd);
	if (!ret && renameat(AT_FDCWD, path, dir_fd, name))
		ret = -errno;
	if (ret) {
		unlinkat(AT_FDCWD, path, 0);
		return ret;
	}
	/* The file counts from now on, whether or not its name would survive a power cut. */
	if (fsync(dir_fd))
		errno = 0;
	return 0;
}

void store_reserve_release(struct store_reserve *r)
{
	char path[PATH_MAX];

	while (r->prefix && r->nr) {
		reserve_path(r, --r->nr, path);
		unlinkat(AT_FDCWD, path, 0);
	}
	free(r->prefix);
	r->prefix = NULL;
}
