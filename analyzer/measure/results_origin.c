// SPDX-License-Identifier: Apache-2.0
#include "analyzer/measure/results_origin.h"

#include "analyzer/measure/results_sql.h"
#include "base/text/units.h"

static const char *results_origin_text(sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

static int results_origin_runs(struct results *r, int64_t campaign, struct buf *out,
			       struct err *err)
{
	char begin[UNITS_BYTES], end[UNITS_BYTES];
	sqlite3_stmt *s;
	int ret = results_prepare(
		r, &s, err,
		"SELECT c.name, COUNT(r.id), MIN(r.began_s), MAX(r.ended_s) FROM campaign c "
		"LEFT JOIN configuration k ON k.campaign = c.id "
		"LEFT JOIN run r ON r.configuration = k.id AND r.status = 'done' WHERE c.id = ?",
		"i", campaign);

	if (ret)
		return ret;
	if (sqlite3_step(s) == SQLITE_ROW) {
		units_instant((uint64_t)(sqlite3_column_double(s, 2) * 1e9), true, 0, begin);
		units_instant((uint64_t)(sqlite3_column_double(s, 3) * 1e9), true, 0, end);
		buf_printf(out, "campaign %s, %lld runs", results_origin_text(s, 0),
			   (long long)sqlite3_column_int64(s, 1));
		if (sqlite3_column_int64(s, 1))
			buf_printf(out, " from %s to %s", begin, end);
	}
	return sqlite3_finalize(s) ? results_fail(r, err) : 0;
}

/* The other columns of a row with MIN() are those of the row that has the minimum (SQLite). */
static int results_origin_places(struct results *r, int64_t campaign, struct buf *out,
				 struct err *err)
{
	bool none = true;
	sqlite3_stmt *s;
	int ret = results_prepare(
		r, &s, err,
		"SELECT a.target, a.content, MIN(a.run) FROM artifact a JOIN run r ON r.id = a.run "
		"JOIN configuration k ON k.id = r.configuration "
		"WHERE k.campaign = ? AND a.kind = 'place' GROUP BY a.target ORDER BY a.target",
		"i", campaign);

	if (ret)
		return ret;
	while (sqlite3_step(s) == SQLITE_ROW) {
		buf_printf(out, "; target %s on %s", results_origin_text(s, 0),
			   results_origin_text(s, 1));
		none = false;
	}
	if (none)
		buf_printf(out, "; the runs do not name their device and file system");
	buf_printf(out, ".");
	buf_put_u8(out, 0);
	return sqlite3_finalize(s) ? results_fail(r, err) : 0;
}

int results_origin(const char *db, const char *campaign, struct buf *out, struct err *err)
{
	struct results *r = NULL;
	int64_t id;
	int ret = results_open(&r, db, RESULTS_READ, err);

	if (ret)
		goto out;
	ret = results_find(r, campaign, &id, err);
	if (ret)
		goto out;
	ret = results_origin_runs(r, id, out, err);
	if (ret)
		goto out;
	ret = results_origin_places(r, id, out, err);
	if (!ret)
		ret = out->error;
out:
	results_close(r);
	return ret;
}
