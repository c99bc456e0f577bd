/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/engine/cluster_url.h"
#include "analyzer/store/store_home.h"
#include "analyzer/store/store_replace.h"

bool store_is_folder(const char *name)
{
	return !cluster_url_is(name);
}

int store_open_for(struct store **out, const char *dir, enum store_use use, struct err *err)
{
	struct store *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return err_set(err, ENOMEM, "out of memory");
	s->home = store_is_folder(dir) ? &store_home_folder : &store_home_cluster;
	s->writer = use != STORE_TO_READ;
	s->fd = -1;
	s->dir = strdup(dir);
	ret = s->dir ? s->home->open(s, use, err) : -ENOMEM;
	if (ret < 0)
		store_close(s);
	else
		*out = s;
	return ret;
}

int store_open(struct store **out, const char *dir, bool create, struct err *err)
{
	return store_open_for(out, dir, create ? STORE_TO_KEEP : STORE_TO_READ, err);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	catalog_close(s->catalog);
	s->home->close(s);
	free(s->dir);
	free(s);
}

const char *store_dir(const struct store *s)
{
	return s->dir;
}

int store_dir_fd(const struct store *s)
{
	return s->fd;
}

struct catalog *store_catalog(struct store *s)
{
	return s->catalog;
}

const struct store_sync *store_sync_result(const struct store *s)
{
	return &s->sync;
}

const struct journal_recovery *store_recovery(const struct store *s)
{
	return &s->recovery;
}

int store_sync(struct store *s, struct err *err)
{
	return s->home->sync(s, err);
}

int store_refresh(struct store *s, struct err *err)
{
	return s->home->refresh(s, err);
}

int store_read_up_to(const struct store *s, const char *path, size_t limit, struct buf *b,
		     struct err *err)
{
	return s->home->read(s, path, limit, b, err);
}

int store_read(const struct store *s, const char *path, struct buf *b, struct err *err)
{
	return s->home->read(s, path, SEGMENT_MAX_BYTES, b, err);
}

int store_file(const struct store *s, const char *path, const struct buf *data,
	       char out[STORE_FILE_MAX], struct err *err)
{
	return s->home->file(s, path, data, out, err);
}

void store_file_done(const struct store *s, const char *file)
{
	s->home->file_done(s, file);
}

void store_space(const struct store *s, uint64_t *nr_inodes, uint64_t *bytes)
{
	s->home->space(s, nr_inodes, bytes);
}

int store_lock(struct store *s, enum store_lock which, int *token, struct err *err)
{
	return s->home->lock(s, which, token, err);
}

void store_unlock(struct store *s, enum store_lock which, int token)
{
	s->home->unlock(s, which, token);
}

int store_hash(struct store *s, const struct segment_name *n, struct segment_hash *out)
{
	return s->home->hash(s, n, out);
}

void store_take_out(struct store *s, const struct segment_name *names, size_t nr)
{
	s->home->take_out(s, names, nr);
}

int store_replace(struct store *s, const struct store_replacement *r, struct err *err)
{
	return s->home->replace(s, r, err);
}

int store_compact(struct store *s, const struct store_compaction *how,
		  struct compact_counts *counts, struct err *err)
{
	return s->home->compact ? s->home->compact(s, how, counts, err) : 0;
}
