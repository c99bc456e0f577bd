// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/index/catalog.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/index/catalog_sql.h"
#include "analyzer/store/index/catalog_state.h"

#define APPLICATION_ID 0x626c6b63 /* "blkc" */
/* Another blkcast process may sync the same store; this is how long to wait for it. */
#define BUSY_TIMEOUT_MS 10000

static int errno_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return EBADMSG;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EACCES;
	case SQLITE_READONLY:
		return EROFS;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	default:
		return EIO;
	}
}

int catalog_fail(struct catalog *c, struct err *err)
{
	return err_set(err, errno_of(sqlite3_extended_errcode(c->db)), "catalog: %s",
		       sqlite3_errmsg(c->db));
}

static int catalog_run(struct catalog *c, const char *sql, struct err *err)
{
	return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : catalog_fail(c, err);
}

static int pragma_number(struct catalog *c, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(c->db, sql, -1, &s, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		*out = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return code == SQLITE_ROW ? 0 : catalog_fail(c, err);
}

/* Gives a new file the schema. An old file must belong to blkcast and have this version. */
static int check_schema(struct catalog *c, struct err *err)
{
	int64_t tables = 0, id = 0, version = 0;
	char sql[96];
	int ret = catalog_run(c, "BEGIN IMMEDIATE", err);

	if (ret < 0)
		return ret;
	ret = pragma_number(c, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (ret == 0)
		ret = pragma_number(c, "PRAGMA application_id", &id, err);
	if (ret == 0)
		ret = pragma_number(c, "PRAGMA user_version", &version, err);
	if (ret == 0 && tables == 0) {
		snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
			 APPLICATION_ID, CATALOG_VERSION);
		ret = catalog_run(c, schema, err);
		if (ret == 0)
			ret = catalog_run(c, sql, err);
	} else if (ret == 0 && (id != APPLICATION_ID || version != CATALOG_VERSION)) {
		ret = err_set(err, EBADMSG,
			      "catalog: expected version %d of blkcast's, got id %lld version %lld",
			      CATALOG_VERSION, (long long)id, (long long)version);
	}
	if (ret < 0) {
		sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
		return ret;
	}
	return catalog_run(c, "COMMIT", err);
}

int catalog_open(struct catalog **out, const char *path, struct err *err)
{
	struct catalog *c = calloc(1, sizeof(*c));
	int ret = -ENOMEM;

	if (!c)
		return -ENOMEM;
	if (sqlite3_open_v2(path ? path : ":memory:", &c->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
				    SQLITE_OPEN_NOFOLLOW,
			    NULL) != SQLITE_OK) {
		ret = c->db ? catalog_fail(c, err) : -ENOMEM;
		goto out;
	}
	sqlite3_busy_timeout(c->db, BUSY_TIMEOUT_MS);
	ret = catalog_run(c,
			  "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
			  "PRAGMA wal_autocheckpoint = 8000",
			  err);
	if (ret == 0)
		ret = check_schema(c, err);
out:
	if (ret < 0) {
		catalog_close(c);
		return ret;
	}
	*out = c;
	return 0;
}

void catalog_close(struct catalog *c)
{
	if (!c)
		return;
	for (int i = 0; i < NR_STATEMENTS; i++)
		sqlite3_finalize(c->prepared[i]);
	sqlite3_close(c->db);
	free(c);
}

int catalog_begin(struct catalog *c, struct err *err)
{
	return catalog_run(c, "BEGIN IMMEDIATE", err);
}

int catalog_commit(struct catalog *c, struct err *err)
{
	return catalog_run(c, "COMMIT", err);
}

void catalog_rollback(struct catalog *c)
{
	sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
}

sqlite3_stmt *catalog_statement(struct catalog *c, enum statement which, struct err *err)
{
	if (!c->prepared[which] &&
	    sqlite3_prepare_v3(c->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT,
			       &c->prepared[which], NULL) != SQLITE_OK) {
		catalog_fail(c, err);
		return NULL;
	}
	return c->prepared[which];
}

static void bind_name(sqlite3_stmt *s, const struct segment_name *n)
{
	sqlite3_bind_text(s, 1, n->host, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, 2, n->boot_id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(s, 3, (sqlite3_int64)n->epoch);
	sqlite3_bind_int64(s, 4, (sqlite3_int64)n->sequence);
}

/*
 * Times and counts of hostile files may exceed 2^63; the catalog then stores the largest number it
 * can.
 */
static void bind_u64(sqlite3_stmt *s, int at, uint64_t value)
{
	sqlite3_bind_int64(s, at, value > INT64_MAX ? INT64_MAX : (sqlite3_int64)value);
}

/* Executes a statement that gives no rows and makes it ready for the next use. */
static int catalog_finish(struct catalog *c, sqlite3_stmt *s, struct err *err)
{
	int code = sqlite3_step(s);
	int ret = code == SQLITE_DONE || code == SQLITE_ROW ? 0 : catalog_fail(c, err);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}

/* The sequence of a summary is stored as its complement, a negative number that no segment has. */
static void bind_facts(sqlite3_stmt *s, const struct segment_facts *f)
{
	bind_name(s, &f->name);
	if (f->generation)
		sqlite3_bind_int64(s, 4, (sqlite3_int64)~f->name.sequence);
}

/* Returns a time later than the one before, even where the clock was set back or stands still. */
static uint64_t received_now(struct catalog *c)
{
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	c->last_received_ns = ns > c->last_received_ns ? ns : c->last_received_ns + 1;
	return c->last_received_ns;
}

static int put_segment(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, PUT_SEGMENT, err);

	if (!s)
		return -EIO;
	bind_facts(s, f);
	sqlite3_bind_blob(s, 5, f->hash.bytes, sizeof(f->hash.bytes), SQLITE_STATIC);
	bind_u64(s, 6, f->file_bytes);
	bind_u64(s, 7, f->nr_requests);
	bind_u64(s, 8, f->nr_captured);
	sqlite3_bind_int(s, 9, f->source);
	sqlite3_bind_int(s, 10, f->layer);
	bind_u64(s, 11, f->begin.monotonic_ns);
	bind_u64(s, 12, f->begin.boottime_ns);
	bind_u64(s, 13, f->begin.realtime_ns);
	bind_u64(s, 14, f->end.monotonic_ns);
	bind_u64(s, 15, f->end.boottime_ns);
	bind_u64(s, 16, f->end.realtime_ns);
	bind_u64(s, 17, f->first_real_ns);
	bind_u64(s, 18, f->last_real_ns);
	bind_u64(s, 19, f->generation ? f->last_sequence : f->name.sequence);
	bind_u64(s, 20, f->generation);
	bind_u64(s, 21, f->generation ? f->nr_segments : 1);
	bind_u64(s, 22, f->segment_bytes);
	bind_u64(s, 23, f->nr_dropped);
	bind_u64(s, 24, f->dropped_begin_real_ns);
	bind_u64(s, 25, f->dropped_end_real_ns);
	bind_u64(s, 26, f->received_real_ns ? f->received_real_ns : received_now(c));
	bind_u64(s, 27, f->nr_untimed);
	return catalog_finish(c, s, err);
}

static int put_devices(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, PUT_DEVICE, err);
	int ret = s ? 0 : -EIO;

	for (size_t i = 0; i < f->nr_devices && ret == 0; i++) {
		const struct device_facts *d = &f->devices[i];

		bind_facts(s, f);
		sqlite3_bind_int64(s, 5, d->device);
		sqlite3_bind_text(s, 6, d->name, -1, SQLITE_STATIC);
		bind_u64(s, 7, d->size_bytes);
		for (int op = 0; op < NR_OPERATIONS; op++) {
			bind_u64(s, 8 + op, d->requests[op]);
			bind_u64(s, 8 + NR_OPERATIONS + op, d->bytes[op]);
		}
		ret = catalog_finish(c, s, err);
	}
	return ret;
}

static int put_losses(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, PUT_LOSS, err);
	int ret = s ? 0 : -EIO;

	for (size_t i = 0; i < f->ledger.nr && ret == 0; i++) {
		const struct loss *l = &f->ledger.losses[i];

		bind_facts(s, f);
		sqlite3_bind_int(s, 5, l->cause);
		bind_u64(s, 6, l->count);
		sqlite3_bind_int(s, 7, l->count_known);
		sqlite3_bind_int64(s, 8, l->device);
		bind_u64(s, 9, l->begin_real_ns);
		bind_u64(s, 10, l->end_real_ns);
		ret = catalog_finish(c, s, err);
	}
	return ret;
}

static int catalog_drop(struct catalog *c, enum statement which, const struct segment_name *n,
			struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, which, err);

	if (!s)
		return -EIO;
	bind_name(s, n);
	return catalog_finish(c, s, err);
}

int catalog_remove(struct catalog *c, const struct segment_name *n, struct err *err)
{
	int ret = catalog_run(c, "SAVEPOINT remove", err);

	if (ret < 0)
		return ret;
	ret = catalog_drop(c, DROP_DEVICES, n, err);
	if (ret == 0)
		ret = catalog_drop(c, DROP_LOSSES, n, err);
	if (ret == 0)
		ret = catalog_drop(c, DROP_SEGMENT, n, err);
	if (ret < 0)
		sqlite3_exec(c->db, "ROLLBACK TO remove", NULL, NULL, NULL);
	if (sqlite3_exec(c->db, "RELEASE remove", NULL, NULL, NULL) != SQLITE_OK && ret == 0)
		ret = catalog_fail(c, err);
	return ret;
}

int catalog_remove_summary(struct catalog *c, const struct segment_name *n, struct err *err)
{
	struct segment_name turned = *n;

	turned.sequence = ~n->sequence;
	return catalog_remove(c, &turned, err);
}

static int drop_range(struct catalog *c, enum statement which, const struct segment_name *first,
		      uint64_t last, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, which, err);

	if (!s)
		return -EIO;
	bind_name(s, first);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)last);
	return catalog_finish(c, s, err);
}

int catalog_remove_range(struct catalog *c, const struct segment_name *first, uint64_t last,
			 struct err *err)
{
	int ret = drop_range(c, DROP_DEVICES_RANGE, first, last, err);

	if (ret == 0)
		ret = drop_range(c, DROP_LOSSES_RANGE, first, last, err);
	if (ret == 0)
		ret = drop_range(c, DROP_SEGMENTS_RANGE, first, last, err);
	return ret;
}

int catalog_count_range(struct catalog *c, const struct segment_name *first, uint64_t last,
			uint64_t *nr, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, COUNT_RANGE, err);
	int ret = 0;

	if (!s)
		return -EIO;
	bind_name(s, first);
	sqlite3_bind_int64(s, 5, (sqlite3_int64)last);
	if (sqlite3_step(s) == SQLITE_ROW)
		*nr = (uint64_t)sqlite3_column_int64(s, 0);
	else
		ret = catalog_fail(c, err);
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}

/* Returns whether there may be rows of this name, which must be removed first. */
static bool is_there(struct catalog *c, const struct segment_facts *f)
{
	struct segment_hash known;

	return f->generation || catalog_hash(c, &f->name, &known, NULL) != -ENOENT;
}

int catalog_put(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	int ret = catalog_run(c, "SAVEPOINT put", err);

	if (ret < 0)
		return ret;
	/*
	 * The devices and losses of a segment are removed with it. Usually there is nothing to
	 * remove.
	 */
	if (is_there(c, f))
		ret = f->generation ? catalog_remove_summary(c, &f->name, err)
				    : catalog_remove(c, &f->name, err);
	if (ret == 0)
		ret = put_segment(c, f, err);
	if (ret == 0)
		ret = put_devices(c, f, err);
	if (ret == 0)
		ret = put_losses(c, f, err);
	if (ret < 0)
		sqlite3_exec(c->db, "ROLLBACK TO put", NULL, NULL, NULL);
	if (sqlite3_exec(c->db, "RELEASE put", NULL, NULL, NULL) != SQLITE_OK && ret == 0)
		ret = catalog_fail(c, err);
	return ret;
}

int catalog_hash(struct catalog *c, const struct segment_name *n, struct segment_hash *out,
		 struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, GET_HASH, err);
	int code, ret = -ENOENT;

	if (!s)
		return -EIO;
	bind_name(s, n);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW && sqlite3_column_bytes(s, 0) == sizeof(out->bytes)) {
		memcpy(out->bytes, sqlite3_column_blob(s, 0), sizeof(out->bytes));
		ret = 0;
	} else if (code != SQLITE_ROW && code != SQLITE_DONE) {
		ret = catalog_fail(c, err);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}

int catalog_put_damaged(struct catalog *c, const char *path, uint64_t mtime_ns, uint64_t file_bytes,
			const char *why, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, PUT_DAMAGED, err);

	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
	bind_u64(s, 2, mtime_ns);
	bind_u64(s, 3, file_bytes);
	sqlite3_bind_text(s, 4, why, -1, SQLITE_STATIC);
	return catalog_finish(c, s, err);
}

bool catalog_is_damaged(struct catalog *c, const char *path, uint64_t mtime_ns, uint64_t file_bytes)
{
	sqlite3_stmt *s = catalog_statement(c, GET_DAMAGED, NULL);
	bool found;

	if (!s)
		return false;
	sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
	bind_u64(s, 2, mtime_ns);
	bind_u64(s, 3, file_bytes);
	found = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return found;
}

int catalog_forget_damaged(struct catalog *c, const char *path, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, DROP_DAMAGED, err);

	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
	return catalog_finish(c, s, err);
}

int catalog_host(struct catalog *c, const char *host, struct catalog_host *out, struct err *err)
{
	sqlite3_stmt *s = catalog_statement(c, GET_HOST, err);
	int code, ret = 0;

	*out = (struct catalog_host){ .nr_inodes = 0 };
	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, host, -1, SQLITE_STATIC);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW) {
		out->nr_inodes = (uint64_t)sqlite3_column_int64(s, 0);
		out->bytes = (uint64_t)sqlite3_column_int64(s, 1);
		out->day = (uint64_t)sqlite3_column_int64(s, 2);
		out->nr_segments = (uint64_t)sqlite3_column_int64(s, 3);
	} else if (code != SQLITE_DONE) {
		ret = catalog_fail(c, err);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return ret;
}
