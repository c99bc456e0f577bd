/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/memory/buf.h"
#include "base/text/err.h"

#define FILE_READ_BYTES 65536u

/* Reads fd to its end. Returns 0, or -errno; out then holds the bytes read before the error. */
static int file_read_fd(int fd, size_t max_bytes, struct buf *out)
{
	for (;;) {
		ssize_t nr;
		int ret = buf_reserve(out, FILE_READ_BYTES + 1);

		if (ret)
			return ret;
		nr = read(fd, out->data + out->len, FILE_READ_BYTES);
		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return -errno;
		if (nr == 0)
			break;
		out->len += (size_t)nr;
		if (out->len > max_bytes)
			return -EFBIG;
	}
	out->data[out->len] = 0;
	return 0;
}

int file_read(const char *path, size_t max_bytes, struct buf *out, struct err *err)
{
	int fd, ret;

	buf_clear(out);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	ret = file_read_fd(fd, max_bytes, out);
	close(fd);
	if (!ret)
		return 0;
	buf_clear(out);
	if (ret == -EFBIG)
		return err_set(err, EFBIG, "%s: expected at most %zu bytes, the file has more",
			       path, max_bytes);
	return err_set(err, -ret, "%s: %s", path, strerror(-ret));
}
