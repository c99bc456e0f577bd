// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/question/page_saved.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/serve/access/page_login.h"
#include "base/system/clock.h"

#define FILE_NAME  "saved.sqlite"
#define PATH_ROOM  4096
#define HOST_BYTES 256 /* of one name in a list of hosts; longer ones permit nobody */
#define WAIT_MS	   2000

enum {
	SAVED_LIST,
	SAVED_GET,
	SAVED_SIZES,
	SAVED_OWN,
	SAVED_NAMED,
	SAVED_PUT,
	SAVED_DELETE,
	NR_SAVED
};

#define SAVED_ROW "id, name, ask, hosts, at_s, verdict, conclusion"

static const char *const saved_sql[NR_SAVED] = {
	"SELECT " SAVED_ROW " FROM saved WHERE owner = ?1 ORDER BY rowid DESC",
	"SELECT " SAVED_ROW ", data FROM saved WHERE owner = ?1 AND id = ?2",
	"SELECT count(*), total(bytes) FROM saved",
	"SELECT hosts, bytes FROM saved WHERE owner = ?1",
	"SELECT hosts FROM saved WHERE owner = ?1 AND name = ?2",
	"INSERT INTO saved(owner, id, name, ask, hosts, at_s, verdict, conclusion, bytes, data) "
	"VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?10, ?9)",
	"DELETE FROM saved WHERE owner = ?1 AND id = ?2",
};

struct page_saved {
	pthread_mutex_t lock; /* guards all below */
	sqlite3 *db;	      /* NULL: nothing can be saved */
	sqlite3_stmt *prepared[NR_SAVED];
	char refusal[ERR_LINE_BYTES]; /* why nothing can be saved */
};

/* Returns false where the file is damaged, or of another form. */
static bool page_saved_tables(struct page_saved *s)
{
	static const char sql[] =
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
		"CREATE TABLE IF NOT EXISTS saved(owner TEXT NOT NULL, id TEXT PRIMARY KEY, "
		"name TEXT NOT NULL, ask TEXT NOT NULL, hosts TEXT NOT NULL, at_s INTEGER NOT NULL, "
		"verdict TEXT, conclusion TEXT, bytes INTEGER NOT NULL, data TEXT NOT NULL, "
		"UNIQUE(owner, name))";

	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return false;
	for (int i = 0; i < NR_SAVED; i++)
		if (sqlite3_prepare_v3(s->db, saved_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &s->prepared[i], NULL) != SQLITE_OK)
			return false;
	return true;
}

static void page_saved_leave(struct page_saved *s)
{
	for (int i = 0; i < NR_SAVED; i++)
		sqlite3_finalize(s->prepared[i]);
	sqlite3_close(s->db);
	s->db = NULL;
}

static void page_saved_open_file(struct page_saved *s, const char *path, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_NOFOLLOW;
	/* SQLite makes its other files with the mode of this one. */
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0) {
		err_set(err, errno, "%s: %s", path, strerror(errno));
		return;
	}
	close(fd);
	if (sqlite3_open_v2(path, &s->db, flags, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(s->db, WAIT_MS);
		if (page_saved_tables(s))
			return;
	}
	err_set(err, EIO, "%s: %s", path, sqlite3_errmsg(s->db));
	page_saved_leave(s);
}

int page_saved_open(struct page_saved **out, const char *dir, struct err *err)
{
	struct page_saved *s = calloc(1, sizeof(*s));
	struct err why = { 0 };
	char path[PATH_ROOM];
	struct stat st;

	if (!s)
		return err_set(err, ENOMEM, "no memory for what is saved");
	pthread_mutex_init(&s->lock, NULL);
	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode)) {
		/*
		 * A serve of a cluster reports this when somebody wants to save, and not at each
		 * start.
		 */
		snprintf(s->refusal, sizeof(s->refusal),
			 "nothing can be saved here: the store has no folder of its own");
	} else if ((size_t)snprintf(path, sizeof(path), "%s/" FILE_NAME, dir) < sizeof(path)) {
		page_saved_open_file(s, path, &why);
		if (!s->db)
			snprintf(s->refusal, sizeof(s->refusal),
				 "nothing can be saved here: the file of it cannot be used");
	}
	if (!s->db && why.code && err)
		*err = why;
	*out = s;
	return 0;
}

void page_saved_close(struct page_saved *s)
{
	if (!s)
		return;
	page_saved_leave(s);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Returns the statement with the owner and one more text bound, each unless it is NULL. */
static sqlite3_stmt *page_saved_with(struct page_saved *s, int which, const char *owner,
				     const char *text)
{
	sqlite3_stmt *statement = s->prepared[which];

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	if (owner)
		sqlite3_bind_text(statement, 1, owner, -1, SQLITE_TRANSIENT);
	if (text)
		sqlite3_bind_text(statement, 2, text, -1, SQLITE_TRANSIENT);
	return statement;
}

/* A name is a line of text without control characters. */
static bool page_saved_name_ok(const char *name)
{
	json_t *text = name ? json_string(name) : NULL; /* NULL where it is not UTF-8 */
	size_t len = name ? strlen(name) : 0;
	bool ok = text && len && len <= PAGE_SAVED_NAME && name[strspn(name, " ")];

	json_decref(text);
	for (size_t i = 0; i < len && ok; i++) {
		const unsigned char c = (unsigned char)name[i];

		/* The controls of ISO 8859-1, U+0080 to U+009F, are 0xc2 and one of these. */
		ok = c >= ' ' && c != 0x7f &&
		     !(c == 0xc2 && (unsigned char)name[i + 1] >= 0x80 &&
		       (unsigned char)name[i + 1] < 0xa0);
	}
	return ok;
}

/* Returns whether the reader may see every host of a list with commas. */
static bool page_saved_permits(const struct page_saved_reader *reader, const char *hosts)
{
	char host[HOST_BYTES];

	while (reader->permits && hosts && *hosts) {
		size_t len = strcspn(hosts, ",");

		if (len >= sizeof(host))
			return false;
		memcpy(host, hosts, len);
		host[len] = '\0';
		if (len && !reader->permits(reader->ctx, host))
			return false;
		hosts += len + (hosts[len] == ',');
	}
	return true;
}

/* A number of answers and their bytes. */
struct page_saved_sum {
	int nr;
	double bytes;
};

/*
 * Adds up the answers of all owners in all, and in own those of the reader that the reader may see.
 * Only what is seen can be deleted for the sake of room. The caller holds the lock.
 */
static int page_saved_sums(struct page_saved *s, const struct page_saved_reader *reader,
			   struct page_saved_sum *all, struct page_saved_sum *own, struct err *err)
{
	sqlite3_stmt *sizes = page_saved_with(s, SAVED_SIZES, NULL, NULL);
	sqlite3_stmt *rows = page_saved_with(s, SAVED_OWN, reader->owner, NULL);
	int code = sqlite3_step(sizes);

	if (code == SQLITE_ROW) {
		all->nr = sqlite3_column_int(sizes, 0);
		all->bytes = sqlite3_column_double(sizes, 1);
		while ((code = sqlite3_step(rows)) == SQLITE_ROW)
			if (page_saved_permits(reader,
					       (const char *)sqlite3_column_text(rows, 0))) {
				own->nr++;
				own->bytes += sqlite3_column_double(rows, 1);
			}
	}
	if (code != SQLITE_DONE)
		err_set(err, EIO, "what is saved cannot be read: %s", sqlite3_errmsg(s->db));
	sqlite3_reset(sizes);
	sqlite3_reset(rows);
	return code == SQLITE_DONE ? 0 : -EIO;
}

/* Checks the bounds. The caller holds the lock. */
static int page_saved_room(struct page_saved *s, const struct page_saved_reader *reader, size_t len,
			   struct err *err)
{
	struct page_saved_sum all = { 0 }, own = { 0 };
	int ret = page_saved_sums(s, reader, &all, &own, err);

	if (ret < 0)
		return ret;
	if (len > PAGE_SAVED_BYTES)
		return err_set(err, ENOSPC, "the answer has %zu bytes; at most %u can be saved",
			       len, PAGE_SAVED_BYTES);
	if (own.nr >= PAGE_SAVED_EACH || own.bytes + (double)len > PAGE_SAVED_EACH_BYTES)
		return err_set(err, ENOSPC,
			       "%d answers of %.1f MiB are saved, and no more can be; delete one",
			       own.nr, own.bytes / (1 << 20));
	/* Only its own bounds hold for the fleet, so that others cannot take its room. */
	if (strcmp(reader->owner, PAGE_ALL) != 0 &&
	    (all.nr >= PAGE_SAVED_ALL || all.bytes + (double)len > PAGE_SAVED_ALL_BYTES))
		return err_set(err, ENOSPC, "all readers together have saved as much as can be");
	return 0;
}

/* Checks that the owner has no answer of this name. The caller holds the lock. */
static int page_saved_unnamed(struct page_saved *s, const struct page_saved_reader *reader,
			      const char *name, struct err *err)
{
	sqlite3_stmt *named = page_saved_with(s, SAVED_NAMED, reader->owner, name);
	int ret = 0;

	if (sqlite3_step(named) == SQLITE_ROW)
		ret = err_set(
			err, EEXIST,
			page_saved_permits(reader, (const char *)sqlite3_column_text(named, 0))
				? "name: there is one of this name; delete it, or choose another name"
				: "name: one of this name is about a host that you may not see; choose "
				  "another name");
	sqlite3_reset(named);
	return ret;
}

static int page_saved_new_id(char id[PAGE_SAVED_ID])
{
	unsigned char random[(PAGE_SAVED_ID - 1) / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(id + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* The caller holds the lock, and has looked for room and for the name. */
static int page_saved_insert(struct page_saved *s, const char *owner, const char *id,
			     const char *name, const json_t *state, const char *data,
			     struct err *err)
{
	const json_t *words = json_object_get(state, "question");
	sqlite3_stmt *put = page_saved_with(s, SAVED_PUT, owner, id);
	const struct {
		int at;
		const char *text;
	} values[] = {
		{ 3, name },
		{ 4, json_string_value(json_object_get(words, "ask")) },
		{ 5, json_string_value(json_object_get(words, "host")) },
		{ 7, json_string_value(json_object_get(state, "verdict")) },
		{ 8, json_string_value(
			     json_object_get(json_object_get(state, "shown"), "conclusion")) },
		{ 9, data },
	};
	int code;

	sqlite3_bind_text(put, 5, "", -1, SQLITE_STATIC);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].text)
			sqlite3_bind_text(put, values[i].at, values[i].text, -1, SQLITE_STATIC);
	sqlite3_bind_int64(put, 6, (sqlite3_int64)(clock_real_ns() / CLOCK_NS_PER_S));
	sqlite3_bind_int64(put, 10, (sqlite3_int64)strlen(data));
	code = sqlite3_step(put);
	sqlite3_reset(put);
	sqlite3_clear_bindings(put);
	return code == SQLITE_DONE
		       ? 0
		       : err_set(err, EIO, "it cannot be saved: %s", sqlite3_errmsg(s->db));
}

/* Returns the part of a state that is kept, or NULL if memory is out. The caller frees it. */
static char *page_saved_text(const json_t *state)
{
	static const char *const keys[] = { "question", "command", "verdict",
					    "remarks",	"shown",   "answer" };
	json_t *kept = json_object();
	char *text = NULL;

	for (size_t i = 0; kept && i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(kept, keys[i], json_object_get(state, keys[i]));
	if (kept)
		text = json_dumps(kept, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(kept);
	return text;
}

int page_saved_put(struct page_saved *s, const struct page_saved_reader *reader, const char *name,
		   const json_t *state, char id[PAGE_SAVED_ID], struct err *err)
{
	const json_t *words = json_object_get(state, "question");
	char *text;
	int ret = 0;

	if (!page_saved_name_ok(name))
		return err_set(err, EINVAL, "name: expected one line of 1 to %d bytes",
			       PAGE_SAVED_NAME);
	if (!json_is_object(json_object_get(state, "shown")))
		return err_set(err, EINVAL, "id: this question has no answer that could be saved");
	/* It would be hidden at once, and so not counted. */
	if (!page_saved_permits(reader, json_string_value(json_object_get(words, "host"))))
		return err_set(err, EACCES, "question: you may not see a host of this question");
	if (!s->db)
		return err_set(err, EROFS, "%s", s->refusal);
	text = page_saved_text(state);
	if (!text || page_saved_new_id(id) < 0) {
		free(text);
		return err_set(err, ENOMEM, "memory is out; save it again");
	}
	pthread_mutex_lock(&s->lock);
	ret = page_saved_unnamed(s, reader, name, err);
	if (ret == 0)
		ret = page_saved_room(s, reader, strlen(text), err);
	if (ret == 0)
		ret = page_saved_insert(s, reader->owner, id, name, state, text, err);
	pthread_mutex_unlock(&s->lock);
	free(text);
	return ret;
}

/* Returns the columns of SAVED_ROW as an object, or NULL if the reader may not see the answer. */
static json_t *page_saved_row(sqlite3_stmt *row, const struct page_saved_reader *reader)
{
	if (!page_saved_permits(reader, (const char *)sqlite3_column_text(row, 3)))
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:f, s:s?, s:s?}", "id", sqlite3_column_text(row, 0),
			 "name", sqlite3_column_text(row, 1), "ask", sqlite3_column_text(row, 2),
			 "at_s", sqlite3_column_double(row, 4), "verdict",
			 sqlite3_column_text(row, 5), "conclusion", sqlite3_column_text(row, 6));
}

json_t *page_saved_list(struct page_saved *s, const struct page_saved_reader *reader)
{
	json_t *list = json_array(), *one;
	sqlite3_stmt *rows;

	pthread_mutex_lock(&s->lock);
	rows = s->db ? page_saved_with(s, SAVED_LIST, reader->owner, NULL) : NULL;
	while (rows && sqlite3_step(rows) == SQLITE_ROW) {
		one = page_saved_row(rows, reader);
		if (one)
			json_array_append_new(list, one);
	}
	if (rows)
		sqlite3_reset(rows);
	pthread_mutex_unlock(&s->lock);
	return json_pack("{s:s, s:s?, s:i, s:o}", "schema", "blkcast.saved_list/1", "refusal",
			 s->db ? NULL : s->refusal, "most", PAGE_SAVED_EACH, "saved", list);
}

json_t *page_saved_get(struct page_saved *s, const struct page_saved_reader *reader, const char *id)
{
	json_t *object = NULL, *kept = NULL;
	sqlite3_stmt *row;

	if (!s->db || !id)
		return NULL;
	pthread_mutex_lock(&s->lock);
	row = page_saved_with(s, SAVED_GET, reader->owner, id);
	if (sqlite3_step(row) == SQLITE_ROW) {
		object = page_saved_row(row, reader);
		if (object)
			kept = json_loads((const char *)sqlite3_column_text(row, 7), 0, NULL);
	}
	sqlite3_reset(row);
	pthread_mutex_unlock(&s->lock);
	if (!kept || json_object_set_new(object, "schema", json_string("blkcast.saved/1")) < 0 ||
	    json_object_update(object, kept) < 0) {
		json_decref(object);
		object = NULL;
	}
	json_object_del(object, "conclusion"); /* The conclusion is in "shown" here. */
	json_decref(kept);
	return object;
}

int page_saved_delete(struct page_saved *s, const char *owner, const char *id)
{
	int code, nr;

	if (!s->db || !id)
		return -ENOENT;
	pthread_mutex_lock(&s->lock);
	code = sqlite3_step(page_saved_with(s, SAVED_DELETE, owner, id));
	sqlite3_reset(s->prepared[SAVED_DELETE]);
	nr = sqlite3_changes(s->db);
	pthread_mutex_unlock(&s->lock);
	if (code != SQLITE_DONE)
		return -EIO;
	return nr ? 0 : -ENOENT;
}
