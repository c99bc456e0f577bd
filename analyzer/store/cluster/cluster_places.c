/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/cluster/cluster_facts.h"
#include "base/memory/array.h"

struct loader {
	struct cluster_places *p;
	struct catalog *catalog;
};

void cluster_places_release(struct cluster_places *p)
{
	free(p->bundles);
	free(p->streams);
	free(p->places);
	free(p->summaries);
	*p = (struct cluster_places){ 0 };
}

static uint64_t places_u64(const PGresult *row, int at)
{
	return strtoull(PQgetvalue(row, 0, at), NULL, 10);
}

static int places_add_bundle(void *ctx, const PGresult *row, struct err *err)
{
	struct cluster_places *p = ctx;
	struct cluster_bundle *b;

	if (array_grow(&p->bundles, &p->cap_bundles, p->nr_bundles + 1, sizeof(*p->bundles)) < 0)
		return err_set(err, ENOMEM, "out of memory");
	b = &p->bundles[p->nr_bundles++];
	*b = (struct cluster_bundle){ .id = places_u64(row, 0), .bytes = places_u64(row, 2) };
	snprintf(b->key, sizeof(b->key), "%s", PQgetvalue(row, 0, 1));
	return 0;
}

static int places_compare_bundle(const void *id, const void *bundle)
{
	const struct cluster_bundle *b = bundle;
	uint64_t want = *(const uint64_t *)id;

	return (want > b->id) - (want < b->id);
}

/*
 * Returns the stream of the row, which is the last stream or a new one, because rows come in the
 * order of names.
 */
static struct cluster_stream *places_stream(struct cluster_places *p, const struct segment_name *n,
					    uint64_t id)
{
	struct cluster_stream *s = p->nr_streams ? &p->streams[p->nr_streams - 1] : NULL;

	if (s && s->id == id)
		return s;
	if (array_grow(&p->streams, &p->cap_streams, p->nr_streams + 1, sizeof(*p->streams)) < 0)
		return NULL;
	s = &p->streams[p->nr_streams++];
	*s = (struct cluster_stream){ .name = *n, .id = id, .first = p->nr_places };
	s->name.sequence = 0;
	return s;
}

/* The columns after the facts are stream, bundle, offset and hash. */
static int places_add_segment(void *ctx, const PGresult *row, struct err *err)
{
	const struct cluster_bundle *bundle = NULL;
	struct loader *l = ctx;
	struct cluster_places *p = l->p;
	struct cluster_stream *s;
	struct cluster_place *at;
	struct segment_facts f;
	uint64_t bundle_id = places_u64(row, CLUSTER_FACTS_NR_COLUMNS + 1);
	int ret = cluster_facts_take(&f, row, err);

	if (ret < 0)
		return ret;
	if (p->nr_bundles)
		bundle = bsearch(&bundle_id, p->bundles, p->nr_bundles, sizeof(*p->bundles),
				 places_compare_bundle);
	s = places_stream(p, &f.name, places_u64(row, CLUSTER_FACTS_NR_COLUMNS));
	if (!s || array_grow(&p->places, &p->cap_places, p->nr_places + 1, sizeof(*p->places)) < 0)
		ret = err_set(err, ENOMEM, "out of memory");
	else if (!bundle ||
		 segment_hash_parse(&f.hash, PQgetvalue(row, 0, CLUSTER_FACTS_NR_COLUMNS + 3)) < 0)
		ret = err_set(err, EBADMSG, "catalog: segment %s/%s/%llu/%llu is in no bundle",
			      f.name.host, f.name.boot_id, (unsigned long long)f.name.epoch,
			      (unsigned long long)f.name.sequence);
	if (ret == 0) {
		at = &p->places[p->nr_places++];
		*at = (struct cluster_place){ .sequence = f.name.sequence,
					      .at = places_u64(row, CLUSTER_FACTS_NR_COLUMNS + 2),
					      .bytes = f.file_bytes,
					      .hash = f.hash,
					      .bundle = (uint32_t)(bundle - p->bundles) };
		s->nr++;
		ret = catalog_put(l->catalog, &f, err);
	}
	segment_facts_release(&f);
	return ret;
}

/*
 * The columns after the facts are last, generation, key, sha256, segments, segment_bytes,
 * dropped, and the time.
 */
static int places_add_summary(void *ctx, const PGresult *row, struct err *err)
{
	const int more = CLUSTER_FACTS_NR_COLUMNS;
	struct loader *l = ctx;
	struct cluster_places *p = l->p;
	struct cluster_summary *s;
	struct segment_facts f;
	int ret = cluster_facts_take(&f, row, err);

	if (ret < 0)
		return ret;
	f.last_sequence = places_u64(row, more);
	f.generation = places_u64(row, more + 1);
	f.nr_segments = places_u64(row, more + 4);
	f.segment_bytes = places_u64(row, more + 5);
	f.nr_dropped = places_u64(row, more + 6);
	f.dropped_begin_real_ns = places_u64(row, more + 7);
	f.dropped_end_real_ns = places_u64(row, more + 8);
	if (array_grow(&p->summaries, &p->cap_summaries, p->nr_summaries + 1,
		       sizeof(*p->summaries)) < 0) {
		ret = err_set(err, ENOMEM, "out of memory");
	} else {
		s = &p->summaries[p->nr_summaries++];
		*s = (struct cluster_summary){ .first = f.name,
					       .generation = f.generation,
					       .bytes = f.file_bytes };
		snprintf(s->key, sizeof(s->key), "%s", PQgetvalue(row, 0, more + 2));
		snprintf(s->sha256, sizeof(s->sha256), "%s", PQgetvalue(row, 0, more + 3));
		ret = catalog_put(l->catalog, &f, err);
	}
	segment_facts_release(&f);
	return ret;
}

static int places_load_rows(struct loader *l, struct cluster_sql *sql, struct err *err)
{
	int ret = cluster_sql_each(sql, "SELECT id, key, bytes FROM bundle ORDER BY id", 0, NULL,
				   places_add_bundle, l->p, err);

	if (ret == 0)
		ret = cluster_sql_each(
			sql,
			"SELECT " CLUSTER_FACTS_COLUMNS(
				"s.sequence") ", s.stream, s.bundle, s.at, "
					      "encode(s.hash, 'hex') FROM segment s JOIN stream t ON t.id = s.stream "
					      "ORDER BY t.host, t.boot_id, t.epoch, s.sequence",
			0, NULL, places_add_segment, l, err);
	if (ret == 0)
		ret = cluster_sql_each(
			sql,
			"SELECT " CLUSTER_FACTS_COLUMNS(
				"s.first") ", s.last, s.generation, s.key, "
					   "encode(s.sha256, 'hex'), s.segments, s.segment_bytes, s.dropped, "
					   "s.dropped_begin, s.dropped_end FROM summary s JOIN stream t ON "
					   "t.id = s.stream ORDER BY t.host, t.boot_id, t.epoch, s.first",
			0, NULL, places_add_summary, l, err);
	return ret;
}

int cluster_places_load(struct cluster_places *p, struct catalog *catalog, struct cluster_sql *sql,
			struct err *err)
{
	struct loader l = { p, catalog };
	int ret = cluster_sql_call(sql, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL,
				   NULL, err);
	int ended;

	if (ret < 0)
		return ret;
	ret = catalog_begin(catalog, err);
	if (ret == 0)
		ret = places_load_rows(&l, sql, err);
	if (ret == 0)
		ret = catalog_commit(catalog, err);
	ended = cluster_sql_call(sql, ret < 0 ? "ROLLBACK" : "COMMIT", 0, NULL, NULL,
				 ret < 0 ? NULL : err);
	return ret < 0 ? ret : ended;
}

static int places_compare_stream(const void *name, const void *stream)
{
	struct segment_name n = *(const struct segment_name *)name;

	n.sequence = 0;
	return segment_name_compare(&n, &((const struct cluster_stream *)stream)->name);
}

struct cluster_stream *cluster_places_stream(const struct cluster_places *p,
					     const struct segment_name *n)
{
	if (!p->nr_streams)
		return NULL;
	return bsearch(n, p->streams, p->nr_streams, sizeof(*p->streams), places_compare_stream);
}

static int places_compare_place(const void *sequence, const void *place)
{
	const struct cluster_place *at = place;
	uint64_t want = *(const uint64_t *)sequence;

	return (want > at->sequence) - (want < at->sequence);
}

const struct cluster_place *cluster_places_find(const struct cluster_places *p,
						const struct cluster_stream *s, uint64_t sequence)
{
	if (!s->nr)
		return NULL;
	return bsearch(&sequence, p->places + s->first, s->nr, sizeof(*p->places),
		       places_compare_place);
}

static int places_compare_summary(const void *name, const void *summary)
{
	return segment_name_compare(name, &((const struct cluster_summary *)summary)->first);
}

const struct cluster_summary *cluster_places_summary(const struct cluster_places *p,
						     const struct segment_name *first,
						     uint64_t generation)
{
	const struct cluster_summary *s = NULL;

	if (p->nr_summaries)
		s = bsearch(first, p->summaries, p->nr_summaries, sizeof(*p->summaries),
			    places_compare_summary);
	return s && s->generation == generation ? s : NULL;
}

int cluster_places_put_summary(struct cluster_places *p, const struct segment_facts *f,
			       const char *key, const char *sha256)
{
	struct cluster_summary one = { .first = f->name,
				       .generation = f->generation,
				       .bytes = f->file_bytes };
	size_t at = 0;

	snprintf(one.key, sizeof(one.key), "%s", key);
	snprintf(one.sha256, sizeof(one.sha256), "%s", sha256);
	while (at < p->nr_summaries &&
	       segment_name_compare(&p->summaries[at].first, &one.first) < 0)
		at++;
	if (at < p->nr_summaries &&
	    segment_name_compare(&p->summaries[at].first, &one.first) == 0) {
		p->summaries[at] = one;
		return 0;
	}
	if (array_grow(&p->summaries, &p->cap_summaries, p->nr_summaries + 1,
		       sizeof(*p->summaries)) < 0)
		return -ENOMEM;
	memmove(&p->summaries[at + 1], &p->summaries[at],
		(p->nr_summaries - at) * sizeof(*p->summaries));
	p->summaries[at] = one;
	p->nr_summaries++;
	return 0;
}
