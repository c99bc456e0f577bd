/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/engine/cluster_sql.h"
#include "base/system/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CONNECT_TIMEOUT_S "5"
#define CALL_LIMIT_MS	  30000	 /* time limit of a statement and its commit */
#define EACH_LIMIT_MS	  600000 /* time limit of all rows of a large query */
#define NAME_BYTES	  512

struct cluster_sql {
	const struct cluster_url *url;
	bool writes;
	PGconn *conn;	 /* NULL: the next call opens it */
	bool is_checked; /* The schema had the version of this program. */
	/*
	 * The current statement gave a warning. For a writer: its commit may not be on a standby.
	 * For a reader: its transaction ended before, because the connection was lost.
	 */
	bool is_warned;
	char name[NAME_BYTES];
};

const char *cluster_sql_name(const struct cluster_sql *c)
{
	return c->name;
}

#define NO_TRANSACTION "25P01" /* the SQLSTATE of a COMMIT outside of a transaction */

/*
 * Receives the notices of PostgreSQL. A warning at a commit is that of syncrep.c: the wait for
 * the standbys was cancelled, and "the transaction has already committed locally". A reader looks
 * only for the warning that its transaction is no longer there.
 */
static void cluster_sql_notice(void *ctx, const PGresult *notice)
{
	struct cluster_sql *c = ctx;
	const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *state = PQresultErrorField(notice, PG_DIAG_SQLSTATE);

	if (severity && strcmp(severity, "WARNING") == 0 &&
	    (c->writes || (state && strcmp(state, NO_TRANSACTION) == 0)))
		c->is_warned = true;
}

static int cluster_sql_errno(const char *state)
{
	static const struct {
		const char *state; /* the class of the error, or its whole code */
		int code;
	} known[] = {
		{ "25006", EROFS },	{ "53100", ENOSPC },
		{ "53200", ENOMEM },	{ "23505", EEXIST },
		{ "3D000", ENOENT },	{ "3F000", ENOENT },
		{ "42P01", ENOENT },	{ "42883", ENOENT },
		{ "28", EACCES },	{ "42501", EACCES },
		{ "40", EAGAIN },	{ "57014", ETIMEDOUT },
		{ "55P03", ETIMEDOUT }, { "22", EILSEQ },
		{ "54", EILSEQ }, /* no further try can store these values */
	};

	for (size_t i = 0; state && i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(state, known[i].state, strlen(known[i].state)) == 0)
			return known[i].code;
	return EIO;
}

/* Takes the first line of a message of libpq or of the server, without its severity. */
static int cluster_sql_said(const struct cluster_sql *c, int code, const char *text,
			    struct err *err)
{
	size_t len;

	while (strncmp(text, "ERROR:", 6) == 0 || strncmp(text, "FATAL:", 6) == 0)
		for (text += 6; *text == ' ';)
			text++;
	len = strcspn(text, "\n");
	return err_set(err, code, "PostgreSQL %s: %.*s", c->name, (int)(len > 300 ? 300 : len),
		       len ? text : "no answer");
}

static void cluster_sql_drop(struct cluster_sql *c)
{
	PQfinish(c->conn);
	c->conn = NULL;
}

static int cluster_sql_refused(struct cluster_sql *c, struct err *err)
{
	const char *text = PQerrorMessage(c->conn), *fatal;
	int code = ECONNREFUSED;
	int ret;

	/* With several hosts the last line is about the last host that was tried. */
	fatal = strstr(text, "FATAL:");
	if (strstr(text, "password") || strstr(text, "authentication") || strstr(text, "pg_hba"))
		code = EACCES;
	else if (strstr(text, "database \"") && strstr(text, "does not exist"))
		code = ENOENT;
	ret = cluster_sql_said(c, code, fatal ? fatal : text, err);
	cluster_sql_drop(c);
	return ret;
}

static int cluster_sql_connect(struct cluster_sql *c, struct err *err)
{
	const struct cluster_url *u = c->url;
	const char *const names[] = {
		"host",
		"port",
		"user",
		"dbname",
		"sslmode",
		"sslrootcert",
		"sslcert",
		"sslkey",
		"passfile",
		"target_session_attrs",
		"connect_timeout",
		"application_name",
		"client_encoding",
		"tcp_user_timeout",
		NULL,
	};
	const char *const values[] = {
		u->hosts,
		u->ports,
		u->user,
		u->database,
		u->sslmode,
		u->sslrootcert,
		u->sslcert,
		u->sslkey,
		u->passfile,
		c->writes ? "read-write" : "any",
		CONNECT_TIMEOUT_S,
		"blkcast",
		"UTF8",
		"30000",
		NULL,
	};
	PGresult *set;
	bool is_set;

	snprintf(c->name, sizeof(c->name), "%s:%s/%s", u->hosts, u->ports, u->database);
	c->conn = PQconnectdbParams(names, values, 0);
	if (!c->conn)
		return err_set(err, ENOMEM, "out of memory");
	if (PQstatus(c->conn) != CONNECTION_OK)
		return cluster_sql_refused(c, err);
	snprintf(c->name, sizeof(c->name), "%s:%s/%s", PQhost(c->conn), PQport(c->conn),
		 u->database);
	PQsetNoticeReceiver(c->conn, cluster_sql_notice, c);
	/* The role may have another default; a weaker one would make acknowledgements wrong. */
	set = PQexec(c->conn, c->writes ? "SET synchronous_commit = on; SET search_path = blkcast;"
					  " SET lock_timeout = '20s'"
					: "SET search_path = blkcast;"
					  " SET default_transaction_read_only = on");
	is_set = PQresultStatus(set) == PGRES_COMMAND_OK;
	PQclear(set);
	return is_set ? 0 : cluster_sql_refused(c, err);
}

int cluster_sql_open(struct cluster_sql **out, const struct cluster_url *url, bool writes,
		     struct err *err)
{
	struct cluster_sql *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	c->url = url;
	c->writes = writes;
	ret = cluster_sql_connect(c, err);
	if (ret < 0)
		cluster_sql_close(c);
	else
		*out = c;
	return ret;
}

void cluster_sql_close(struct cluster_sql *c)
{
	if (!c)
		return;
	PQfinish(c->conn);
	free(c);
}

/* Checks the schema over a connection that was opened again. */
static int cluster_sql_check_again(struct cluster_sql *c, struct err *err)
{
	int ret;

	c->is_checked = false; /* The statements of the check must not be checked themselves. */
	ret = cluster_sql_check_schema(c, err);
	if (ret == 0)
		return 0;
	c->is_checked = true;
	cluster_sql_drop(c);
	return ret;
}

/*
 * Opens the connection again if the server closed it between two calls. The catalog may have been
 * brought up to date meanwhile, and no statement of this program may reach another version of it.
 */
static int cluster_sql_ready(struct cluster_sql *c, struct err *err)
{
	int ret;

	if (c->conn) {
		struct pollfd p = { PQsocket(c->conn), POLLIN, 0 };

		/* The end of a connection comes behind the words with which the server ends it. */
		while (poll(&p, 1, 0) > 0 && PQconsumeInput(c->conn))
			;
		if (PQstatus(c->conn) == CONNECTION_OK)
			return 0;
		cluster_sql_drop(c);
	}
	ret = cluster_sql_connect(c, err);
	return ret == 0 && c->is_checked ? cluster_sql_check_again(c, err) : ret;
}

/* Waits until the next result can be read without blocking. */
static int cluster_sql_wait(struct cluster_sql *c, int64_t until_ms, struct err *err)
{
	while (PQisBusy(c->conn)) {
		struct pollfd p = { PQsocket(c->conn), POLLIN, 0 };
		int64_t left_ms = until_ms - (int64_t)clock_monotonic_ms();
		int nr = left_ms > 0 ? poll(&p, 1, (int)left_ms) : 0;

		if (nr == 0)
			return err_set(
				err, ETIMEDOUT,
				"PostgreSQL %s: no answer within the limit of time; a commit "
				"waits for the standbys of synchronous_standby_names",
				c->name);
		if (nr < 0 && errno != EINTR)
			return err_set(err, errno, "PostgreSQL %s: %s", c->name, strerror(errno));
		if (nr > 0 && !PQconsumeInput(c->conn))
			return cluster_sql_said(c, EIO, PQerrorMessage(c->conn), err);
	}
	return 0;
}

/* Converts the failure of a result to an error; 0 if the result has none. */
static int cluster_sql_result(struct cluster_sql *c, const PGresult *r, struct err *err)
{
	switch (PQresultStatus(r)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
	case PGRES_SINGLE_TUPLE:
		return 0;
	default:
		return cluster_sql_said(c,
					cluster_sql_errno(PQresultErrorField(r, PG_DIAG_SQLSTATE)),
					PQresultErrorMessage(r), err);
	}
}

/* Reads all results of the statement; the last valid one goes to *out, or each row to row(). */
static int cluster_sql_results(struct cluster_sql *c, int64_t until_ms, PGresult **out,
			       int (*row)(void *ctx, const PGresult *one, struct err *err),
			       void *ctx, struct err *err)
{
	PGresult *last = NULL;
	int ret = 0;

	for (;;) {
		PGresult *r;
		int waited = cluster_sql_wait(c, until_ms, ret ? NULL : err);

		if (waited < 0) {
			PQclear(last);
			cluster_sql_drop(c);
			return ret ? ret : waited;
		}
		r = PQgetResult(c->conn);
		if (!r)
			break;
		if (ret == 0)
			ret = cluster_sql_result(c, r, err);
		if (ret == 0 && row && PQresultStatus(r) == PGRES_SINGLE_TUPLE)
			ret = row(ctx, r, err);
		PQclear(last);
		last = r;
		if (ret != 0 && row) { /* The remaining rows are not read. */
			PQclear(last);
			cluster_sql_drop(c);
			return ret;
		}
	}
	if (ret == 0 && out)
		*out = last;
	else
		PQclear(last);
	if (PQstatus(c->conn) != CONNECTION_OK)
		cluster_sql_drop(c);
	return ret;
}

int cluster_sql_call(struct cluster_sql *c, const char *sql, int nr, const char *const *values,
		     PGresult **out, struct err *err)
{
	int ret = cluster_sql_ready(c, err);

	if (ret < 0)
		return ret;
	c->is_warned = false;
	if (!PQsendQueryParams(c->conn, sql, nr, NULL, values, NULL, NULL, 0)) {
		ret = cluster_sql_said(c, EIO, PQerrorMessage(c->conn), err);
		cluster_sql_drop(c);
		return ret;
	}
	ret = cluster_sql_results(c, (int64_t)clock_monotonic_ms() + CALL_LIMIT_MS, out, NULL, NULL,
				  err);
	if (ret < 0 || !c->is_warned)
		return ret;
	if (out) {
		PQclear(*out);
		*out = NULL; /* The caller clears it after a failure, too. */
	}
	return err_set(err, EIO,
		       c->writes ? "PostgreSQL %s: the commit did not wait for its standbys, so "
				   "that it does not count"
				 : "PostgreSQL %s: the connection was lost while the index was "
				   "read",
		       c->name);
}

int cluster_sql_each(struct cluster_sql *c, const char *sql, int nr, const char *const *values,
		     int (*row)(void *ctx, const PGresult *one, struct err *err), void *ctx,
		     struct err *err)
{
	int ret = cluster_sql_ready(c, err);

	if (ret < 0)
		return ret;
	if (!PQsendQueryParams(c->conn, sql, nr, NULL, values, NULL, NULL, 0) ||
	    !PQsetSingleRowMode(c->conn)) {
		ret = cluster_sql_said(c, EIO, PQerrorMessage(c->conn), err);
		cluster_sql_drop(c);
		return ret;
	}
	return cluster_sql_results(c, (int64_t)clock_monotonic_ms() + EACH_LIMIT_MS, NULL, row, ctx,
				   err);
}

int cluster_sql_script(struct cluster_sql *c, const char *sql, struct err *err)
{
	int ret = cluster_sql_ready(c, err);

	if (ret < 0)
		return ret;
	if (!PQsendQuery(c->conn, sql))
		return cluster_sql_said(c, EIO, PQerrorMessage(c->conn), err);
	return cluster_sql_results(c, (int64_t)clock_monotonic_ms() + CALL_LIMIT_MS, NULL, NULL,
				   NULL, err);
}

int cluster_sql_version(struct cluster_sql *c, int *version, struct err *err)
{
	PGresult *r = NULL;
	int ret = cluster_sql_call(c, "SELECT to_regclass('blkcast.version') IS NOT NULL", 0, NULL,
				   &r, err);

	*version = 0;
	if (ret < 0)
		return ret;
	if (strcmp(PQgetvalue(r, 0, 0), "t") == 0) {
		PQclear(r);
		r = NULL;
		ret = cluster_sql_call(c, "SELECT coalesce(max(version), 0) FROM blkcast.version",
				       0, NULL, &r, err);
		if (ret == 0)
			*version = (int)strtol(PQgetvalue(r, 0, 0), NULL, 10);
	}
	PQclear(r);
	return ret;
}

int cluster_sql_check_schema(struct cluster_sql *c, struct err *err)
{
	int version, ret = cluster_sql_version(c, &version, err);

	if (ret < 0)
		return ret;
	c->is_checked = version == CLUSTER_SCHEMA_VERSION;
	if (c->is_checked)
		return 0;
	if (version == 0)
		return err_set(
			err, ENOENT,
			"PostgreSQL %s: the database has no schema of blkcast; `blkcast cluster "
			"init` makes it",
			c->name);
	if (version > CLUSTER_SCHEMA_VERSION)
		return err_set(
			err, EPROTONOSUPPORT,
			"PostgreSQL %s: its schema has version %d and this blkcast knows %d; "
			"use a newer blkcast",
			c->name, version, CLUSTER_SCHEMA_VERSION);
	return err_set(
		err, EPROTONOSUPPORT,
		"PostgreSQL %s: its schema has version %d and this blkcast needs %d; `blkcast "
		"cluster init` brings it up to date",
		c->name, version, CLUSTER_SCHEMA_VERSION);
}
