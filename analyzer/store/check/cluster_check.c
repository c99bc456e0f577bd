/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/check/cluster_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/check/check_file.h"
#include "analyzer/store/cluster/cluster.h"
#include "analyzer/store/cluster/cluster_read.h"
#include "analyzer/store/cluster/cluster_sweep.h"

struct cluster_checker {
	struct check_report *r;
	struct cluster *c;
	bool repair;
	struct err *err;
};

/*
 * Checks one segment: its bytes, its hash, its last request, and its name. Returns 0 also if the
 * segment is damaged.
 */
static int cluster_check_segment(struct cluster_checker *k, struct cluster_stream *s,
				 const struct cluster_place *p, struct buf *data)
{
	const char *key = k->c->places.bundles[p->bundle].key;
	struct segment_name n = s->name;
	struct segment_facts f;
	struct err why = { 0 };
	int ret = cluster_read_place(k->c, s, p, data, &why);

	n.sequence = p->sequence;
	if (ret == 0)
		ret = segment_facts_read(&f, data->data, data->len, &why);
	if (ret == 0 && segment_name_compare(&f.name, &n) != 0)
		ret = err_set(&why, EBADMSG, "its header names another segment");
	if (ret == 0) {
		k->r->nr_segments++;
		k->r->nr_requests += f.nr_requests;
		k->r->segment_bytes += f.file_bytes;
		segment_facts_release(&f);
		return 0;
	}
	if (ret != -EBADMSG && ret != -ENOENT && ret != -EPROTONOSUPPORT && ret != -EINVAL &&
	    ret != -EFBIG) {
		if (k->err)
			*k->err = why;
		return ret;
	}
	return check_note(k->r, key, CHECK_DAMAGED, why.line,
			  "restore the object from a copy; the other segments are not affected")
		       ? 0
		       : -ENOMEM;
}

static int cluster_check_segments(struct cluster_checker *k)
{
	const struct cluster_places *p = &k->c->places;
	struct buf data;
	int ret = 0;

	buf_init(&data);
	for (size_t i = 0; i < p->nr_streams && ret == 0; i++)
		for (size_t j = 0; j < p->streams[i].nr && ret == 0; j++)
			ret = cluster_check_segment(k, &p->streams[i],
						    &p->places[p->streams[i].first + j], &data);
	buf_release(&data);
	k->r->nr_files += p->nr_bundles;
	return ret;
}

static int cluster_check_summaries(struct cluster_checker *k, struct store *s)
{
	const struct cluster_places *p = &k->c->places;
	int ret = 0;

	for (size_t i = 0; i < p->nr_summaries && ret == 0; i++) {
		struct err why = { 0 };
		struct summary one;

		summary_init(&one);
		k->r->nr_files++;
		ret = store_summary_read(s, &p->summaries[i].first, p->summaries[i].generation,
					 &one, &why);
		if (ret == 0) {
			k->r->nr_summaries++;
			k->r->nr_summarized += one.nr_requests - one.nr_dropped;
			k->r->nr_dropped += one.nr_dropped;
			k->r->nr_retained_segments += one.nr_members;
			k->r->summary_bytes += p->summaries[i].bytes;
		} else if (ret == -EBADMSG || ret == -ENOENT || ret == -EPROTONOSUPPORT) {
			ret = check_note(k->r, p->summaries[i].key, CHECK_DAMAGED, why.line,
					 "restore the object from a copy")
				      ? 0
				      : -ENOMEM;
		} else if (k->err) {
			*k->err = why;
		}
		summary_release(&one);
	}
	return ret;
}

/*
 * Finds bundles whose counts differ from those of their segments. Such a bundle would never
 * become garbage.
 */
static int cluster_check_counts(struct cluster_checker *k)
{
	static const char ask[] =
		"SELECT b.key, b.segments, b.used_bytes, coalesce(g.nr, 0), coalesce(g.bytes, 0) "
		"FROM bundle b LEFT JOIN (SELECT bundle, count(*) AS nr, sum(bytes) AS bytes FROM "
		"segment GROUP BY bundle) g ON g.bundle = b.id WHERE b.segments <> coalesce(g.nr, "
		"0) OR b.used_bytes <> coalesce(g.bytes, 0) ORDER BY b.key";
	static const char fix[] =
		"UPDATE bundle b SET segments = g.nr, used_bytes = g.bytes FROM (SELECT o.id, "
		"count(s.bundle) AS nr, coalesce(sum(s.bytes), 0) AS bytes FROM bundle o LEFT JOIN "
		"segment s ON s.bundle = o.id WHERE o.key = $1 GROUP BY o.id) g WHERE b.id = g.id";
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_sql_call(k->c->reader, ask, 0, NULL, &r, k->err);

	for (int i = 0; ret == 0 && i < PQntuples(r); i++) {
		const char *values[] = { PQgetvalue(r, i, 0) };
		struct check_finding *f;
		char why[160];

		snprintf(why, sizeof(why),
			 "its row counts %s segments of %s bytes, and %s of %s bytes are there",
			 PQgetvalue(r, i, 1), PQgetvalue(r, i, 2), PQgetvalue(r, i, 3),
			 PQgetvalue(r, i, 4));
		f = check_note(k->r, values[0], CHECK_CATALOG, why, "counted again");
		if (!f)
			ret = -ENOMEM;
		else if (k->repair && cluster_keeper(k->c, &sql, NULL) == 0)
			f->is_repaired = cluster_sql_call(sql, fix, 1, values, NULL, NULL) == 0;
	}
	PQclear(r);
	return ret;
}

static int cluster_check_orphan(void *ctx, const char *key, uint64_t bytes)
{
	struct cluster_checker *k = ctx;
	struct check_finding *f;
	char why[128];

	snprintf(why, sizeof(why), "nothing in the catalog names this object of %" PRIu64 " bytes",
		 bytes);
	f = check_note(k->r, key, CHECK_LEFTOVER, why, "removed");
	if (!f)
		return -ENOMEM;
	if (k->repair)
		f->is_repaired = object_delete(k->c->objects, key, NULL) == 0;
	return 0;
}

/* A bucket of another catalog is a finding, because everything else can be checked all the same. */
static int cluster_check_orphans(struct cluster_checker *k, double orphan_s)
{
	struct err why = { 0 };
	int ret = cluster_sweep_orphans(k->c, orphan_s, cluster_check_orphan, k, &why);

	if (ret == -EXDEV)
		return check_note(k->r, CLUSTER_OWNER_KEY, CHECK_FOREIGN, why.line,
				  "see docs/guide/fleet.md")
			       ? 0
			       : -ENOMEM;
	if (ret < 0 && k->err)
		*k->err = why;
	return ret;
}

int cluster_check_since(struct check_report *r, const char *name, bool repair, double orphan_s,
			struct err *err)
{
	struct cluster_checker k = { .r = r, .repair = repair, .err = err };
	uint64_t nr_deleted = 0;
	struct store *s;
	int ret = store_open(&s, name, false, err);

	if (ret < 0)
		return ret;
	k.c = s->cluster;
	ret = cluster_check_segments(&k);
	if (ret == 0)
		ret = cluster_check_summaries(&k, s);
	if (ret == 0)
		ret = cluster_check_counts(&k);
	if (ret == 0)
		ret = cluster_check_orphans(&k, orphan_s);
	if (ret == 0 && repair)
		ret = cluster_sweep_garbage(k.c, &nr_deleted, err);
	store_close(s);
	return ret == -ENOMEM ? err_set(err, ENOMEM, "no memory to check the cluster") : ret;
}

int cluster_check(struct check_report *r, const char *name, bool repair, struct err *err)
{
	return cluster_check_since(r, name, repair, CLUSTER_ORPHAN_S, err);
}
