// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/period/page_kept.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define FILE_NAME "page.sqlite"
#define ITEM_MAX  (32u << 20) /* a longer item is not kept */
#define PATH_ROOM 4096
#define WAIT_MS	  2000
#define FAST	  1 /* level of zstd */

enum { KEPT_GET, KEPT_FIND, KEPT_PUT, KEPT_OLDEST, KEPT_DELETE, NR_KEPT };

static const char *const kept_sql[NR_KEPT] = {
	"SELECT data FROM kept WHERE key = ?",
	"SELECT level, length(data) FROM kept WHERE key = ?",
	"INSERT OR REPLACE INTO kept(key, level, data) VALUES(?, ?, ?)",
	"SELECT id, length(data) FROM kept WHERE level = ? ORDER BY id LIMIT 1",
	"DELETE FROM kept WHERE id = ?",
};

struct page_kept {
	pthread_mutex_t lock;
	sqlite3 *db; /* NULL: nothing is kept */
	sqlite3_stmt *prepared[NR_KEPT];
	ZSTD_CCtx *packer;
	uint64_t bytes[PAGE_KEPT_LEVELS], most;
	uint64_t secret;
};

/* Returns whether the secret of the file could be read. */
static bool page_kept_read_secret(struct page_kept *k)
{
	sqlite3_stmt *s = NULL;
	bool whole =
		sqlite3_prepare_v2(k->db, "SELECT value FROM secret", -1, &s, NULL) == SQLITE_OK &&
		sqlite3_step(s) == SQLITE_ROW;

	if (whole)
		k->secret = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return whole;
}

static bool page_kept_tables(struct page_kept *k)
{
	static const char sql[] =
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096;"
		"CREATE TABLE IF NOT EXISTS kept("
		"id INTEGER PRIMARY KEY, key INTEGER UNIQUE, level INTEGER, data BLOB);"
		"CREATE INDEX IF NOT EXISTS kept_level ON kept(level, id);"
		"CREATE TABLE IF NOT EXISTS secret(id INTEGER PRIMARY KEY, value INTEGER);"
		"INSERT OR IGNORE INTO secret VALUES(1, random())";
	sqlite3_stmt *sums = NULL;
	bool whole =
		sqlite3_exec(k->db, sql, NULL, NULL, NULL) == SQLITE_OK && page_kept_read_secret(k);

	for (int i = 0; i < NR_KEPT && whole; i++)
		whole = sqlite3_prepare_v3(k->db, kept_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
					   &k->prepared[i], NULL) == SQLITE_OK;
	if (whole)
		whole = sqlite3_prepare_v2(
				k->db, "SELECT level, sum(length(data)) FROM kept GROUP BY level",
				-1, &sums, NULL) == SQLITE_OK;
	while (whole && sqlite3_step(sums) == SQLITE_ROW) {
		int level = sqlite3_column_int(sums, 0);

		if (level >= 0 && level < PAGE_KEPT_LEVELS)
			k->bytes[level] = (uint64_t)sqlite3_column_int64(sums, 1);
	}
	/* The return value tells how the reading ended. */
	return sqlite3_finalize(sums) == SQLITE_OK && whole;
}

static void page_kept_leave(struct page_kept *k)
{
	for (int i = 0; i < NR_KEPT; i++) {
		sqlite3_finalize(k->prepared[i]);
		k->prepared[i] = NULL;
	}
	sqlite3_close(k->db);
	k->db = NULL;
	memset(k->bytes, 0, sizeof(k->bytes));
}

/*
 * path "" is a temporary file, which the system removes with this process. Returns SQLITE_OK, or
 * why it cannot be used.
 */
static int page_kept_try(struct page_kept *k, const char *path)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_NOFOLLOW;
	int fd = path[0] ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	int code;

	if (fd >= 0)
		close(fd); /* SQLite makes its other files with the mode of this one. */
	if (sqlite3_open_v2(path, &k->db, flags, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(k->db, WAIT_MS);
		if (page_kept_tables(k))
			return SQLITE_OK;
	}
	code = sqlite3_errcode(k->db);
	page_kept_leave(k);
	return code == SQLITE_OK ? SQLITE_ERROR : code;
}

/* Opens the cache of a store, which is made again where it is damaged or of another form. */
static void page_kept_try_store(struct page_kept *k, const char *path)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	int code = page_kept_try(k, path);
	char name[PATH_ROOM + 8];

	if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB && code != SQLITE_ERROR)
		return; /* Another serve may be using it. */
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, files[i]);
		unlink(name);
	}
	page_kept_try(k, path);
}

int page_kept_open(struct page_kept **out, const char *dir)
{
	struct page_kept *k = calloc(1, sizeof(*k));
	char path[PATH_ROOM];
	struct stat st;

	if (!k)
		return -ENOMEM;
	k->packer = ZSTD_createCCtx();
	if (!k->packer) {
		free(k);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(k->packer, ZSTD_c_compressionLevel, FAST);
	ZSTD_CCtx_setParameter(k->packer, ZSTD_c_checksumFlag, 1);
	pthread_mutex_init(&k->lock, NULL);
	k->most = PAGE_KEPT_BYTES;
	if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode) && access(dir, W_OK) == 0 &&
	    (size_t)snprintf(path, sizeof(path), "%s/" FILE_NAME, dir) < sizeof(path))
		page_kept_try_store(k, path);
	if (!k->db)
		page_kept_try(k, "");
	*out = k;
	return 0;
}

void page_kept_close(struct page_kept *k)
{
	if (!k)
		return;
	page_kept_leave(k);
	ZSTD_freeCCtx(k->packer);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

uint64_t page_kept_secret(const struct page_kept *k)
{
	return k->secret;
}

void page_kept_bound(struct page_kept *k, uint64_t bytes)
{
	pthread_mutex_lock(&k->lock);
	k->most = bytes;
	pthread_mutex_unlock(&k->lock);
}

/* Returns the statement with its first value bound. The caller holds the lock. */
static sqlite3_stmt *page_kept_with(struct page_kept *k, int which, uint64_t value)
{
	sqlite3_stmt *s = k->prepared[which];

	sqlite3_reset(s);
	sqlite3_bind_int64(s, 1, (sqlite3_int64)value);
	return s;
}

/* Counts bytes that left a level. The caller holds the lock. */
static void page_kept_less(struct page_kept *k, int level, uint64_t bytes)
{
	if (level >= 0 && level < PAGE_KEPT_LEVELS)
		k->bytes[level] -= bytes < k->bytes[level] ? bytes : k->bytes[level];
}

/*
 * Removes the oldest items of a level beyond the bound. Returns false on an error of the disk. The
 * caller holds the lock.
 */
static bool page_kept_trim(struct page_kept *k, unsigned int level)
{
	bool whole = true;

	while (whole && k->bytes[level] > k->most) {
		sqlite3_stmt *oldest = page_kept_with(k, KEPT_OLDEST, level);
		int code = sqlite3_step(oldest);
		uint64_t id = (uint64_t)sqlite3_column_int64(oldest, 0);
		uint64_t len = (uint64_t)sqlite3_column_int64(oldest, 1);

		sqlite3_reset(oldest);
		if (code == SQLITE_ROW) {
			code = sqlite3_step(page_kept_with(k, KEPT_DELETE, id));
			sqlite3_reset(k->prepared[KEPT_DELETE]);
			page_kept_less(k, (int)level, len);
		} else {
			k->bytes[level] = 0;
		}
		whole = code == SQLITE_DONE;
	}
	return whole;
}

/* Takes the bytes of the item with the key, if there is one, off its level. */
static void page_kept_replace(struct page_kept *k, uint64_t key)
{
	sqlite3_stmt *s = page_kept_with(k, KEPT_FIND, key);

	if (sqlite3_step(s) == SQLITE_ROW)
		page_kept_less(k, sqlite3_column_int(s, 0), (uint64_t)sqlite3_column_int64(s, 1));
	sqlite3_reset(s);
}

/* Returns false on an error of the disk. */
static bool page_kept_add(struct page_kept *k, const struct page_kept_item *item)
{
	size_t room = ZSTD_compressBound(item->len), len;
	void *packed = item->len <= ITEM_MAX ? malloc(room) : NULL;
	bool whole = true;
	sqlite3_stmt *s;

	len = packed ? ZSTD_compress2(k->packer, packed, room, item->data, item->len) : 0;
	if (!packed || ZSTD_isError(len))
		goto out;
	page_kept_replace(k, item->key);
	s = page_kept_with(k, KEPT_PUT, item->key);
	sqlite3_bind_int(s, 2, (int)item->level);
	sqlite3_bind_blob64(s, 3, packed, len, SQLITE_STATIC);
	whole = sqlite3_step(s) == SQLITE_DONE;
	k->bytes[item->level] += len;
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
out:
	free(packed);
	return whole;
}

void page_kept_put(struct page_kept *k, const struct page_kept_item *items, size_t nr)
{
	uint64_t before[PAGE_KEPT_LEVELS];
	bool whole = true;

	pthread_mutex_lock(&k->lock);
	if (!k->db || sqlite3_exec(k->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		goto out;
	memcpy(before, k->bytes, sizeof(before));
	for (size_t i = 0; i < nr && whole; i++)
		whole = page_kept_add(k, &items[i]);
	for (unsigned int level = 0; level < PAGE_KEPT_LEVELS && whole; level++)
		whole = page_kept_trim(k, level);
	if (whole)
		whole = sqlite3_exec(k->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
	if (!whole) {
		sqlite3_exec(k->db, "ROLLBACK", NULL, NULL, NULL);
		memcpy(k->bytes, before, sizeof(before));
	}
out:
	pthread_mutex_unlock(&k->lock);
}

bool page_kept_has(struct page_kept *k, uint64_t key)
{
	bool has;

	pthread_mutex_lock(&k->lock);
	has = k->db && sqlite3_step(page_kept_with(k, KEPT_FIND, key)) == SQLITE_ROW;
	if (k->db)
		sqlite3_reset(k->prepared[KEPT_FIND]);
	pthread_mutex_unlock(&k->lock);
	return has;
}

/* Unpacks an item into out, which is empty. */
static bool page_kept_unpack(const void *packed, size_t len, struct buf *out)
{
	unsigned long long size = packed ? ZSTD_getFrameContentSize(packed, len) : ITEM_MAX + 1ull;

	if (size > ITEM_MAX || buf_reserve(out, (size_t)size + 1) < 0 ||
	    ZSTD_decompress(out->data, (size_t)size, packed, len) != size)
		return false;
	out->len = (size_t)size;
	return true;
}

bool page_kept_get(struct page_kept *k, uint64_t key, struct buf *out)
{
	bool found = false;
	sqlite3_stmt *s;

	buf_clear(out);
	pthread_mutex_lock(&k->lock);
	s = k->db ? page_kept_with(k, KEPT_GET, key) : NULL;
	if (s && sqlite3_step(s) == SQLITE_ROW)
		found = page_kept_unpack(sqlite3_column_blob(s, 0),
					 (size_t)sqlite3_column_bytes(s, 0), out);
	if (s)
		sqlite3_reset(s);
	pthread_mutex_unlock(&k->lock);
	return found;
}
