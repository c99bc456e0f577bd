// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/results.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/measure/results_sql.h"
#include "base/system/clock.h"

#define APPLICATION_ID	0x626c6d73 /* "blms" */
#define BUSY_TIMEOUT_MS 10000

static const char schema[] =
	"CREATE TABLE campaign (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" plan TEXT NOT NULL, hash TEXT NOT NULL, seed INTEGER NOT NULL, began_s REAL NOT NULL);"
	"CREATE TABLE factor (campaign INTEGER NOT NULL REFERENCES campaign, position INTEGER NOT NULL,"
	" name TEXT NOT NULL, is_text INTEGER NOT NULL, PRIMARY KEY (campaign, position)) WITHOUT ROWID;"
	"CREATE TABLE configuration (id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL REFERENCES campaign,"
	" number INTEGER NOT NULL, UNIQUE (campaign, number));"
	"CREATE TABLE level (configuration INTEGER NOT NULL REFERENCES configuration,"
	" position INTEGER NOT NULL, number REAL, text TEXT NOT NULL,"
	" PRIMARY KEY (configuration, position)) WITHOUT ROWID;"
	"CREATE TABLE run (id INTEGER PRIMARY KEY, configuration INTEGER NOT NULL REFERENCES configuration,"
	" repetition INTEGER NOT NULL, status TEXT NOT NULL, error TEXT, began_s REAL NOT NULL,"
	" ended_s REAL NOT NULL, overhead_s REAL, intervals INTEGER NOT NULL,"
	" UNIQUE (configuration, repetition));"
	"CREATE TABLE metric (run INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL,"
	" value REAL NOT NULL, relative_standard_error REAL, intervals INTEGER NOT NULL,"
	" PRIMARY KEY (run, name)) WITHOUT ROWID;"
	"CREATE TABLE interval (run INTEGER NOT NULL REFERENCES run, number INTEGER NOT NULL,"
	" name TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (run, number, name)) WITHOUT ROWID;"
	"CREATE TABLE artifact (run INTEGER NOT NULL REFERENCES run, target TEXT NOT NULL,"
	" kind TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (run, target, kind));"
	"CREATE TABLE event (campaign INTEGER NOT NULL REFERENCES campaign, at_s REAL NOT NULL,"
	" target TEXT, text TEXT NOT NULL);";

int results_fail(struct results *r, struct err *err)
{
	int code = sqlite3_extended_errcode(r->db) & 0xff;
	int why = code == SQLITE_FULL				    ? ENOSPC
		  : code == SQLITE_BUSY || code == SQLITE_LOCKED    ? EBUSY
		  : code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? EINVAL
		  : code == SQLITE_READONLY			    ? EROFS
		  : code == SQLITE_NOMEM			    ? ENOMEM
								    : EIO;

	return err_set(err, why, "%s: %s", r->path, sqlite3_errmsg(r->db));
}

int results_exec(struct results *r, const char *sql, struct err *err)
{
	return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : results_fail(r, err);
}

static int results_bind(struct results *r, sqlite3_stmt **s, struct err *err, const char *sql,
			const char *types, va_list ap)
{
	if (sqlite3_prepare_v2(r->db, sql, -1, s, NULL) != SQLITE_OK)
		return results_fail(r, err);
	for (int i = 0; types[i]; i++) {
		double number;
		const char *text;

		switch (types[i]) {
		case 'i':
			sqlite3_bind_int64(*s, i + 1, va_arg(ap, int64_t));
			break;
		case 'd':
			number = va_arg(ap, double);
			if (isfinite(number))
				sqlite3_bind_double(*s, i + 1, number);
			break;
		default:
			text = va_arg(ap, const char *);
			if (text)
				sqlite3_bind_text(*s, i + 1, text, -1, SQLITE_STATIC);
		}
	}
	return 0;
}

int results_prepare(struct results *r, sqlite3_stmt **s, struct err *err, const char *sql,
		    const char *types, ...)
{
	va_list ap;
	int ret;

	va_start(ap, types);
	ret = results_bind(r, s, err, sql, types, ap);
	va_end(ap);
	return ret;
}

int results_finish(struct results *r, sqlite3_stmt *s, struct err *err)
{
	int code = sqlite3_step(s);
	int ret = code == SQLITE_DONE || code == SQLITE_ROW ? 0 : results_fail(r, err);

	sqlite3_finalize(s);
	return ret;
}

int results_insert(struct results *r, int64_t *id, struct err *err, const char *sql,
		   const char *types, ...)
{
	sqlite3_stmt *s;
	va_list ap;
	int ret;

	va_start(ap, types);
	ret = results_bind(r, &s, err, sql, types, ap);
	va_end(ap);
	if (ret)
		return ret;
	ret = results_finish(r, s, err);
	if (id)
		*id = sqlite3_last_insert_rowid(r->db);
	return ret;
}

int results_end(struct results *r, int ret, struct err *err)
{
	if (ret == 0)
		ret = results_exec(r, "COMMIT", err);
	if (ret)
		sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
	return ret;
}

int64_t results_number(struct results *r, const char *sql, int64_t otherwise)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) == SQLITE_OK &&
	    sqlite3_step(s) == SQLITE_ROW)
		otherwise = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return otherwise;
}

static int check_schema(struct results *r, enum results_mode mode, struct err *err)
{
	char sql[128];
	int64_t tables, id, version;
	int ret = results_exec(r, mode == RESULTS_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", err);

	if (ret)
		return ret;
	tables = results_number(r, "SELECT count(*) FROM sqlite_master", -1);
	id = results_number(r, "PRAGMA application_id", -1);
	version = results_number(r, "PRAGMA user_version", -1);
	if (tables < 0) {
		ret = results_fail(r, err);
	} else if (tables == 0 && mode == RESULTS_WRITE) {
		snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
			 APPLICATION_ID, RESULTS_VERSION);
		ret = results_exec(r, schema, err);
		ret = ret ? ret : results_exec(r, sql, err);
	} else if (id != APPLICATION_ID) {
		ret = err_set(err, EINVAL, "%s: expected a measurement store of blkcast", r->path);
	} else if (version != RESULTS_VERSION) {
		ret = err_set(err, EINVAL, "%s: version %lld of the measurement store; expected %d",
			      r->path, (long long)version, RESULTS_VERSION);
	}
	return results_end(r, ret, err);
}

/*
 * Takes an flock() on the file. SQLite uses locks of fcntl(), with which it does not interfere. The
 * descriptor is closed after SQLite has closed the file.
 */
static int results_lock(struct results *r, struct err *err)
{
	r->lock = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (r->lock < 0)
		return err_set(err, errno, "%s: %s", r->path, strerror(errno));
	if (flock(r->lock, LOCK_EX | LOCK_NB))
		return err_set(err, EBUSY, "%s: another campaign writes into it", r->path);
	return 0;
}

static int results_connect(struct results *r, enum results_mode mode, struct err *err)
{
	int flags = mode == RESULTS_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
	int ret = 0;

	r->lock = -1;
	if (!r->path)
		return -ENOMEM;
	if (mode == RESULTS_READ && access(r->path, R_OK))
		return err_set(err, errno, "%s: %s", r->path, strerror(errno));
	if (mode == RESULTS_WRITE)
		ret = results_lock(r, err);
	if (ret)
		return ret;
	if (sqlite3_open_v2(r->path, &r->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return r->db ? results_fail(r, err) : -ENOMEM;
	sqlite3_busy_timeout(r->db, BUSY_TIMEOUT_MS);
	if (mode == RESULTS_WRITE)
		ret = results_exec(r, "PRAGMA synchronous = FULL", err);
	return ret ? ret : check_schema(r, mode, err);
}

int results_open(struct results **out, const char *path, enum results_mode mode, struct err *err)
{
	struct results *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return -ENOMEM;
	r->path = strdup(path);
	ret = results_connect(r, mode, err);
	if (ret)
		results_close(r);
	else
		*out = r;
	return ret;
}

void results_close(struct results *r)
{
	if (!r)
		return;
	sqlite3_close(r->db);
	if (r->lock >= 0)
		close(r->lock);
	free(r->path);
	free(r);
}

static int find_campaign(struct results *r, const char *name, int64_t *id, char hash[32],
			 struct err *err)
{
	sqlite3_stmt *s;
	int ret = results_prepare(r, &s, err, "SELECT id, hash FROM campaign WHERE name = ?", "t",
				  name);

	if (ret)
		return ret;
	*id = 0;
	if (sqlite3_step(s) == SQLITE_ROW) {
		*id = sqlite3_column_int64(s, 0);
		snprintf(hash, 32, "%s", (const char *)sqlite3_column_text(s, 1));
	}
	sqlite3_finalize(s);
	return 0;
}

static int put_factors(struct results *r, int64_t id, const struct factors *f, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < f->nr; i++) {
		ret = results_insert(r, NULL, err, "INSERT INTO factor VALUES (?, ?, ?, ?)", "iiti",
				     id, (int64_t)i, f->items[i].name,
				     (int64_t)factor_is_text(&f->items[i]));
		if (ret)
			return ret;
	}
	return 0;
}

int results_campaign(struct results *r, const struct plan *p, bool resume, int64_t *id,
		     struct err *err)
{
	char hash[32], known[32] = "";
	int ret = find_campaign(r, p->campaign, id, known, err);

	if (ret)
		return ret;
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)p->hash);
	if (*id && !resume)
		return err_set(err, EEXIST, "%s: campaign '%s' is there already", r->path,
			       p->campaign);
	if (*id && strcmp(known, hash))
		return err_set(
			err, ESTALE,
			"%s: campaign '%s' was started with another plan; expected %s as it was",
			r->path, p->campaign, p->path);
	if (*id)
		return 0;
	ret = results_exec(r, "BEGIN IMMEDIATE", err);
	if (ret)
		return ret;
	ret = results_insert(r, id, err,
			     "INSERT INTO campaign (name, plan, hash, seed, began_s) "
			     "VALUES (?, ?, ?, ?, ?)",
			     "tttid", p->campaign, p->text, hash, (int64_t)p->seed, clock_real_s());
	if (ret)
		goto out;
	ret = put_factors(r, *id, &p->factors, err);
out:
	return results_end(r, ret, err);
}

int results_put_event(struct results *r, int64_t campaign, const char *target, const char *text,
		      struct err *err)
{
	return results_insert(r, NULL, err, "INSERT INTO event VALUES (?, ?, ?, ?)", "idtt",
			      campaign, clock_real_s(), target, text);
}
