// SPDX-License-Identifier: Apache-2.0
#include "analyzer/replay/mimic_target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static int device_bytes(const char *path, uint64_t *bytes, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, bytes) < 0)
		ret = err_set(err, errno, "%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

int mimic_target(struct mimic_options *o, const char *path, struct err *err)
{
	struct stat st;

	/* fio separates names at colons and options at line ends; ; and # begin comments. */
	if (!path[0] || strpbrk(path, ":;#\n\\$"))
		return err_set(err, EINVAL,
			       "%.200s: expected a path that a job of fio can hold, "
			       "without : ; # $ and backslash",
			       path);
	o->target = path;
	o->directory = false;
	o->target_bytes = 0;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_set(err, errno, "%s: %s", path, strerror(errno));
	if (S_ISBLK(st.st_mode))
		return device_bytes(path, &o->target_bytes, err);
	o->directory = S_ISDIR(st.st_mode);
	if (!o->directory && !S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "%s: expected a block device, a file or a folder",
			       path);
	return 0;
}
