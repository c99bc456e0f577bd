/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/spool_folder.h"
#include "base/system/durable.h"

static int folder_check_owner(int fd, const char *path, uid_t user, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	if (st.st_uid != user)
		return err_set(err, EPERM,
			       "%s: the spool belongs to user %u and the agent runs as user %u: "
			       "change its owner, or name another spool",
			       path, (unsigned int)st.st_uid, (unsigned int)user);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(
			err, EPERM,
			"%s: others than the agent's user may write to the spool (mode %04o): "
			"expected mode 0700",
			path, (unsigned int)(st.st_mode & 07777));
	return 0;
}

/*
 * Takes the lock, because one agent alone may use a spool. The lock vanishes with the process,
 * however the process ends.
 */
static int folder_lock(struct spool_folder *f, const char *path, uid_t user, struct err *err)
{
	struct stat st;

	f->lock_fd = openat(f->dir_fd, "lock",
			    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (f->lock_fd < 0 && errno == ELOOP)
		return err_set(err, EPERM,
			       "%s/lock: this is a symbolic link, which the agent does not follow: "
			       "remove it, and find out who made it",
			       path);
	if (f->lock_fd < 0)
		return err_set(err, errno, "%s: cannot write to the spool: %s", path,
			       strerror(errno));
	if (fstat(f->lock_fd, &st))
		return err_set(err, errno, "%s/lock: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_uid != user || st.st_nlink > 1)
		return err_set(
			err, EPERM,
			"%s/lock: expected a plain file of user %u with one name: remove it, "
			"and find out who made it",
			path, (unsigned int)user);
	if (flock(f->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(err, EBUSY, "%s: another agent uses this spool", path);
	return 0;
}

int spool_folder_again(struct spool_folder *f, const char *path, uid_t user, struct err *err)
{
	int ret;

	*f = (struct spool_folder){ -1, -1 };
	ret = durable_mkdir(path, err);
	if (ret < 0)
		return ret;
	f->dir_fd = ret;
	return folder_check_owner(f->dir_fd, path, user, err);
}

int spool_folder_open(struct spool_folder *f, const char *path, uid_t user, struct err *err)
{
	int ret = spool_folder_again(f, path, user, err);

	return ret ? ret : folder_lock(f, path, user, err);
}

void spool_folder_close(struct spool_folder *f)
{
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	if (f->dir_fd >= 0)
		close(f->dir_fd);
	*f = (struct spool_folder){ -1, -1 };
}

bool spool_folder_is_removed(const struct spool_folder *f)
{
	struct stat st;

	return !fstat(f->dir_fd, &st) && !st.st_nlink;
}
