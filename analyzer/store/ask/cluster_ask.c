/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/ask/cluster_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/store/cluster/cluster.h"

int cluster_ask_open(struct cluster **out, const char *name, struct err *err)
{
	return cluster_new(out, name, err);
}

void cluster_ask_close(struct cluster *c)
{
	cluster_free(c);
}

static void cluster_ask_row(const PGresult *r, int row, struct store_ask *out)
{
	snprintf(out->host, sizeof(out->host), "%s", PQgetvalue(r, row, 0));
	out->begin_s = strtoll(PQgetvalue(r, row, 1), NULL, 10);
	out->end_s = strtoll(PQgetvalue(r, row, 2), NULL, 10);
	out->is_known = PQgetvalue(r, row, 3)[0] == 't';
}

int cluster_ask_put(struct cluster *c, const char *host, int64_t begin_s, int64_t end_s,
		    struct store_ask *out, struct err *err)
{
	/* This statement joins periods by the same rules as store_ask_join(). */
	static const char put[] =
		"INSERT INTO ask AS a VALUES ($1, now() + make_interval(secs => $2::int), now() + "
		"make_interval(secs => $3::int)) ON CONFLICT (host) DO UPDATE SET (begin_at, end_at) "
		"= (SELECT CASE WHEN joins THEN least(a.begin_at, EXCLUDED.begin_at) ELSE "
		"EXCLUDED.begin_at END, CASE WHEN joins THEN greatest(a.end_at, EXCLUDED.end_at) ELSE "
		"EXCLUDED.end_at END FROM (SELECT (a.end_at >= EXCLUDED.begin_at AND a.begin_at <= "
		"EXCLUDED.end_at) OR a.end_at > now() AS joins) j) RETURNING host, "
		"floor(extract(epoch FROM begin_at - now()))::bigint, ceil(extract(epoch FROM end_at "
		"- now()))::bigint, EXISTS (SELECT 1 FROM host h WHERE h.host = $1)";
	static const char sweep[] =
		"DELETE FROM ask WHERE end_at < now() - make_interval(secs => $1::int)";
	char begin[16], end[16], keep[16];
	const char *values[] = { host, begin, end }, *keep_values[] = { keep };
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(c, &sql, err);

	snprintf(begin, sizeof(begin), "%d", (int)begin_s);
	snprintf(end, sizeof(end), "%d", (int)end_s);
	snprintf(keep, sizeof(keep), "%d", STORE_ASK_KEEP_S);
	if (ret == 0)
		ret = cluster_sql_call(sql, sweep, 1, keep_values, NULL, err);
	if (ret == 0)
		ret = cluster_sql_call(sql, put, 3, values, &r, err);
	if (ret < 0)
		return ret;
	cluster_ask_row(r, 0, out);
	PQclear(r);
	return 0;
}

int cluster_ask_read(struct cluster *c, struct store_ask **out, size_t *nr, struct err *err)
{
	static const char ask[] =
		"SELECT host, floor(extract(epoch FROM begin_at - now()))::bigint, ceil(extract(epoch "
		"FROM end_at - now()))::bigint, true FROM ask WHERE end_at > now() - make_interval("
		"secs => $1::int) AND begin_at <= now() ORDER BY host LIMIT $2::int";
	char keep[16], most[16];
	const char *values[] = { keep, most };
	struct cluster_sql *sql;
	PGresult *r = NULL;
	struct store_ask *all;
	int ret = cluster_keeper(c, &sql, err);

	snprintf(keep, sizeof(keep), "%d", STORE_ASK_KEEP_S);
	snprintf(most, sizeof(most), "%d", STORE_ASK_MAX);
	if (ret == 0)
		ret = cluster_sql_call(sql, ask, 2, values, &r, err);
	if (ret < 0)
		return ret;
	*nr = (size_t)PQntuples(r);
	all = calloc(*nr ? *nr : 1, sizeof(*all));
	if (!all) {
		PQclear(r);
		return err_set(err, ENOMEM, "no memory for the questions");
	}
	for (size_t i = 0; i < *nr; i++)
		cluster_ask_row(r, (int)i, &all[i]);
	PQclear(r);
	*out = all;
	return 0;
}

int cluster_ask_put_text(struct cluster *c, const struct buf *text, struct err *err)
{
	static const char put[] =
		"INSERT INTO policy(text) VALUES ($1) ON CONFLICT (is_only) DO UPDATE SET text = "
		"EXCLUDED.text, changed = now()";
	const char *values[1];
	struct cluster_sql *sql;
	struct buf copy;
	int ret = cluster_keeper(c, &sql, err);

	if (ret < 0)
		return ret;
	buf_init(&copy);
	buf_put(&copy, text->data, text->len);
	buf_put_u8(&copy, 0);
	values[0] = (const char *)copy.data;
	ret = copy.error ? err_set(err, ENOMEM, "no memory for the policies")
			 : cluster_sql_call(sql, put, 1, values, NULL, err);
	buf_release(&copy);
	return ret;
}

int cluster_ask_read_text(struct cluster *c, struct buf *text, size_t max_bytes, struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(c, &sql, err);

	if (ret == 0)
		ret = cluster_sql_call(sql, "SELECT text FROM policy", 0, NULL, &r, err);
	if (ret < 0 || !PQntuples(r)) {
		PQclear(r);
		return ret;
	}
	if ((size_t)PQgetlength(r, 0, 0) > max_bytes)
		ret = err_set(err, EFBIG, "table policy: expected at most %zu bytes", max_bytes);
	else if (buf_put(text, PQgetvalue(r, 0, 0), (size_t)PQgetlength(r, 0, 0)))
		ret = err_set(err, ENOMEM, "no memory for the policies");
	PQclear(r);
	return ret;
}
