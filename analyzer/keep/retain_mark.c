/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/keep/retain_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/folder/store_aside.h"
#include "analyzer/store/segment_place.h"

#define MARK_MAX_BYTES 512
#define MARK_NR_DEATHS 2 /* a single death may have been a kill by somebody */

/* Parses HOST BOOT_ID EPOCH FIRST LAST NUMBER DEATHS. A mark that cannot be read is ignored. */
static bool mark_parse(struct retain_mark *m, const char *text)
{
	int end = 0;

	return sscanf(text,
		      "%63s %63s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 "%n",
		      m->first.host, m->first.boot_id, &m->first.epoch, &m->first.sequence,
		      &m->last_sequence, &m->nr_segments, &m->nr_deaths, &end) == 7 &&
	       text[end] == '\n' && segment_name_check(&m->first, NULL) == 0;
}

int retain_mark_open(struct retain_mark *m, const struct store *store, struct err *err)
{
	char path[SEGMENT_PATH_MAX];
	struct buf text;
	int ret;

	*m = (struct retain_mark){ .store = store };
	if (faccessat(store_dir_fd(store), RETAIN_MARK, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	buf_init(&text);
	ret = store_read_up_to(store, RETAIN_MARK, MARK_MAX_BYTES, &text, err);
	if (ret == 0)
		ret = buf_put_u8(&text, 0);
	if (ret == 0)
		m->is_found = mark_parse(m, (const char *)text.data);
	buf_release(&text);
	if (m->is_found && m->nr_segments == 1 && ++m->nr_deaths >= MARK_NR_DEATHS) {
		segment_name_path(&m->first, path);
		ret = store_aside_add(store, path, err);
		m->is_found = false;
		if (ret == 0)
			retain_mark_clear(m);
	}
	return ret;
}

bool retain_mark_suspects(const struct retain_mark *m, const struct segment_name *n)
{
	return m->is_found && segment_name_same_stream(&m->first, n) &&
	       n->sequence >= m->first.sequence && n->sequence <= m->last_sequence;
}

int retain_mark_set(struct retain_mark *m, const struct segment_name *segments, size_t nr,
		    struct err *err)
{
	const struct segment_name *first = segments;
	bool is_again = nr == 1 && retain_mark_suspects(m, first);
	char text[MARK_MAX_BYTES];
	int fd, len, ret;

	len = snprintf(text, sizeof(text),
		       "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %zu %" PRIu64 "\n", first->host,
		       first->boot_id, first->epoch, first->sequence, segments[nr - 1].sequence, nr,
		       is_again ? (m->nr_segments == 1 ? m->nr_deaths : 1) : 0);
	if (store_dir_fd(m->store) < 0) /* a cluster keeps no mark: its lease ends by itself */
		return 0;
	fd = openat(store_dir_fd(m->store), RETAIN_MARK,
		    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	ret = fd < 0 ? -errno : write_whole(fd, text, (size_t)len);
	if (fd >= 0)
		close(fd);
	/*
	 * The mark is not synced: the mark of a process that dies stays without a sync, and a power
	 * cut must not accuse any segment.
	 */
	return ret == 0 ? 0
			: err_set(err, -ret, "%s/" RETAIN_MARK ": %s", store_dir(m->store),
				  strerror(-ret));
}

void retain_mark_clear(struct retain_mark *m)
{
	unlinkat(store_dir_fd(m->store), RETAIN_MARK, 0);
}
