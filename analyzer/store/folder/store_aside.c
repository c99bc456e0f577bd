/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/folder/store_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/segment_place.h"
#include "analyzer/store/store.h"

#define ASIDE_MAX_BYTES (1u << 20)

int store_aside_read(const struct store *s, struct buf *b, struct err *err)
{
	int ret = 0;

	buf_clear(b);
	if (faccessat(store_dir_fd(s), STORE_ASIDE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		ret = store_read_up_to(s, STORE_ASIDE, ASIDE_MAX_BYTES, b, err);
	return ret < 0 ? ret : buf_put_u8(b, 0);
}

bool store_aside_has(const struct buf *b, const char *path)
{
	const char *at = (const char *)b->data;
	size_t len = strlen(path);

	while (*at) {
		size_t line = strcspn(at, "\n");

		if (line == len && memcmp(at, path, len) == 0)
			return true;
		at += line + (at[line] == '\n');
	}
	return false;
}

int store_aside_add(const struct store *s, const char *path, struct err *err)
{
	char line[SEGMENT_PATH_MAX + 2];
	int len = snprintf(line, sizeof(line), "%.*s\n", SEGMENT_PATH_MAX, path);
	int fd = openat(store_dir_fd(s), STORE_ASIDE,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	int ret = fd < 0 ? -errno : write_whole(fd, line, (size_t)len);

	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	if (ret == 0)
		ret = sync_folder(store_dir_fd(s), ".");
	return ret == 0
		       ? 0
		       : err_set(err, -ret, "%s/" STORE_ASIDE ": %s", store_dir(s), strerror(-ret));
}
