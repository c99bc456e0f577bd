// SPDX-License-Identifier: Apache-2.0
#include "analyzer/store/catalog.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/catalog_sql.h"

#define APPLICATION_ID	0x626c6b63 /* "blkc" */
#define BUSY_TIMEOUT_MS 10000	   /* another blkcast syncs the same store */

struct catalog {
	sqlite3 *db;
	sqlite3_stmt *prepared[NR_STATEMENTS];
};

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

static int fail(struct catalog *c, struct err *err)
{
	return err_set(err, errno_of(sqlite3_extended_errcode(c->db)), "catalog: %s",
		       sqlite3_errmsg(c->db));
}

static int run(struct catalog *c, const char *sql, struct err *err)
{
	return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(c, err);
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
	return code == SQLITE_ROW ? 0 : fail(c, err);
}

/* A new file gets the schema; an old one must be ours and of this version. */
static int check_schema(struct catalog *c, struct err *err)
{
	int64_t tables = 0, id = 0, version = 0;
	char sql[96];
	int status = run(c, "BEGIN IMMEDIATE", err);

	if (status < 0)
		return status;
	status = pragma_number(c, "SELECT count(*) FROM sqlite_master", &tables, err);
	if (status == 0)
		status = pragma_number(c, "PRAGMA application_id", &id, err);
	if (status == 0)
		status = pragma_number(c, "PRAGMA user_version", &version, err);
	if (status == 0 && tables == 0) {
		snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
			 APPLICATION_ID, CATALOG_VERSION);
		status = run(c, schema, err);
		if (status == 0)
			status = run(c, sql, err);
	} else if (status == 0 && (id != APPLICATION_ID || version != CATALOG_VERSION)) {
		status = err_set(
			err, EBADMSG,
			"catalog: expected version %d of blkcast's, got id %lld version %lld",
			CATALOG_VERSION, (long long)id, (long long)version);
	}
	if (status < 0) {
		sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
		return status;
	}
	return run(c, "COMMIT", err);
}

int catalog_open(struct catalog **out, const char *path, struct err *err)
{
	struct catalog *c = calloc(1, sizeof(*c));
	int status = -ENOMEM;

	if (!c)
		return -ENOMEM;
	if (sqlite3_open_v2(path ? path : ":memory:", &c->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK) {
		status = c->db ? fail(c, err) : -ENOMEM;
		goto out;
	}
	sqlite3_busy_timeout(c->db, BUSY_TIMEOUT_MS);
	status = run(
		c,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8000",
		err);
	if (status == 0)
		status = check_schema(c, err);
out:
	if (status < 0) {
		catalog_close(c);
		return status;
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
	return run(c, "BEGIN IMMEDIATE", err);
}

int catalog_commit(struct catalog *c, struct err *err)
{
	return run(c, "COMMIT", err);
}

void catalog_rollback(struct catalog *c)
{
	sqlite3_exec(c->db, "ROLLBACK", NULL, NULL, NULL);
}

/* The statement, ready to be bound; NULL after filling err. */
static sqlite3_stmt *statement(struct catalog *c, enum statement which, struct err *err)
{
	if (!c->prepared[which] &&
	    sqlite3_prepare_v3(c->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT,
			       &c->prepared[which], NULL) != SQLITE_OK) {
		fail(c, err);
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

/* Times and counts of hostile files may pass 2^63; the catalog keeps the nearest it can. */
static void bind_u64(sqlite3_stmt *s, int at, uint64_t value)
{
	sqlite3_bind_int64(s, at, value > INT64_MAX ? INT64_MAX : (sqlite3_int64)value);
}

/* Runs a statement that gives no rows and makes it ready again. */
static int finish(struct catalog *c, sqlite3_stmt *s, struct err *err)
{
	int code = sqlite3_step(s);
	int status = code == SQLITE_DONE || code == SQLITE_ROW ? 0 : fail(c, err);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return status;
}

static int put_segment(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	sqlite3_stmt *s = statement(c, PUT_SEGMENT, err);

	if (!s)
		return -EIO;
	bind_name(s, &f->name);
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
	return finish(c, s, err);
}

static int put_devices(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	sqlite3_stmt *s = statement(c, PUT_DEVICE, err);
	int status = s ? 0 : -EIO;

	for (size_t i = 0; i < f->nr_devices && status == 0; i++) {
		const struct device_facts *d = &f->devices[i];

		bind_name(s, &f->name);
		sqlite3_bind_int64(s, 5, d->device);
		sqlite3_bind_text(s, 6, d->name, -1, SQLITE_STATIC);
		bind_u64(s, 7, d->size_bytes);
		for (int op = 0; op < NR_OPERATIONS; op++) {
			bind_u64(s, 8 + op, d->requests[op]);
			bind_u64(s, 8 + NR_OPERATIONS + op, d->bytes[op]);
		}
		status = finish(c, s, err);
	}
	return status;
}

static int put_losses(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	sqlite3_stmt *s = statement(c, PUT_LOSS, err);
	int status = s ? 0 : -EIO;

	for (size_t i = 0; i < f->ledger.nr && status == 0; i++) {
		const struct loss *l = &f->ledger.losses[i];

		bind_name(s, &f->name);
		sqlite3_bind_int(s, 5, l->cause);
		bind_u64(s, 6, l->count);
		sqlite3_bind_int(s, 7, l->count_known);
		sqlite3_bind_int64(s, 8, l->device);
		bind_u64(s, 9, l->begin_real_ns);
		bind_u64(s, 10, l->end_real_ns);
		status = finish(c, s, err);
	}
	return status;
}

static int drop(struct catalog *c, enum statement which, const struct segment_name *n,
		struct err *err)
{
	sqlite3_stmt *s = statement(c, which, err);

	if (!s)
		return -EIO;
	bind_name(s, n);
	return finish(c, s, err);
}

int catalog_remove(struct catalog *c, const struct segment_name *n, struct err *err)
{
	int status = run(c, "SAVEPOINT remove", err);

	if (status < 0)
		return status;
	status = drop(c, DROP_DEVICES, n, err);
	if (status == 0)
		status = drop(c, DROP_LOSSES, n, err);
	if (status == 0)
		status = drop(c, DROP_SEGMENT, n, err);
	if (status < 0)
		sqlite3_exec(c->db, "ROLLBACK TO remove", NULL, NULL, NULL);
	if (sqlite3_exec(c->db, "RELEASE remove", NULL, NULL, NULL) != SQLITE_OK && status == 0)
		status = fail(c, err);
	return status;
}

int catalog_put(struct catalog *c, const struct segment_facts *f, struct err *err)
{
	struct segment_hash known;
	int status = run(c, "SAVEPOINT put", err);

	if (status < 0)
		return status;
	/* Devices and losses of a segment come and go with it: mostly there is nothing to remove. */
	status = catalog_hash(c, &f->name, &known, NULL) == -ENOENT
			 ? 0
			 : catalog_remove(c, &f->name, err);
	if (status == 0)
		status = put_segment(c, f, err);
	if (status == 0)
		status = put_devices(c, f, err);
	if (status == 0)
		status = put_losses(c, f, err);
	if (status < 0)
		sqlite3_exec(c->db, "ROLLBACK TO put", NULL, NULL, NULL);
	if (sqlite3_exec(c->db, "RELEASE put", NULL, NULL, NULL) != SQLITE_OK && status == 0)
		status = fail(c, err);
	return status;
}

int catalog_hash(struct catalog *c, const struct segment_name *n, struct segment_hash *out,
		 struct err *err)
{
	sqlite3_stmt *s = statement(c, GET_HASH, err);
	int code, status = -ENOENT;

	if (!s)
		return -EIO;
	bind_name(s, n);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW && sqlite3_column_bytes(s, 0) == sizeof(out->bytes)) {
		memcpy(out->bytes, sqlite3_column_blob(s, 0), sizeof(out->bytes));
		status = 0;
	} else if (code != SQLITE_ROW && code != SQLITE_DONE) {
		status = fail(c, err);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return status;
}

int catalog_put_damaged(struct catalog *c, const char *path, uint64_t mtime_ns, uint64_t file_bytes,
			const char *why, struct err *err)
{
	sqlite3_stmt *s = statement(c, PUT_DAMAGED, err);

	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
	bind_u64(s, 2, mtime_ns);
	bind_u64(s, 3, file_bytes);
	sqlite3_bind_text(s, 4, why, -1, SQLITE_STATIC);
	return finish(c, s, err);
}

bool catalog_is_damaged(struct catalog *c, const char *path, uint64_t mtime_ns, uint64_t file_bytes)
{
	sqlite3_stmt *s = statement(c, GET_DAMAGED, NULL);
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
	sqlite3_stmt *s = statement(c, DROP_DAMAGED, err);

	if (!s)
		return -EIO;
	sqlite3_bind_text(s, 1, path, -1, SQLITE_STATIC);
	return finish(c, s, err);
}

static void column_text(sqlite3_stmt *s, int at, char *out, size_t bytes)
{
	const unsigned char *text = sqlite3_column_text(s, at);

	snprintf(out, bytes, "%s", text ? (const char *)text : "");
}

static uint64_t column_u64(sqlite3_stmt *s, int at)
{
	return (uint64_t)sqlite3_column_int64(s, at);
}

static void column_name(sqlite3_stmt *s, struct segment_name *n)
{
	column_text(s, 0, n->host, sizeof(n->host));
	column_text(s, 1, n->boot_id, sizeof(n->boot_id));
	n->epoch = column_u64(s, 2);
	n->sequence = column_u64(s, 3);
}

/* Steps through the rows of a statement, handing each to row(); ends it in every case. */
static int each(struct catalog *c, sqlite3_stmt *s, int (*row)(sqlite3_stmt *s, void *visitor),
		void *visitor, struct err *err)
{
	int code, status = 0;

	if (!s)
		return -EIO;
	while (status == 0 && (code = sqlite3_step(s)) != SQLITE_DONE) {
		if (code != SQLITE_ROW)
			status = fail(c, err);
		else
			status = row(s, visitor);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return status;
}

struct segment_visitor {
	int (*visit)(void *ctx, const struct segment_facts *f);
	void *ctx;
};

static int segment_row(sqlite3_stmt *s, void *visitor)
{
	struct segment_visitor *v = visitor;
	struct segment_facts f = { .file_bytes = column_u64(s, 5) };

	column_name(s, &f.name);
	if (sqlite3_column_bytes(s, 4) == sizeof(f.hash.bytes))
		memcpy(f.hash.bytes, sqlite3_column_blob(s, 4), sizeof(f.hash.bytes));
	f.nr_requests = column_u64(s, 6);
	f.nr_captured = column_u64(s, 7);
	f.source = (uint8_t)sqlite3_column_int(s, 8);
	f.layer = (uint8_t)sqlite3_column_int(s, 9);
	f.begin = (struct clock_anchor){ column_u64(s, 10), column_u64(s, 11), column_u64(s, 12) };
	f.end = (struct clock_anchor){ column_u64(s, 13), column_u64(s, 14), column_u64(s, 15) };
	f.first_real_ns = column_u64(s, 16);
	f.last_real_ns = column_u64(s, 17);
	return v->visit(v->ctx, &f);
}

int catalog_each_segment(struct catalog *c, int (*visit)(void *ctx, const struct segment_facts *f),
			 void *ctx, struct err *err)
{
	struct segment_visitor v = { visit, ctx };

	return each(c, statement(c, EACH_SEGMENT, err), segment_row, &v, err);
}

struct device_visitor {
	int (*visit)(void *ctx, const struct segment_name *n, const struct device_facts *d);
	void *ctx;
};

static int device_row(sqlite3_stmt *s, void *visitor)
{
	struct device_visitor *v = visitor;
	struct segment_name n;
	struct device_facts d = { .device = (uint32_t)sqlite3_column_int64(s, 4) };

	column_name(s, &n);
	column_text(s, 5, d.name, sizeof(d.name));
	d.size_bytes = column_u64(s, 6);
	for (int op = 0; op < NR_OPERATIONS; op++) {
		d.requests[op] = column_u64(s, 7 + op);
		d.bytes[op] = column_u64(s, 7 + NR_OPERATIONS + op);
	}
	return v->visit(v->ctx, &n, &d);
}

int catalog_each_device(struct catalog *c,
			int (*visit)(void *ctx, const struct segment_name *n,
				     const struct device_facts *d),
			void *ctx, struct err *err)
{
	struct device_visitor v = { visit, ctx };

	return each(c, statement(c, EACH_DEVICE, err), device_row, &v, err);
}

struct loss_visitor {
	int (*visit)(void *ctx, const struct segment_name *n, const struct loss *l);
	void *ctx;
};

static int loss_row(sqlite3_stmt *s, void *visitor)
{
	struct loss_visitor *v = visitor;
	struct segment_name n;
	struct loss l = {
		.cause = (uint8_t)sqlite3_column_int(s, 4),
		.count = column_u64(s, 5),
		.count_known = sqlite3_column_int(s, 6) != 0,
		.device = (uint32_t)sqlite3_column_int64(s, 7),
		.begin_real_ns = column_u64(s, 8),
		.end_real_ns = column_u64(s, 9),
	};

	column_name(s, &n);
	return v->visit(v->ctx, &n, &l);
}

int catalog_each_loss(struct catalog *c,
		      int (*visit)(void *ctx, const struct segment_name *n, const struct loss *l),
		      void *ctx, struct err *err)
{
	struct loss_visitor v = { visit, ctx };

	return each(c, statement(c, EACH_LOSS, err), loss_row, &v, err);
}

struct damaged_visitor {
	int (*visit)(void *ctx, const char *path, const char *why);
	void *ctx;
};

static int damaged_row(sqlite3_stmt *s, void *visitor)
{
	struct damaged_visitor *v = visitor;

	return v->visit(v->ctx, (const char *)sqlite3_column_text(s, 0),
			(const char *)sqlite3_column_text(s, 1));
}

int catalog_each_damaged(struct catalog *c,
			 int (*visit)(void *ctx, const char *path, const char *why), void *ctx,
			 struct err *err)
{
	struct damaged_visitor v = { visit, ctx };

	return each(c, statement(c, EACH_DAMAGED, err), damaged_row, &v, err);
}

struct stream_visitor {
	int (*visit)(void *ctx, const struct segment_name *highest, uint64_t count);
	void *ctx;
};

static int stream_row(sqlite3_stmt *s, void *visitor)
{
	struct stream_visitor *v = visitor;
	struct segment_name n;

	column_name(s, &n);
	return v->visit(v->ctx, &n, column_u64(s, 4));
}

int catalog_each_stream(struct catalog *c, const char *host,
			int (*visit)(void *ctx, const struct segment_name *highest, uint64_t count),
			void *ctx, struct err *err)
{
	struct stream_visitor v = { visit, ctx };
	sqlite3_stmt *s = statement(c, EACH_STREAM, err);

	if (s && host)
		sqlite3_bind_text(s, 1, host, -1, SQLITE_STATIC);
	return each(c, s, stream_row, &v, err);
}
