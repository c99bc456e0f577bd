/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/folder/folder_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/segment_place.h"

/* Writes a temporary file. After an error, which is returned as -errno, no file is left. */
static int folder_write_temporary(int dir_fd, const char *path, const struct buf *data)
{
	int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write_whole(fd, data->data, data->len);
	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(dir_fd, path, 0);
	return ret;
}

struct folder_paths {
	struct segment_name first;
	char folder[SEGMENT_PATH_MAX], path[SEGMENT_PATH_MAX], temporary[SEGMENT_PATH_MAX + 64];
};

static void folder_paths_make(const struct summary *all, struct folder_paths *p)
{
	p->first.epoch = all->epoch;
	p->first.sequence = all->members[0].sequence;
	memcpy(p->first.host, all->host, sizeof(p->first.host));
	memcpy(p->first.boot_id, all->boot_id, sizeof(p->first.boot_id));
	segment_name_folder(&p->first, p->folder);
	summary_path(&p->first, all->generation, p->path);
	snprintf(p->temporary, sizeof(p->temporary), "%s/.%010" PRIu64 ".%ld.%" PRIu64 ".tmp",
		 p->folder, p->first.sequence, (long)getpid(), all->generation);
}

static void folder_take_back(int dir_fd, const struct folder_paths *p)
{
	unlinkat(dir_fd, p->path, 0);
	sync_folder(dir_fd, p->folder);
}

/* Makes the file appear whole and durable under its name, or not at all. */
static int folder_put_file(int dir_fd, const struct folder_paths *p, const struct buf *data)
{
	int ret = folder_write_temporary(dir_fd, p->temporary, data);

	if (ret < 0)
		return ret;
	if (renameat(dir_fd, p->temporary, dir_fd, p->path) < 0) {
		ret = -errno;
		unlinkat(dir_fd, p->temporary, 0);
		return ret;
	}
	ret = sync_folder(dir_fd, p->folder);
	if (ret < 0)
		folder_take_back(dir_fd, p);
	return ret;
}

/*
 * Removes the rows that the summary replaces. Usually one call removes the whole range, because no
 * other segment lies in it.
 */
static int folder_remove_rows(struct store *s, const struct store_replacement *r, struct err *err)
{
	struct catalog *c = store_catalog(s);
	const struct segment_facts *f = r->facts;
	uint64_t nr = 0;
	int ret = 0;

	for (size_t i = 0; i < r->nr_replaced && ret == 0; i++)
		ret = catalog_remove_summary(c, &r->replaced[i].first, err);
	if (ret == 0)
		ret = catalog_count_range(c, &f->name, f->last_sequence, &nr, err);
	if (ret == 0 && nr == r->nr_names)
		return catalog_remove_range(c, &f->name, f->last_sequence, err);
	for (size_t i = 0; i < r->nr_names && ret == 0; i++)
		ret = catalog_remove(c, &r->names[i], err);
	return ret;
}

static int folder_change_catalog(struct store *s, const struct store_replacement *r,
				 struct err *err)
{
	struct catalog *c = store_catalog(s);
	const struct segment_facts *f = r->facts;
	int ret = catalog_begin(c, err);

	if (ret < 0)
		return ret;
	ret = folder_remove_rows(s, r, err);
	if (ret == 0)
		ret = catalog_put(c, f, err);
	if (ret == 0)
		ret = catalog_commit(c, err);
	if (ret < 0)
		catalog_rollback(c);
	return ret;
}

/* A file that stays is superseded, and the next opening of the store removes it. */
static void folder_remove_files(int dir_fd, const struct store_replacement *r,
				const struct folder_paths *p)
{
	char path[SEGMENT_PATH_MAX];

	for (size_t i = 0; i < r->nr_names; i++) {
		segment_name_path(&r->names[i], path);
		unlinkat(dir_fd, path, 0);
	}
	for (size_t i = 0; i < r->nr_replaced; i++) {
		summary_path(&r->replaced[i].first, r->replaced[i].generation, path);
		unlinkat(dir_fd, path, 0);
	}
	sync_folder(dir_fd, p->folder);
}

int folder_replace(struct store *s, const struct store_replacement *r, struct err *err)
{
	int dir_fd = store_dir_fd(s), ret;
	struct folder_paths p;

	folder_paths_make(r->summary, &p);
	ret = folder_put_file(dir_fd, &p, r->data);
	if (ret < 0)
		return err_set(err, -ret, "%s/%s: %s", store_dir(s), p.path, strerror(-ret));
	ret = folder_change_catalog(s, r, err);
	if (ret < 0) {
		folder_take_back(dir_fd, &p);
		return ret;
	}
	folder_remove_files(dir_fd, r, &p);
	return 0;
}
