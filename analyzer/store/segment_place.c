/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/segment_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/store.h"

void placer_init(struct placer *p, int dir_fd)
{
	memset(p, 0, sizeof(*p));
	p->dir_fd = dir_fd;
}

static int sync_opened(int dir_fd, const char *path, int flags)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int sync_path(int dir_fd, const char *path)
{
	return sync_opened(dir_fd, path, 0);
}

int sync_folder(int dir_fd, const char *path)
{
	return sync_opened(dir_fd, path, O_DIRECTORY);
}

int segment_place_sync(int dir_fd, const struct segment_name *n)
{
	char path[SEGMENT_PATH_MAX];
	char *slash;
	int ret;

	segment_name_path(n, path);
	ret = sync_path(dir_fd, path);
	while (ret == 0 && (slash = strrchr(path, '/'))) {
		*slash = '\0';
		ret = sync_path(dir_fd, path);
	}
	return ret ? ret : sync_path(dir_fd, ".");
}

static char *folder_slot(struct placer *p, const char *path)
{
	uint32_t sum = 5381;

	for (const char *c = path; *c; c++)
		sum = sum * 33 + (unsigned char)*c;
	return p->folders[sum % PLACER_NR_FOLDERS];
}

/* Makes the missing folders of path. */
static int make_folders(struct placer *p, const char *path)
{
	char part[SEGMENT_PATH_MAX];
	const char *at = path;

	if (strcmp(folder_slot(p, path), path) == 0)
		return 0;
	while (*at) {
		size_t len = (size_t)(at - path) + strcspn(at, "/");

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		if (mkdirat(p->dir_fd, part, 0700) < 0 && errno != EEXIST)
			return -errno;
		at = path + len + (path[len] == '/');
	}
	snprintf(folder_slot(p, path), SEGMENT_PATH_MAX, "%s", path);
	return 0;
}

int write_whole(int fd, const void *data, size_t len)
{
	const uint8_t *at = data;
	unsigned int interrupted = 0;

	while (len) {
		ssize_t nr = write(fd, at, len);

		if (nr < 0 && errno == EINTR && ++interrupted < STORE_MAX_INTERRUPTIONS)
			continue;
		if (nr < 0)
			return -errno;
		at += nr;
		len -= (size_t)nr;
	}
	return 0;
}

/*
 * Never replaces an existing file, because another process may write to the same store. On a file
 * system that cannot guarantee this, only the look before protects it.
 */
static int rename_new(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return renameat(dir_fd, from, dir_fd, to) == 0 ? 0 : -errno;
}

static int write_file(int dir_fd, const char *temporary, const char *path, const void *data,
		      size_t len, bool replace)
{
	int fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0600);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write_whole(fd, data, len);
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && !replace)
		ret = rename_new(dir_fd, temporary, path);
	else if (ret == 0 && renameat(dir_fd, temporary, dir_fd, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(dir_fd, temporary, 0);
	return ret;
}

int placer_put(struct placer *p, const struct segment_name *n, const void *data, size_t len,
	       bool replace)
{
	char folder[SEGMENT_PATH_MAX], path[SEGMENT_PATH_MAX], temporary[SEGMENT_PATH_MAX + 64];
	int ret;

	segment_name_folder(n, folder);
	segment_name_path(n, path);
	snprintf(temporary, sizeof(temporary), "%s/.%010llu.%ld.%llu.tmp", folder,
		 (unsigned long long)n->sequence, (long)getpid(),
		 (unsigned long long)p->nr_temporary++);
	/* Tries again where another program deleted the folder. */
	for (int tries = 0; tries < 2; tries++) {
		ret = make_folders(p, folder);
		if (ret == 0)
			ret = write_file(p->dir_fd, temporary, path, data, len, replace);
		if (ret != -ENOENT)
			break;
		folder_slot(p, folder)[0] = '\0';
	}
	return ret;
}
