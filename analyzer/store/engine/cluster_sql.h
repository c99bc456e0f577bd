/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_sql: one connection to the PostgreSQL server of a cluster.
 *
 * Values are passed as parameters, never as text of a statement. Every call has a time limit. A
 * call that ends without an answer may have succeeded all the same: the connection is then closed,
 * and the next call opens another one, to the host that is the primary at that time.
 *
 * Commits wait for the standbys that synchronous_standby_names asks for. PostgreSQL reports by a
 * warning that this wait was cancelled; such a commit counts as failed here, because it may be lost
 * with the primary. A reader's COMMIT fails if its connection was lost since BEGIN, because its
 * statements did not see one state of the catalog then.
 *
 * Only one thread at a time may use a connection.
 */
#ifndef ANALYZER_CLUSTER_SQL_H
#define ANALYZER_CLUSTER_SQL_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/store/engine/cluster_url.h"
#include "base/text/err.h"

#define CLUSTER_SCHEMA_VERSION 8 /* the last migration of docs/cluster.sql */

struct cluster_sql;

/*
 * Connects; writes: to a server that takes writes. url must outlive the connection. Returns 0 or an
 * error that names the server: -EACCES (user, password), -ENOENT (no such database), -ECONNREFUSED,
 * -ETIMEDOUT, -EIO, -ENOMEM.
 */
int cluster_sql_open(struct cluster_sql **out, const struct cluster_url *url, bool writes,
		     struct err *err);
void cluster_sql_close(struct cluster_sql *c);

/*
 * Returns 0 if the schema has the version of this program; -ENOENT if there is none,
 * -EPROTONOSUPPORT if the version differs. After a success the same is checked whenever a call has
 * to open the connection again, and the call fails in the same way.
 */
int cluster_sql_check_schema(struct cluster_sql *c, struct err *err);
/* Gives the version of the schema: 0 if there is none. */
int cluster_sql_version(struct cluster_sql *c, int *version, struct err *err);

/*
 * Runs one statement with parameters in text form. The caller clears *out (may be NULL) with
 * PQclear(). Returns 0, -EROFS, -ENOSPC, -ENOENT (no schema), -EEXIST (a unique key), -EAGAIN (it
 * may succeed at once if it is tried again), -ETIMEDOUT (also of a lock), -EILSEQ (a value that no
 * column holds: it never succeeds), -EIO or -ENOMEM.
 */
int cluster_sql_call(struct cluster_sql *c, const char *sql, int nr, const char *const *values,
		     PGresult **out, struct err *err);
/*
 * Does the same row by row in bounded memory. It ends early if row() returns nonzero, and
 * returns that value.
 */
int cluster_sql_each(struct cluster_sql *c, const char *sql, int nr, const char *const *values,
		     int (*row)(void *ctx, const PGresult *one, struct err *err), void *ctx,
		     struct err *err);
/* Runs several statements without parameters in one transaction. */
int cluster_sql_script(struct cluster_sql *c, const char *sql, struct err *err);

/* Returns "HOST:PORT/DATABASE" of the server that answers now. */
const char *cluster_sql_name(const struct cluster_sql *c);

#endif
