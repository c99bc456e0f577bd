/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster_sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cluster_sweeper {
	struct cluster *c;
	double orphan_s;
	char **named; /* sorted keys of bundles, summaries and garbage */
	size_t nr_named;
	int (*found)(void *ctx, const char *key, uint64_t bytes);
	void *ctx;
};

int cluster_sweep_garbage(struct cluster *c, uint64_t *nr_deleted, struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(c, &sql, err);

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

static int cluster_sweep_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int cluster_sweep_name(struct cluster_sweeper *w, struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(w->c, &sql, err);

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
	qsort(w->named, w->nr_named, sizeof(*w->named), cluster_sweep_compare);
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
	if (w->nr_named &&
	    bsearch(&key, w->named, w->nr_named, sizeof(*w->named), cluster_sweep_compare))
		return 0;
	return cluster_sweep_is_orphan(w->c, key) ? w->found(w->ctx, key, bytes) : 0;
}

int cluster_sweep_orphans(struct cluster *c, double orphan_s,
			  int (*found)(void *ctx, const char *key, uint64_t bytes), void *ctx,
			  struct err *err)
{
	struct cluster_sweeper w = { .c = c, .orphan_s = orphan_s, .found = found, .ctx = ctx };
	int ret = cluster_sweep_name(&w, err);

	if (ret == 0)
		ret = object_list(c->objects, "bundles/", cluster_sweep_object, &w, err);
	if (ret == 0)
		ret = object_list(c->objects, "summaries/", cluster_sweep_object, &w, err);
	for (size_t i = 0; i < w.nr_named; i++)
		free(w.named[i]);
	free(w.named);
	return ret;
}
