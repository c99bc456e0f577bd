/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_compact.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analyzer/store/cluster/cluster.h"
#include "analyzer/store/cluster/cluster_facts.h"
#include "analyzer/store/cluster/cluster_sweep.h"
#include "analyzer/store/cluster/compact_plan.h"
#include "analyzer/store/segment_place.h"
#include "base/memory/array.h"

#define COPY_BYTES (8u << 20) /* of one ranged GET */

/* One segment of a step. */
struct compact_segment {
	uint64_t stream, sequence, bundle, at, bytes;
	char day[16];
	struct segment_hash hash;
	const uint8_t *data; /* in the mapping; NULL: it is not copied */
};

/* A bundle of the step, and where its bytes begin in the temporary file. */
struct compact_source {
	uint64_t id, bytes, offset;
	char key[OBJECT_KEY_MAX];
	bool is_damaged;
};

struct compact_step {
	struct cluster *c;
	const struct store_compaction *how;
	int fd; /* the temporary file, without a name */
	uint8_t *map;
	uint64_t map_bytes;
	struct compact_source *sources; /* sorted by id */
	size_t nr_sources, cap_sources;
	struct compact_segment *segments; /* in their new order */
	size_t nr_segments, cap_segments;
	char day[16]; /* of the first bundle */
	struct compact_counts *counts;
};

static void compact_step_release(struct compact_step *t)
{
	if (t->map)
		munmap(t->map, t->map_bytes);
	if (t->fd >= 0)
		close(t->fd);
	free(t->sources);
	free(t->segments);
}

static bool compact_is_stopped(const struct compact_step *t)
{
	return t->how->stop && atomic_load(t->how->stop);
}

static const char *compact_folder(void)
{
	const char *folder = getenv("TMPDIR");

	return folder && *folder ? folder : "/var/tmp";
}

static int compact_file(int *fd, struct err *err)
{
	char name[512];

	if (snprintf(name, sizeof(name), "%s/blkcast-XXXXXX", compact_folder()) >=
	    (int)sizeof(name))
		return err_set(err, ENAMETOOLONG, "TMPDIR: too long a path");
	*fd = mkostemp(name, O_CLOEXEC);
	if (*fd < 0)
		return err_set(err, errno,
			       "%s: %s; compaction needs a folder for its copies, see "
			       "TMPDIR",
			       name, strerror(errno));
	unlink(name);
	return 0;
}

static uint64_t compact_room(void)
{
	struct statvfs v;
	uint64_t half;

	if (statvfs(compact_folder(), &v) < 0)
		return COMPACT_MAX_BYTES;
	half = (uint64_t)v.f_bavail * v.f_frsize / 2;
	return half < COMPACT_MAX_BYTES ? half : COMPACT_MAX_BYTES;
}

static struct compact_source *compact_source_find(struct compact_step *t, uint64_t id)
{
	for (size_t i = 0; i < t->nr_sources; i++)
		if (t->sources[i].id == id)
			return &t->sources[i];
	return NULL;
}

/*
 * Copies one bundle to the end of the temporary file. An object that cannot be read is left out,
 * but not if the whole object store cannot be reached.
 */
static int compact_copy_source(struct compact_step *t, struct compact_source *s, struct err *err)
{
	struct err why = { 0 };
	struct buf part;
	int token, ret = 0;

	s->offset = t->map_bytes;
	buf_init(&part);
	for (uint64_t at = 0; at < s->bytes && ret == 0; at += part.len) {
		uint64_t nr = s->bytes - at < COPY_BYTES ? s->bytes - at : COPY_BYTES;

		ret = compact_is_stopped(t) ? -ECANCELED : cluster_lease_take(t->c, &token, &why);
		if (ret == 0)
			ret = object_get(t->c->objects, s->key, at, nr, &part, &why);
		if (ret == 0)
			ret = write_whole(t->fd, part.data, part.len);
	}
	buf_release(&part);
	if (ret == -ENOENT || ret == -EBADMSG) {
		s->is_damaged = true;
		if (lseek(t->fd, (off_t)t->map_bytes, SEEK_SET) < 0)
			return err_set(err, errno, "%s: %s", compact_folder(), strerror(errno));
		return 0;
	}
	if (ret == 0)
		t->map_bytes += s->bytes;
	else if (why.code)
		*err = why;
	else if (ret != -ECANCELED)
		err_set(err, -ret, "%s: %s; compaction keeps its copies there, see TMPDIR",
			compact_folder(), strerror(-ret));
	return ret;
}

static int compact_copy(struct compact_step *t, struct err *err)
{
	int ret = compact_file(&t->fd, err);

	for (size_t i = 0; i < t->nr_sources && ret == 0; i++)
		ret = compact_copy_source(t, &t->sources[i], err);
	if (ret < 0 || !t->map_bytes)
		return ret;
	t->map = mmap(NULL, t->map_bytes, PROT_READ, MAP_SHARED, t->fd, 0);
	if (t->map != MAP_FAILED)
		return 0;
	t->map = NULL;
	return err_set(err, errno, "%s: %s", compact_folder(), strerror(errno));
}

static int compact_add_segment(void *ctx, const PGresult *row, struct err *err)
{
	struct compact_step *t = ctx;
	struct compact_segment *s;

	if (array_grow(&t->segments, &t->cap_segments, t->nr_segments + 1, sizeof(*s)) < 0)
		return err_set(err, ENOMEM, "out of memory");
	s = &t->segments[t->nr_segments++];
	*s = (struct compact_segment){ .stream = strtoull(PQgetvalue(row, 0, 0), NULL, 10),
				       .sequence = strtoull(PQgetvalue(row, 0, 1), NULL, 10),
				       .bundle = strtoull(PQgetvalue(row, 0, 2), NULL, 10),
				       .at = strtoull(PQgetvalue(row, 0, 3), NULL, 10),
				       .bytes = strtoull(PQgetvalue(row, 0, 4), NULL, 10) };
	snprintf(s->day, sizeof(s->day), "%s", PQgetvalue(row, 0, 5));
	if (segment_hash_parse(&s->hash, PQgetvalue(row, 0, 6)) < 0)
		return err_set(err, EBADMSG, "catalog: segment %s of stream %s has no hash",
			       PQgetvalue(row, 0, 1), PQgetvalue(row, 0, 0));
	return 0;
}

/* Returns the ids of the bundles as the text of a PostgreSQL array; the caller frees it. */
static char *compact_ids(const struct compact_step *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (size_t i = 0; i < t->nr_sources; i++)
		fprintf(f, "%c%" PRIu64, i ? ',' : '{', t->sources[i].id);
	fprintf(f, "}");
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* Reads the segments of the step in their new order: all of a host together, in order of time. */
static int compact_read_rows(struct compact_step *t, struct err *err)
{
	char *ids = compact_ids(t);
	const char *values[] = { ids };
	int ret;

	if (!ids)
		return err_set(err, ENOMEM, "out of memory");
	ret = cluster_sql_each(
		t->c->keeper,
		"SELECT s.stream, s.sequence, s.bundle, s.at, s.bytes, s.day, encode(s.hash, 'hex') "
		"FROM segment s JOIN stream t ON t.id = s.stream WHERE s.bundle = ANY($1::bigint[]) "
		"ORDER BY t.host, s.anchors[3], s.stream, s.sequence",
		1, values, compact_add_segment, t, err);
	free(ids);
	return ret;
}

/* Keeps the segments whose bytes have their hash, and marks the bundle of any other segment. */
static size_t compact_verify(struct compact_step *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_segments; i++) {
		struct compact_segment *s = &t->segments[i];
		struct compact_source *from = compact_source_find(t, s->bundle);
		struct segment_hash hash;

		if (from && !from->is_damaged && s->at <= from->bytes &&
		    s->bytes <= from->bytes - s->at) {
			s->data = t->map + from->offset + s->at;
			hash = segment_hash_of(s->data, s->bytes);
			if (memcmp(hash.bytes, s->hash.bytes, sizeof(hash.bytes)) == 0) {
				t->segments[nr++] = *s;
				continue;
			}
		}
		if (from)
			from->is_damaged = true;
		t->counts->nr_left_out++;
	}
	return nr;
}

/*
 * Bundles of the step that still exist are tried again after a day: a damaged bundle, or a bundle
 * whose row counts more segments than there are. Each step therefore leaves fewer bundles to plan.
 */
static int compact_put_off(struct compact_step *t, struct err *err)
{
	char *ids = compact_ids(t);
	const char *values[] = { ids };
	PGresult *r = NULL;
	int ret =
		ids ? cluster_sql_call(t->c->keeper,
				       "UPDATE bundle SET compact_after = now() + interval '1 day' "
				       "WHERE id = ANY($1::bigint[])",
				       1, values, &r, err)
		    : err_set(err, ENOMEM, "out of memory");

	if (ret == 0)
		t->counts->nr_joined += t->nr_sources - strtoull(PQcmdTuples(r), NULL, 10);
	PQclear(r);
	free(ids);
	return ret;
}

/* Reads the new object back and compares it with what was sent. */
static int compact_read_back(struct compact_step *t, const char *key, uint64_t bytes,
			     const char *sha256, struct err *err)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	char text[OBJECT_SHA256_HEX];
	struct sha256_ctx sum;
	struct buf part;
	int token, ret = 0;

	buf_init(&part);
	sha256_init(&sum);
	for (uint64_t at = 0; at < bytes && ret == 0; at += part.len) {
		uint64_t nr = bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES;

		ret = compact_is_stopped(t) ? -ECANCELED : cluster_lease_take(t->c, &token, err);
		if (ret == 0)
			ret = object_get(t->c->objects, key, at, nr, &part, err);
		if (ret == 0)
			sha256_update(&sum, part.len, part.data);
	}
	buf_release(&part);
	if (ret < 0)
		return ret;
	sha256_digest(&sum, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	if (strcmp(text, sha256) == 0)
		return 0;
	return err_set(err, EBADMSG, "object %s: other bytes came back than compaction wrote", key);
}

static json_t *compact_json(const struct compact_step *t, int token, const char *key,
			    uint64_t bytes, const char *sha256, uint32_t copies)
{
	json_t *rows = json_array();
	uint64_t at = 0;
	int failed = 0;

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct compact_segment *s = &t->segments[i];

		failed |= json_array_append_new(
			rows,
			json_pack("[I, I, I, I, s]", (json_int_t)s->stream, (json_int_t)s->sequence,
				  (json_int_t)s->bundle, (json_int_t)at, s->day));
		at += s->bytes;
	}
	return json_pack("{s:s, s:i, s:s, s:I, s:s, s:i, s:s, s:o}", "holder", t->c->holder,
			 "token", token, "key", key, "bytes", (json_int_t)bytes, "sha256", sha256,
			 "generation", (int)copies, "day", t->day, "segments",
			 cluster_whole_array(rows, failed));
}

/* Moves the rows, unless another process got the lease since token was given. */
static int compact_commit(struct compact_step *t, json_t *all, struct err *err)
{
	char *text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	const char *values[] = { text };
	PGresult *r = NULL;
	int ret;

	json_decref(all);
	if (!text)
		return err_set(err, ENOMEM, "out of memory");
	ret = cluster_sql_call(t->c->keeper, "SELECT compact($1::jsonb)", 1, values, &r, err);
	if (ret == 0)
		t->counts->nr_segments += strtoull(PQgetvalue(r, 0, 0), NULL, 10);
	PQclear(r);
	free(text);
	return ret;
}

static int compact_write(struct compact_step *t, uint32_t copies, struct err *err)
{
	struct iovec *parts = calloc(t->nr_segments, sizeof(*parts));
	char key[OBJECT_KEY_MAX], sha256[OBJECT_SHA256_HEX];
	uint64_t bytes = 0;
	int token, ret;

	if (!parts)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < t->nr_segments; i++) {
		parts[i] = (struct iovec){ (void *)(uintptr_t)t->segments[i].data,
					   t->segments[i].bytes };
		bytes += t->segments[i].bytes;
	}
	cluster_new_key(t->c, "bundles", "seg", key);
	/* The lease outlasts the slowest PUT that object_store allows. */
	ret = cluster_lease_take_for(t->c, CLUSTER_LEASE_S + bytes / (1u << 20), &token, err);
	if (ret == 0)
		ret = object_put(t->c->objects, key, parts, (int)t->nr_segments, sha256, err);
	if (ret == 0)
		ret = compact_read_back(t, key, bytes, sha256, err);
	if (ret == 0)
		ret = compact_commit(t, compact_json(t, token, key, bytes, sha256, copies), err);
	if (ret == 0) {
		t->counts->nr_written++;
		t->counts->bytes += bytes;
	}
	free(parts);
	return ret;
}

static int compact_step_run(struct compact_step *t, uint32_t copies, struct err *err)
{
	int ret = compact_read_rows(t, err);

	if (ret == 0)
		ret = compact_copy(t, err);
	if (ret < 0)
		return ret;
	t->nr_segments = compact_verify(t);
	if (t->nr_segments)
		ret = compact_write(t, copies, err);
	return ret == 0 ? compact_put_off(t, err) : ret;
}

/* The rows of all bundles that compaction may look at. */
struct compact_view {
	PGresult *rows;
	struct compact_bundle *bundles;
	size_t nr;
	int64_t today;
};

static int compact_look(struct cluster *c, const struct store_compaction *how,
			struct compact_view *v, struct err *err)
{
	static const char ask[] =
		"SELECT id, key, bytes, used_bytes, segments, generation, day - date '1970-01-01', "
		"day, (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' FROM bundle WHERE "
		"segments > 0 AND (compact_after IS NULL OR compact_after < now()) ORDER BY id";
	int ret = cluster_sql_call(c->keeper, ask, 0, NULL, &v->rows, err);

	if (ret < 0)
		return ret;
	v->nr = (size_t)PQntuples(v->rows);
	v->bundles = calloc(v->nr + 1, sizeof(*v->bundles));
	if (!v->bundles)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < v->nr; i++) {
		struct compact_bundle *b = &v->bundles[i];
		uint64_t value[9];

		for (int k = 0; k < 9; k++)
			value[k] = strtoull(PQgetvalue(v->rows, (int)i, k), NULL, 10);
		*b = (struct compact_bundle){ .id = value[0],
					      .bytes = value[2],
					      .used_bytes = value[3],
					      .nr_segments = value[4],
					      .copies = (uint32_t)value[5],
					      .day = (int64_t)value[6] };
		v->today = (int64_t)value[8];
	}
	if (how->all)
		v->today = INT64_MAX;
	return 0;
}

static void compact_view_release(struct compact_view *v)
{
	PQclear(v->rows);
	free(v->bundles);
}

/* Takes the row of a bundle from the answer, which is sorted by id. */
static int compact_view_row(const struct compact_view *v, uint64_t id)
{
	int low = 0, high = (int)v->nr;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (strtoull(PQgetvalue(v->rows, mid, 0), NULL, 10) < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int compact_take_sources(struct compact_step *t, const struct compact_view *v,
				const struct compact_group *g, struct err *err)
{
	for (size_t i = 0; i < g->nr; i++) {
		const struct compact_bundle *b = &v->bundles[g->first + i];
		int row = compact_view_row(v, b->id);
		struct compact_source *s;

		if (array_grow(&t->sources, &t->cap_sources, t->nr_sources + 1, sizeof(*s)) < 0)
			return err_set(err, ENOMEM, "out of memory");
		s = &t->sources[t->nr_sources++];
		*s = (struct compact_source){ .id = b->id, .bytes = b->bytes };
		snprintf(s->key, sizeof(s->key), "%s", PQgetvalue(v->rows, row, 1));
		if (i == 0)
			snprintf(t->day, sizeof(t->day), "%s", PQgetvalue(v->rows, row, 7));
	}
	return 0;
}

/* Makes one step. Returns 1 if there may be another, 0 if nothing is left to do. */
static int compact_once(struct cluster *c, const struct store_compaction *how,
			struct compact_counts *counts, struct err *err)
{
	struct compact_step t = { .c = c, .how = how, .fd = -1, .counts = counts };
	struct compact_view v = { 0 };
	struct compact_group group;
	int token, ret = cluster_lease_take(c, &token, err);

	if (ret == 0)
		ret = compact_look(c, how, &v, err);
	if (ret == 0 && compact_is_stopped(&t))
		ret = -ECANCELED;
	if (ret == 0 && compact_plan(v.bundles, v.nr, v.today, compact_room(), &group)) {
		ret = compact_take_sources(&t, &v, &group, err);
		if (ret == 0)
			ret = compact_step_run(&t, group.copies, err);
		if (ret == 0)
			ret = 1;
	}
	compact_step_release(&t);
	compact_view_release(&v);
	return ret;
}

struct compact_orphans {
	struct cluster *c;
	uint64_t *nr;
};

static int compact_delete_orphan(void *ctx, const char *key, uint64_t bytes)
{
	struct compact_orphans *o = ctx;

	(void)bytes;
	*o->nr += object_delete(o->c->objects, key, NULL) == 0;
	return 0;
}

/*
 * Looks for orphans once a day, whichever process does it, because listing a bucket is expensive.
 */
static int compact_sweep(struct cluster *c, const struct store_compaction *how,
			 struct compact_counts *counts, struct err *err)
{
	struct compact_orphans orphans = { c, &counts->nr_orphans };
	char once[OBJECT_KEY_MAX];
	const char *values[] = { once };
	PGresult *r = NULL;
	bool is_due;
	int ret = cluster_sweep_garbage(c, &counts->nr_deleted, err);

	if (ret < 0)
		return ret;
	cluster_new_key(c, "sweep", "", once);
	ret = cluster_sql_call(c->keeper, "SELECT take_lease('sweep', $1, 86400)", 1, values, &r,
			       err);
	if (ret < 0)
		return ret;
	is_due = how->all || !PQgetisnull(r, 0, 0);
	PQclear(r);
	return is_due ? cluster_sweep_orphans(c, CLUSTER_ORPHAN_S, compact_delete_orphan, &orphans,
					      err)
		      : 0;
}

int cluster_home_compact(struct store *s, const struct store_compaction *how,
			 struct compact_counts *counts, struct err *err)
{
	int ret;

	do
		ret = compact_once(s->cluster, how, counts, err);
	while (ret > 0);
	return ret < 0 ? ret : compact_sweep(s->cluster, how, counts, err);
}
