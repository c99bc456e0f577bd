/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_bundle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/store/cluster/cluster_facts.h"
#include "base/memory/array.h"
#include "base/memory/buf.h"

/* tries if another serve process has stored one of the segments meanwhile */
#define MAX_TRIES   3
#define DAY_S	    86400
#define MAX_DAYS    4096
#define DAYS_BEHIND 400 /* as blkcast.day_of() has them */
#define DAYS_AHEAD  2

/* The results of blkcast.take() for a segment. */
enum verdict {
	VERDICT_STORED,
	VERDICT_REPEATED,
	VERDICT_CONFLICT,
	VERDICT_HOST_BYTES,
	VERDICT_HOST_DAY,
	VERDICT_HOLES,
};

int bundle_item_init(struct bundle_item *item, struct segment_reader **reader, struct err *err)
{
	const struct segment_facts *f = item->segment.facts;
	json_t *row = cluster_facts_json(f);

	item->day = (int64_t)(f->begin.realtime_ns / 1000000000u / DAY_S);
	if (row && json_object_set_new(row, "profiles",
				       cluster_profiles_json(reader, item->segment.data,
							     item->segment.len)) == 0)
		item->row = json_dumps(row, JSON_COMPACT);
	json_decref(row);
	if (!item->row)
		return err_set(err, ENOMEM, "out of memory");
	item->nr_row = strlen(item->row);
	return 0;
}

void bundle_item_release(struct bundle_item *item)
{
	free(item->row);
	item->row = NULL;
}

size_t bundle_item_bytes(const struct bundle_item *item)
{
	return item->segment.len + item->nr_row;
}

void bundle_days_release(struct bundle_days *d)
{
	free(d->days);
	*d = (struct bundle_days){ 0 };
}

/*
 * Gives all segments of the bundle the same failure. -EEXIST is that of some unique key of the
 * catalog, and not a conflict of two segments, which has a verdict of its own.
 */
static void bundle_fail(struct bundle_commit *b, int ret, const struct err *err)
{
	for (size_t i = 0; i < b->nr; i++) {
		b->items[i]->ret = ret == -EEXIST ? -EIO : ret;
		b->items[i]->err = *err;
	}
}

/*
 * Creates the partition of a day that has none yet. A day that lies far off gets no partition of
 * its own.
 */
static int bundle_make_day(struct bundle_commit *b, int64_t day, struct err *err)
{
	int64_t today = (int64_t)time(NULL) / DAY_S;
	time_t at = (time_t)day * DAY_S;
	const char *values[1];
	char text[32];
	struct tm tm;
	int ret;

	for (size_t i = 0; i < b->days->nr; i++)
		if (b->days->days[i] == day)
			return 0;
	if (day < today - DAYS_BEHIND || day > today + DAYS_AHEAD || !gmtime_r(&at, &tm))
		return 0;
	strftime(text, sizeof(text), "%Y-%m-%d", &tm);
	values[0] = text;
	ret = cluster_sql_call(*b->sql, "SELECT make_day($1::date)", 1, values, NULL, err);
	if (ret < 0 || b->days->nr >= MAX_DAYS)
		return ret;
	if (array_grow(&b->days->days, &b->days->cap, b->days->nr + 1, sizeof(int64_t)) == 0)
		b->days->days[b->days->nr++] = day;
	return 0;
}

/*
 * Creates the partitions of all days of the bundle. Profiles of windows begin up to a day before
 * their segment does.
 */
static int bundle_make_days(struct bundle_commit *b, struct err *err)
{
	int ret = 0;

	for (size_t i = 0; i < b->nr && ret == 0; i++) {
		ret = bundle_make_day(b, b->items[i]->day, err);
		if (ret == 0)
			ret = bundle_make_day(b, b->items[i]->day - 1, err);
	}
	return ret;
}

static int bundle_sql(struct bundle_commit *b, struct err *err)
{
	int ret;

	if (*b->sql)
		return 0;
	ret = cluster_sql_open(b->sql, &b->cluster->url, true, err);
	if (ret < 0)
		return ret;
	ret = cluster_sql_check_schema(*b->sql, err);
	if (ret < 0) {
		cluster_sql_close(*b->sql);
		*b->sql = NULL;
	}
	return ret;
}

/* Finds the segments that the catalog already has; these need not be written again. */
static int bundle_look_up(struct bundle_commit *b, struct err *err)
{
	json_t *names = json_array(), *all;
	const char *values[1];
	PGresult *r = NULL;
	char *text;
	int ret, failed = 0;

	for (size_t i = 0; i < b->nr; i++) {
		json_t *name = cluster_name_json(&b->items[i]->segment.facts->name);

		b->items[i]->is_known = false;
		failed |= json_object_set_new(name, "i", json_integer((json_int_t)i));
		failed |= json_array_append_new(names, name);
	}
	/* A name without its number would mark another segment as known. */
	all = json_pack("{s:o}", "segments", cluster_whole_array(names, failed));
	values[0] = text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	ret = text ? cluster_sql_call(*b->sql, "SELECT known($1::jsonb)", 1, values, &r, err)
		   : err_set(err, ENOMEM, "out of memory");
	free(text);
	for (int i = 0; ret == 0 && i < PQntuples(r); i++) {
		size_t at = strtoul(PQgetvalue(r, i, 0), NULL, 10);

		if (at < b->nr)
			b->items[at]->is_known = true;
	}
	PQclear(r);
	return ret;
}

/* Writes the new segments one after the other as one object; *bytes is 0 if there are none. */
static int bundle_put(struct bundle_commit *b, const char *key, uint64_t *bytes,
		      char sha256[OBJECT_SHA256_HEX], struct err *err)
{
	struct iovec *parts = calloc(b->nr, sizeof(*parts));
	int nr = 0, ret = 0;

	*bytes = 0;
	if (!parts)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < b->nr; i++) {
		struct bundle_item *item = b->items[i];

		if (item->is_known)
			continue;
		item->at = *bytes;
		*bytes += item->segment.len;
		parts[nr++] =
			(struct iovec){ (void *)(uintptr_t)item->segment.data, item->segment.len };
	}
	if (nr)
		ret = object_put(b->cluster->objects, key, parts, nr, sha256, err);
	free(parts);
	return ret;
}

/* Writes the argument of blkcast.take(). Each row is put in as the text that it is already. */
static int bundle_json(const struct bundle_commit *b, const char *key, uint64_t bytes,
		       const char *sha256, struct buf *out)
{
	buf_printf(out, "{\"host_bytes\":%" PRIu64 ",\"host_segments\":%" PRIu64, b->quota.bytes,
		   b->quota.nr_segments_per_day);
	if (bytes)
		buf_printf(out, ",\"key\":\"%s\",\"bytes\":%" PRIu64 ",\"sha256\":\"%s\"", key,
			   bytes, sha256);
	buf_printf(out, ",\"segments\":[");
	for (size_t i = 0; i < b->nr; i++) {
		const struct bundle_item *item = b->items[i];

		buf_printf(out, "%s{\"i\":%zu,\"at\":", i ? "," : "", i);
		/* The bundle does not hold the bytes of a known segment. */
		if (item->is_known)
			buf_printf(out, "null,");
		else
			buf_printf(out, "%" PRIu64 ",", item->at);
		buf_put(out, item->row + 1, item->nr_row - 1);
	}
	buf_put(out, "]}", sizeof("]}"));
	return out->error;
}

static void bundle_judge(struct bundle_item *item, enum verdict verdict)
{
	const struct segment_name *n = &item->segment.facts->name;

	switch (verdict) {
	case VERDICT_STORED:
		item->ret = 0;
		return;
	case VERDICT_REPEATED:
		item->ret = -EALREADY;
		return;
	case VERDICT_CONFLICT:
		item->ret = err_set(&item->err, EEXIST,
				    "%s/%s/%" PRIu64 "/%" PRIu64
				    ": another segment is stored under this name",
				    n->host, n->boot_id, n->epoch, n->sequence);
		return;
	case VERDICT_HOST_DAY:
		item->ret =
			err_set(&item->err, EUSERS,
				"host %s: its quota of segments a day is used up; the segment can "
				"be stored tomorrow (UTC)",
				n->host);
		return;
	case VERDICT_HOLES:
		item->ret = err_set(&item->err, EDQUOT,
				    "host %s: too many sequence numbers are missing between the "
				    "segments of stream %s/%" PRIu64,
				    n->host, n->boot_id, n->epoch);
		return;
	case VERDICT_HOST_BYTES:
	default:
		item->ret =
			err_set(&item->err, EDQUOT,
				"host %s: its quota of the store is used up; the segment can be "
				"stored once retention has made room, or with a larger quota",
				n->host);
	}
}

/*
 * Checks that the answer names every segment exactly once; otherwise the whole answer is refused.
 */
static int bundle_judge_all(struct bundle_commit *b, const PGresult *r, struct err *err)
{
	if ((size_t)PQntuples(r) != b->nr)
		return err_set(err, EIO, "PostgreSQL %s: expected %zu verdicts, got %d",
			       cluster_sql_name(*b->sql), b->nr, PQntuples(r));
	for (size_t i = 0; i < b->nr; i++)
		b->items[i]->ret = -EIO;
	for (int i = 0; i < PQntuples(r); i++) {
		size_t at = strtoul(PQgetvalue(r, i, 0), NULL, 10);

		if (at < b->nr)
			bundle_judge(b->items[at],
				     (enum verdict)strtoul(PQgetvalue(r, i, 1), NULL, 10));
	}
	return 0;
}

/* Returns -EAGAIN if another serve process stored one of the segments meanwhile. */
static int bundle_try(struct bundle_commit *b, struct err *err)
{
	char key[OBJECT_KEY_MAX], sha256[OBJECT_SHA256_HEX] = "";
	const char *values[1];
	PGresult *r = NULL;
	struct buf text;
	uint64_t bytes;
	int ret = bundle_sql(b, err);

	if (ret == 0)
		ret = bundle_make_days(b, err);
	if (ret == 0)
		ret = bundle_look_up(b, err);
	if (ret < 0)
		return ret;
	cluster_new_key(b->cluster, "bundles", "seg", key);
	ret = bundle_put(b, key, &bytes, sha256, err);
	if (ret < 0)
		return ret;
	buf_init(&text);
	if (bundle_json(b, key, bytes, sha256, &text) < 0)
		ret = err_set(err, ENOMEM, "out of memory");
	values[0] = (const char *)text.data;
	if (ret == 0)
		ret = cluster_sql_call(*b->sql, "SELECT i, verdict FROM take($1::jsonb)", 1, values,
				       &r, err);
	buf_release(&text);
	if (ret == 0)
		ret = bundle_judge_all(b, r, err);
	PQclear(r);
	return ret;
}

/* Refuses a segment whose values the database cannot store, however often it is sent. */
static void bundle_refuse(struct bundle_item *item, const struct err *why)
{
	const struct segment_name *n = &item->segment.facts->name;

	item->ret = err_set(&item->err, EILSEQ,
			    "%s/%s/%" PRIu64 "/%" PRIu64 ": the catalog cannot hold its values: "
			    "%.200s",
			    n->host, n->boot_id, n->epoch, n->sequence, why->line);
}

/*
 * Stores the bundle as two halves, so that a segment whose values the database cannot take does not
 * keep out those of other senders. Each half is tried in the same way.
 */
static void bundle_commit_halves(const struct bundle_commit *b)
{
	struct bundle_commit first = *b, second = *b;

	first.nr = b->nr / 2;
	second.nr = b->nr - first.nr;
	second.items += first.nr;
	bundle_commit(&first);
	bundle_commit(&second);
}

void bundle_commit(struct bundle_commit *b)
{
	struct err err = { 0 };
	int ret = -EAGAIN;

	for (int tries = 0; ret == -EAGAIN && tries < MAX_TRIES; tries++)
		ret = bundle_try(b, &err);
	if (ret == -EILSEQ && b->nr > 1)
		bundle_commit_halves(b);
	else if (ret == -EILSEQ)
		bundle_refuse(b->items[0], &err);
	else if (ret < 0)
		bundle_fail(b, ret, &err);
}
