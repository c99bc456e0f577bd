/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_url: the name of a store that is kept in PostgreSQL and an object store.
 *
 *   pg://USER@HOST:PORT[,HOST:PORT...]/DATABASE?objects=https://HOST:PORT/BUCKET[/PREFIX]
 *       [&NAME=VALUE...]
 *
 * The names that may follow are keys, region, ca (of the object store) and sslmode, sslrootcert,
 * sslcert, sslkey, passfile (of PostgreSQL, with libpq's meaning). Values may contain %XX for any
 * byte.
 *
 * The list of processes shows the URL. Therefore it must not contain a secret: a URL with a
 * password is refused. The password of PostgreSQL comes from libpq's own sources (PGPASSWORD,
 * ~/.pgpass, passfile). The keys of the object store come from the file that `keys` names, with the
 * access key in the first line and the secret key in the second line, or else from
 * AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
 */
#ifndef ANALYZER_CLUSTER_URL_H
#define ANALYZER_CLUSTER_URL_H

#include <stdbool.h>

#include "base/text/err.h"

#define CLUSTER_URL_MAX 4096 /* bytes of the whole URL */

struct cluster_url {
	char *hosts, *ports; /* lists with commas, of equal length, as libpq expects them */
	char *user, *database;
	char *objects; /* the URL of the bucket and prefix, without a slash at its end */
	char *keys, *region, *ca;
	char *sslmode, *sslrootcert, *sslcert, *sslkey, *passfile;
};

/* Returns whether the name of a store is such a URL, and not a folder. */
bool cluster_url_is(const char *name);
/* Returns 0, -EINVAL with what is wrong, or -ENOMEM. The caller releases out in each case. */
int cluster_url_parse(struct cluster_url *out, const char *text, struct err *err);
void cluster_url_release(struct cluster_url *u);

#endif
