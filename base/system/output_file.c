/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* A flag of the whole process, as the one of stop.h is. */
static atomic_bool output_file_discards;

void output_file_discard(void)
{
	output_file_discards = true;
}

static void output_file_release(struct output_file *o)
{
	free(o->path);
	free(o->beside);
	*o = (struct output_file){ .out = NULL };
}

/* Returns advice about a file that cannot be written. */
static const char *output_file_advice(int code)
{
	switch (code) {
	case ENOENT:
	case ENOTDIR:
		return "make its folder first, or name another path";
	case EISDIR:
		return "name a file in this folder";
	case EACCES:
	case EPERM:
	case EROFS:
		return "name a path where you may write both the file and its folder";
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return "make room, or name another path";
	default:
		return "name another path";
	}
}

static int output_file_refuse(struct err *err, int code, const char *name)
{
	return err_set(err, code, "%s: the file cannot be written: %s; %s", name, strerror(code),
		       output_file_advice(code));
}

static int output_file_partial(struct err *err, int code, const char *name)
{
	return err_set(err, code, "%s: it cannot be written in full: %s; %s", name, strerror(code),
		       output_file_advice(code));
}

/*
 * Names the file beside the destination. The name is random, so that nobody else who may write to
 * the folder can put something there first.
 */
static int output_file_beside(struct output_file *o, char *path)
{
	uint64_t name;

	o->path = path;
	if (getrandom(&name, sizeof(name), 0) != (ssize_t)sizeof(name))
		return -EIO;
	if (!path || asprintf(&o->beside, "%s.%016" PRIx64 ".tmp", path, name) < 0) {
		o->beside = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* Returns where a link leads that leads to no file yet, or NULL where path is no link. */
static char *output_file_target(const char *path)
{
	const char *slash = strrchr(path, '/');
	char target[PATH_MAX], *joined;
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len < 0)
		return NULL;
	target[len] = '\0';
	if (target[0] == '/' || !slash)
		return strdup(target);
	return asprintf(&joined, "%.*s/%s", (int)(slash - path), path, target) < 0 ? NULL : joined;
}

static bool output_file_is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && st->st_dev == out.st_dev && st->st_ino == out.st_ino;
}

/*
 * Finds the path to write to, which stays NULL for standard output by any name. The file may
 * already exist and be reached by symbolic links. *old receives its attributes, or a mode of 0
 * where there is no regular file yet.
 */
static int output_file_find(struct output_file *o, const char *path, struct stat *old)
{
	char *target;
	int ret;

	if (stat(path, old)) {
		if (errno != ENOENT)
			return -errno;
		old->st_mode = 0;
		target = output_file_target(path);
		if (!target)
			return output_file_beside(o, strdup(path));
		ret = output_file_find(o, target, old);
		free(target);
		return ret;
	}
	if (S_ISDIR(old->st_mode))
		return -EISDIR;
	if (output_file_is_stdout(old))
		return 0;
	if (!S_ISREG(old->st_mode)) {
		old->st_mode = 0;
		o->path = strdup(path);
		return o->path ? 0 : -ENOMEM;
	}
	/* A rename would replace a file that is protected against writing. */
	if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return -errno;
	target = realpath(path, NULL);
	return target ? output_file_beside(o, target) : -errno;
}

/*
 * Opens the file beside the destination. It gets the owner of the old file and at most its rights.
 * A file system without owners refuses them, and the file is then its writer's. Returns the
 * descriptor or -errno.
 */
static int output_file_open_beside(const struct output_file *o, mode_t mode, const struct stat *old)
{
	int fd = open(o->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		      old->st_mode ? 0600 : mode);

	if (fd < 0)
		return -errno;
	if (old->st_mode) {
		if (!geteuid())
			(void)!fchown(fd, old->st_uid, old->st_gid);
		(void)!fchmod(fd, old->st_mode & mode & 0777);
	}
	return fd;
}

int output_file_begin(struct output_file *o, const char *path, mode_t mode, struct err *err)
{
	struct stat old = { .st_mode = 0 };
	int ret, fd;

	*o = (struct output_file){ .name = path };
	ret = output_file_find(o, output_file_discards ? "/dev/null" : path, &old);
	if (ret)
		goto fail;
	if (o->beside) {
		fd = output_file_open_beside(o, mode, &old);
	} else {
		fflush(stdout);
		fd = o->path ? open(o->path, O_WRONLY | O_CLOEXEC)
			     : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	ret = fd;
	if (fd < 0)
		goto fail;
	o->out = fdopen(fd, "w");
	if (o->out)
		return 0;
	ret = -errno;
	close(fd);
	if (o->beside)
		unlink(o->beside);
fail:
	output_file_release(o);
	return output_file_refuse(err, -ret, path);
}

int output_file_end(struct output_file *o, int status, struct err *err)
{
	bool failed;
	int code;

	errno = 0;
	failed = fflush(o->out) || ferror(o->out);
	code = errno ? errno : EIO;
	if (fclose(o->out) && !failed) {
		failed = true;
		code = errno;
	}
	if (failed && !status)
		status = output_file_partial(err, code, o->name);
	if (o->beside && !status && rename(o->beside, o->path))
		status = output_file_refuse(err, errno, o->name);
	if (o->beside && status)
		unlink(o->beside);
	output_file_release(o);
	return status;
}

static bool output_file_is(const char *path, const struct stat *st)
{
	struct stat own;

	return !stat(path, &own) && st->st_dev == own.st_dev && st->st_ino == own.st_ino;
}

/* Returns whether path, which must exist and is cut here, is the folder or lies in it. */
static bool output_file_is_below(char *path, const struct stat *folder)
{
	char *slash;

	for (;;) {
		if (output_file_is(*path ? path : "/", folder))
			return true;
		slash = strrchr(path, '/');
		if (!slash)
			return false;
		*slash = '\0';
	}
}

bool output_file_hits(const char *path, const char *input)
{
	struct output_file o = { .name = path };
	struct stat in, old = { .st_mode = 0 };
	char *slash, *folder = NULL;
	bool hits = false;

	/* Without a file beside it, the destination is a device, a pipe or standard output. */
	if (stat(input, &in) || output_file_find(&o, path, &old) || !o.beside)
		goto out;
	if (!S_ISDIR(in.st_mode)) {
		hits = output_file_is(o.path, &in);
		goto out;
	}
	slash = strrchr(o.path, '/');
	if (slash)
		*slash = '\0';
	folder = realpath(!slash ? "." : *o.path ? o.path : "/", NULL);
	hits = folder && output_file_is_below(folder, &in);
out:
	free(folder);
	output_file_release(&o);
	return hits;
}

int output_file_save(const struct buf *text, const char *path, struct err *err)
{
	struct output_file file = { .out = stdout };
	const char *name = path ? path : "standard output";
	int ret = text->error;

	if (ret)
		return err_set(err, -ret, "%s: there is not enough memory for the text", name);
	ret = path ? output_file_begin(&file, path, 0666, err) : 0;
	if (ret)
		return ret;
	errno = 0;
	if (fwrite(text->data, 1, text->len, file.out) != text->len || fflush(file.out))
		ret = output_file_partial(err, errno ? errno : EIO, name);
	return path ? output_file_end(&file, ret, err) : ret;
}
