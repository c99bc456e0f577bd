/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
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

/* Finds the path to write to. The file may already exist and be reached by symbolic links. */
static int find_place(struct output_file *o, const char *path)
{
	struct stat st;

	if (stat(path, &st)) {
		o->path = strdup(path);
		if (!o->path || asprintf(&o->beside, "%s.%ld.tmp", path, (long)getpid()) < 0)
			return -ENOMEM;
		return 0;
	}
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode)) {
		o->path = strdup(path);
		return o->path ? 0 : -ENOMEM;
	}
	o->path = realpath(path, NULL);
	if (!o->path)
		return -errno;
	if (asprintf(&o->beside, "%s.%ld.tmp", o->path, (long)getpid()) < 0)
		return -ENOMEM;
	return 0;
}

int output_file_begin(struct output_file *o, const char *path, mode_t mode, struct err *err)
{
	int ret, fd = -1;

	*o = (struct output_file){ .name = path };
	ret = find_place(o, output_file_discards ? "/dev/null" : path);
	if (!ret) {
		fd = o->beside ? open(o->beside,
				      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode)
			       : open(o->path, O_WRONLY | O_CLOEXEC);
		o->out = fd >= 0 ? fdopen(fd, "w") : NULL;
		ret = o->out ? 0 : -errno;
	}
	if (!ret)
		return 0;
	if (fd >= 0)
		close(fd);
	output_file_release(o);
	return err_set(err, -ret, "%s: %s", path, strerror(-ret));
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
		status = err_set(err, code, "%s: cannot be written in full: %s", o->name,
				 strerror(code));
	if (o->beside && !status && rename(o->beside, o->path))
		status = err_set(err, errno, "%s: %s", o->name, strerror(errno));
	if (o->beside && status)
		unlink(o->beside);
	output_file_release(o);
	return status;
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
	if (fwrite(text->data, 1, text->len, file.out) != text->len || fflush(file.out)) {
		int code = errno ? errno : EIO;

		ret = err_set(err, code, "%s: cannot be written in full: %s", name, strerror(code));
	}
	return path ? output_file_end(&file, ret, err) : ret;
}
