/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/order.h"

struct cluster_sweeper {
	struct cluster *c;
	double orphan_s;
	char **named; /* sorted keys of bundles, summaries and garbage */
	size_t nr_named;
	int (*found)(void *ctx, const char *key, uint64_t bytes);
	void *ctx;
};

/*
 * Commits one row and waits for the standbys. Other sessions do not see a transaction that still
 * waits for its standbys, and standbys confirm transactions in the order of the log. After this
 * commit every transaction that was logged before it is visible, so that the sweep deletes no
 * object that such a transaction names.
 */
static int cluster_sweep_fence(struct cluster *c, struct cluster_sql **sql, struct err *err)
{
	const char *values[] = { c->holder };
	int ret = cluster_keeper(c, sql, err);

	if (ret < 0)
		return ret;
	return cluster_sql_call(*sql,
				"INSERT INTO lease AS l VALUES ('fence', $1, 1, now()) ON CONFLICT "
				"(name) DO UPDATE SET holder = $1, token = l.token + 1, until = "
				"now()",
				1, values, NULL, err);
}

/* Reads the identity of the catalog, and that in the bucket: "" if the object is missing. */
static int cluster_owner_read(struct cluster *c, char own[CLUSTER_OWNER_BYTES],
			      char found[CLUSTER_OWNER_BYTES], struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	struct buf b;
	int ret = cluster_keeper(c, &sql, err);

	buf_init(&b);
	found[0] = 0;
	if (ret == 0)
		ret = cluster_sql_call(sql, "SELECT id FROM version WHERE version = 1", 0, NULL, &r,
				       err);
	if (ret == 0 && PQntuples(r) != 1)
		ret = err_set(err, EBADMSG, "PostgreSQL %s: the catalog has no identity",
			      cluster_sql_name(sql));
	if (ret == 0) {
		snprintf(own, CLUSTER_OWNER_BYTES, "%s", PQgetvalue(r, 0, 0));
		ret = object_get(c->objects, CLUSTER_OWNER_KEY, 0, CLUSTER_OWNER_BYTES - 1, &b,
				 err);
		if (ret == 0)
			snprintf(found, CLUSTER_OWNER_BYTES, "%.*s", (int)b.len,
				 (const char *)b.data);
		else if (ret == -ENOENT)
			ret = 0;
	}
	PQclear(r);
	buf_release(&b);
	return ret;
}

int cluster_owner_check(struct cluster *c, struct err *err)
{
	char own[CLUSTER_OWNER_BYTES], found[CLUSTER_OWNER_BYTES];
	int ret = cluster_owner_read(c, own, found, err);

	if (ret < 0 || strcmp(own, found) == 0)
		return ret;
	if (!found[0])
		return err_set(err, EXDEV,
			       "%s/" CLUSTER_OWNER_KEY
			       ": the object is missing, so that no orphan is looked for; "
			       "`blkcast cluster init` claims the bucket for this catalog",
			       c->url.objects);
	return err_set(err, EXDEV,
		       "%s/" CLUSTER_OWNER_KEY
		       ": the bucket belongs to catalog %s and this is catalog %s, so that no "
		       "orphan is looked for; give each catalog a bucket or prefix of its own",
		       c->url.objects, found, own);
}

int cluster_owner_claim(struct cluster *c, struct err *err)
{
	char own[CLUSTER_OWNER_BYTES], found[CLUSTER_OWNER_BYTES], sha256[OBJECT_SHA256_HEX];
	struct iovec whole = { own, CLUSTER_OWNER_BYTES - 1 };
	int ret = cluster_owner_read(c, own, found, err);

	if (ret == 0 && !found[0])
		ret = object_put(c->objects, CLUSTER_OWNER_KEY, &whole, 1, sha256, err);
	/* If two catalogs claim the bucket at the same moment, the later one owns it. */
	return ret == 0 ? cluster_owner_check(c, err) : ret;
}

int cluster_sweep_garbage(struct cluster *c, uint64_t *nr_deleted, struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_sweep_fence(c, &sql, err);

	if (ret == 0)
		ret = cluster_sql_call(sql, "SELECT key FROM garbage WHERE after < now()", 0, NULL,
				       &r, err);
	for (int i = 0; ret == 0 && i < PQntuples(r); i++) {
		const char *values[] = { PQgetvalue(r, i, 0) };

		ret = object_delete(c->objects, values[0], err);
		if (ret == 0)
			ret = cluster_sql_call(sql, "DELETE FROM garbage WHERE key = $1", 1, values,
					       NULL, err);
		*nr_deleted += ret == 0;
	}
	PQclear(r);
	return ret;
}

static int cluster_sweep_name(struct cluster_sweeper *w, struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_sweep_fence(w->c, &sql, err);

	if (ret == 0)
		ret = cluster_sql_call(sql,
				       "SELECT key FROM bundle UNION ALL SELECT key FROM summary "
				       "UNION ALL SELECT key FROM garbage",
				       0, NULL, &r, err);
	if (ret < 0)
		return ret;
	w->named = calloc((size_t)PQntuples(r) + 1, sizeof(*w->named));
	for (int i = 0; w->named && i < PQntuples(r); i++) {
		w->named[w->nr_named] = strdup(PQgetvalue(r, i, 0));
		if (!w->named[w->nr_named])
			ret = -ENOMEM;
		else
			w->nr_named++;
	}
	PQclear(r);
	if (!w->named || ret < 0)
		return err_set(err, ENOMEM, "out of memory");
	qsort(w->named, w->nr_named, sizeof(*w->named), order_text);
	return 0;
}

/*
 * Asks the primary about this key again, because a commit may have happened between the two
 * listings.
 */
static bool cluster_sweep_is_orphan(struct cluster *c, const char *key)
{
	const char *values[] = { key };
	struct cluster_sql *sql;
	PGresult *r = NULL;
	bool is_orphan;

	if (cluster_keeper(c, &sql, NULL) < 0)
		return false;
	is_orphan = cluster_sql_call(sql,
				     "SELECT 1 FROM bundle WHERE key = $1 UNION ALL SELECT 1 FROM "
				     "summary WHERE key = $1 UNION ALL SELECT 1 FROM garbage WHERE "
				     "key = $1",
				     1, values, &r, NULL) == 0 &&
		    PQntuples(r) == 0;
	PQclear(r);
	return is_orphan;
}

static int cluster_sweep_object(void *ctx, const char *key, uint64_t bytes, double age_s)
{
	struct cluster_sweeper *w = ctx;

	if (age_s < w->orphan_s)
		return 0;
	if (w->nr_named && bsearch(&key, w->named, w->nr_named, sizeof(*w->named), order_text))
		return 0;
	return cluster_sweep_is_orphan(w->c, key) ? w->found(w->ctx, key, bytes) : 0;
}

int cluster_sweep_orphans(struct cluster *c, double orphan_s,
			  int (*found)(void *ctx, const char *key, uint64_t bytes), void *ctx,
			  struct err *err)
{
	struct cluster_sweeper w = { .c = c, .orphan_s = orphan_s, .found = found, .ctx = ctx };
	int ret = cluster_owner_check(c, err);

	if (ret == 0)
		ret = cluster_sweep_name(&w, err);
	if (ret == 0)
		ret = object_list(c->objects, "bundles/", cluster_sweep_object, &w, err);
	if (ret == 0)
		ret = object_list(c->objects, "summaries/", cluster_sweep_object, &w, err);
	for (size_t i = 0; i < w.nr_named; i++)
		free(w.named[i]);
	free(w.named);
	return ret;
}
