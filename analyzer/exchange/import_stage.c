// SPDX-License-Identifier: Apache-2.0
#include "analyzer/exchange/import_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/store/intake/ingest.h"
#include "analyzer/store/store.h"
#include "base/memory/array.h"

static int import_stage_fail(const struct import_stage *g, int code, struct err *err)
{
	return err_set(err, code, "%s: %s", g->dir, strerror(code));
}

/* On a file system without unnamed files, a file is made and its name is removed. */
static int open_unnamed(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char path[4096];

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if (snprintf(path, sizeof(path), "%s/.import-XXXXXX", dir) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkstemp(path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int import_stage_init(struct import_stage *g, const char *dir, struct err *err)
{
	const char *temporary = getenv("TMPDIR");

	*g = (struct import_stage){ .fd = -1 };
	g->dir = strdup(dir);
	if (!g->dir)
		return err_set(err, ENOMEM, "out of memory");
	if (!store_is_folder(dir)) {
		g->fd = open_unnamed(temporary ? temporary : "/tmp");
		return g->fd < 0 ? err_set(err, errno, "%s: %s", temporary ? temporary : "/tmp",
					   strerror(errno))
				 : 0;
	}
	g->made = mkdir(dir, 0700) == 0;
	if (!g->made && errno != EEXIST)
		return import_stage_fail(g, errno, err);
	g->fd = open_unnamed(dir);
	return g->fd < 0 ? import_stage_fail(g, errno, err) : 0;
}

void import_stage_release(struct import_stage *g)
{
	if (g->fd >= 0)
		close(g->fd);
	if (g->made)
		rmdir(g->dir);
	free(g->dir);
	free(g->items);
	*g = (struct import_stage){ .fd = -1 };
}

static int add_item(struct import_stage *g, uint64_t len)
{
	if (array_grow(&g->items, &g->cap, g->nr + 1, sizeof(*g->items)))
		return -ENOMEM;
	g->items[g->nr++] = (struct staged){ g->bytes, len };
	g->bytes += len;
	return 0;
}

int import_stage_add(struct import_stage *g, const struct buf *segment, struct err *err)
{
	size_t done = 0;

	while (done < segment->len) {
		ssize_t nr = pwrite(g->fd, segment->data + done, segment->len - done,
				    (off_t)(g->bytes + done));

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr < 0)
			return import_stage_fail(g, errno, err);
		done += (size_t)nr;
	}
	return add_item(g, segment->len) < 0 ? err_set(err, ENOMEM, "out of memory") : 0;
}

static int read_item(struct import_stage *g, size_t i, struct buf *b, struct err *err)
{
	buf_clear(b);
	if (buf_reserve(b, g->items[i].len) < 0)
		return err_set(err, ENOMEM, "out of memory");
	while (b->len < g->items[i].len) {
		ssize_t nr = pread(g->fd, b->data + b->len, g->items[i].len - b->len,
				   (off_t)(g->items[i].offset + b->len));

		if (nr < 0 && errno == EINTR)
			continue;
		if (nr <= 0)
			return import_stage_fail(g, nr < 0 ? errno : EIO, err);
		b->len += (size_t)nr;
	}
	return 0;
}

/* Checks that the store has each of the segments, or nothing under its name. */
static int look_ahead(struct import_stage *g, struct store *store, struct buf *b, struct err *err)
{
	for (size_t i = 0; i < g->nr; i++) {
		struct segment_reader *reader;
		struct segment_hash mine, known;
		struct segment_name name;
		int ret = read_item(g, i, b, err);

		if (ret == 0)
			ret = segment_reader_new(&reader, b->data, b->len, err);
		if (ret < 0)
			return ret;
		ret = segment_name_of(&name, segment_reader_header(reader), err);
		segment_reader_free(reader);
		if (ret < 0)
			return ret;
		mine = segment_hash_of(b->data, b->len);
		if (store_hash(store, &name, &known) == 0 &&
		    memcmp(known.bytes, mine.bytes, sizeof(mine.bytes)) != 0)
			return err_set(err, EEXIST,
				       "%s: holds a trace that begins as this one does and goes on "
				       "differently: segments/%s/%s; take that out first",
				       g->dir, name.host, name.boot_id);
	}
	return 0;
}

static int put_all(struct import_stage *g, struct store *store, struct buf *b,
		   struct import_stored *out, struct err *err)
{
	struct segment_name *names = calloc(g->nr + 1, sizeof(*names));
	struct ingest *ingest = NULL;
	int ret = names ? ingest_new_in(&ingest, store, err) : -ENOMEM;

	for (size_t i = 0; i < g->nr && ret == 0; i++) {
		struct ingest_result result;

		ret = read_item(g, i, b, err);
		if (ret == 0)
			ret = ingest_put(ingest, NULL, b->data, b->len, &result, err);
		if (ret == 0 && result.stored) {
			names[out->nr_stored++] = result.name;
			out->stored_bytes += b->len;
		} else if (ret == 0) {
			out->nr_repeated++;
		}
	}
	ingest_free(ingest); /* otherwise its journal would restore what is removed here */
	if (ret < 0 && names)
		store_take_out(store, names, out->nr_stored);
	free(names);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
}

int import_stage_commit(struct import_stage *g, struct import_stored *out, struct err *err)
{
	struct store *store = NULL;
	struct buf b;
	int ret = store_open_for(&store, g->dir, STORE_TO_FILL, err);

	*out = (struct import_stored){ 0 };
	if (ret < 0)
		return ret;
	g->made = false;
	buf_init(&b);
	ret = look_ahead(g, store, &b, err);
	if (ret == 0)
		ret = put_all(g, store, &b, out, err);
	buf_release(&b);
	store_close(store);
	return ret;
}
