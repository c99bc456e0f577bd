/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_sql: one connection to the PostgreSQL of a cluster.
 *
 * Values go as parameters, never as text of a statement. Every call has a limit of time. A call that ends
 * without an answer may have been done all the same: the connection is then closed, and the next call opens
 * another one, to whichever of the hosts is the primary by then.
 *
 * Commits wait for the standbys that synchronous_standby_names asks for. PostgreSQL says by a warning that
 * somebody ended this wait early; such a commit counts as failed here, since it may be lost with the primary.
 *
 * One thread at a time.
 */
#ifndef ANALYZER_CLUSTER_SQL_H
#define ANALYZER_CLUSTER_SQL_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/cluster_url.h"
#include "base/err.h"

#define CLUSTER_SCHEMA_VERSION 1 /* the last migration of docs/cluster.sql */

struct cluster_sql;

/*
 * Connects; writes: to a server that takes writes. url must outlive it. An error names the server:
 * -EACCES (user, password), -ENOENT (no such database), -ECONNREFUSED, -ETIMEDOUT, -EIO, -ENOMEM.
 */
int cluster_sql_open(struct cluster_sql **out, const struct cluster_url *url, bool writes,
		     struct err *err);
void cluster_sql_close(struct cluster_sql *c);

/* 0 where the schema is the one of this program; -ENOENT without one, -EPROTONOSUPPORT of another version. */
int cluster_sql_check_schema(struct cluster_sql *c, struct err *err);
/* Its version: 0 where there is none. */
int cluster_sql_version(struct cluster_sql *c, int *version, struct err *err);

/*
 * Runs one statement with parameters in text form. *out (may be NULL) is to be cleared with PQclear(). -EROFS,
 * -ENOSPC, -ENOENT (no schema), -EEXIST (a unique key), -ETIMEDOUT, -EIO, -ENOMEM.
 */
int cluster_sql_call(struct cluster_sql *c, const char *sql, int nr, const char *const *values,
		     PGresult **out, struct err *err);
/* The same, row by row in bounded memory; ends early where row() returns nonzero, which is returned. */
int cluster_sql_each(struct cluster_sql *c, const char *sql, int nr, const char *const *values,
		     int (*row)(void *ctx, const PGresult *one, struct err *err), void *ctx,
		     struct err *err);
/* Several statements without parameters, in one transaction. */
int cluster_sql_script(struct cluster_sql *c, const char *sql, struct err *err);

/* "HOST:PORT/DATABASE", of the server that answers now. */
const char *cluster_sql_name(const struct cluster_sql *c);

#endif
