/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of store_home.h for a store that is a cluster. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/store/cluster/cluster.h"
#include "analyzer/store/cluster/cluster_blocks.h"
#include "analyzer/store/cluster/cluster_compact.h"
#include "analyzer/store/cluster/cluster_facts.h"
#include "analyzer/store/cluster/cluster_intake.h"
#include "analyzer/store/cluster/cluster_read.h"
#include "analyzer/store/segment_place.h"

/* Reads the whole index again, into a new catalog in memory. */
static int cluster_home_sync(struct store *s, struct err *err)
{
	struct cluster *c = s->cluster;
	struct cluster_places places = { 0 };
	struct catalog *catalog = NULL;
	int ret = catalog_open(&catalog, NULL, err);

	if (ret == 0)
		ret = cluster_places_load(&places, catalog, c->reader, err);
	if (ret < 0) {
		catalog_close(catalog);
		cluster_places_release(&places);
		return ret;
	}
	cluster_blocks_drop(c->blocks);
	atomic_store(&c->nr_streams_read, 0);
	cluster_places_release(&c->places);
	catalog_close(s->catalog);
	c->places = places;
	s->catalog = catalog;
	s->sync = (struct store_sync){ .nr_segments = places.nr_places };
	return 0;
}

/*
 * A process that adds segments needs no index, because the database alone decides which segments
 * are stored.
 */
static int cluster_home_count(struct store *s, struct err *err)
{
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(s->cluster, &sql, err);

	if (ret == 0)
		ret = catalog_open(&s->catalog, NULL, err);
	if (ret == 0)
		ret = cluster_sql_call(sql, "SELECT coalesce(sum(segments), 0) FROM bundle", 0,
				       NULL, &r, err);
	if (ret == 0)
		s->sync.nr_segments = strtoull(PQgetvalue(r, 0, 0), NULL, 10);
	PQclear(r);
	return ret;
}

static int cluster_home_open(struct store *s, enum store_use use, struct err *err)
{
	struct cluster *c;
	int ret = cluster_new(&s->cluster, s->dir, err);

	if (ret < 0)
		return ret;
	if (use == STORE_TO_FILL)
		return cluster_home_count(s, err);
	c = s->cluster;
	ret = cluster_sql_open(&c->reader, &c->url, false, err);
	if (ret == 0)
		ret = cluster_sql_check_schema(c->reader, err);
	return ret == 0 ? cluster_home_sync(s, err) : ret;
}

static void cluster_home_close(struct store *s)
{
	cluster_free(s->cluster);
}

static int cluster_home_read(const struct store *s, const char *path, size_t limit, struct buf *b,
			     struct err *err)
{
	return cluster_read_path(s->cluster, path, limit, b, err);
}

static int cluster_home_file(const struct store *s, const char *path, const struct buf *data,
			     char out[STORE_FILE_MAX], struct err *err)
{
	struct cluster *c = s->cluster;
	const char *temporary = getenv("TMPDIR");
	int fd, ret;

	(void)path;
	if (!c->scratch[0]) {
		char folder[sizeof(c->scratch)];
		int len = snprintf(folder, sizeof(folder), "%s/blkcast-XXXXXX",
				   temporary ? temporary : "/tmp");

		if (len >= (int)sizeof(folder))
			snprintf(folder, sizeof(folder), "/tmp/blkcast-XXXXXX");
		if (!mkdtemp(folder))
			return err_set(err, errno, "%s: %s", folder, strerror(errno));
		memcpy(c->scratch, folder, sizeof(folder));
	}
	snprintf(out, STORE_FILE_MAX, "%s/%" PRIu64 ".seg", c->scratch, c->nr_scratch++);
	fd = open(out, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, errno, "%s: %s", out, strerror(errno));
	ret = write_whole(fd, data->data, data->len);
	close(fd);
	if (ret < 0)
		unlink(out);
	return ret < 0 ? err_set(err, -ret, "%s: %s", out, strerror(-ret)) : 0;
}

static void cluster_home_file_done(const struct store *s, const char *file)
{
	(void)s;
	unlink(file);
}

static void cluster_home_space(const struct store *s, uint64_t *nr_inodes, uint64_t *bytes)
{
	(void)s;
	*nr_inodes = *bytes = 0;
}

static int cluster_home_lock(struct store *s, enum store_lock which, int *token, struct err *err)
{
	int ret;

	*token = -1;
	if (which == STORE_LOCK_SERVE)
		return 0;
	ret = cluster_lease_take(s->cluster, token, err);
	if (ret == 0)
		s->cluster->token = *token;
	return ret;
}

static void cluster_home_unlock(struct store *s, enum store_lock which, int token)
{
	if (which != STORE_LOCK_RETENTION)
		return;
	cluster_lease_end(s->cluster, token);
	s->cluster->token = 0;
}

static int cluster_home_hash(struct store *s, const struct segment_name *n,
			     struct segment_hash *out)
{
	char epoch[24], sequence[24];
	const char *values[] = { n->host, n->boot_id, epoch, sequence };
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(s->cluster, &sql, NULL);

	snprintf(epoch, sizeof(epoch), "%" PRIu64, n->epoch);
	snprintf(sequence, sizeof(sequence), "%" PRIu64, n->sequence);
	if (ret == 0)
		ret = cluster_sql_call(
			sql,
			"SELECT encode(g.hash, 'hex') FROM segment g JOIN stream t ON t.id = "
			"g.stream WHERE t.host = $1 AND t.boot_id = $2 AND t.epoch = $3 AND "
			"g.sequence = $4",
			4, values, &r, NULL);
	if (ret < 0)
		return ret;
	ret = PQntuples(r) ? segment_hash_parse(out, PQgetvalue(r, 0, 0)) : -ENOENT;
	PQclear(r);
	return ret;
}

static void cluster_home_take_out(struct store *s, const struct segment_name *names, size_t nr)
{
	struct cluster_sql *sql;

	if (cluster_keeper(s->cluster, &sql, NULL) < 0)
		return;
	for (size_t i = 0; i < nr; i++) {
		char epoch[24], sequence[24];
		const char *values[] = { names[i].host, names[i].boot_id, epoch, sequence };

		snprintf(epoch, sizeof(epoch), "%" PRIu64, names[i].epoch);
		snprintf(sequence, sizeof(sequence), "%" PRIu64, names[i].sequence);
		cluster_sql_call(sql, "SELECT forget($1, $2, $3, $4)", 4, values, NULL, NULL);
	}
}

/* Makes the summary's row, with the names and hashes by which late retries are recognized. */
static json_t *cluster_summary_json(const struct store_replacement *r, const char *key,
				    const char *sha256)
{
	const struct segment_facts *f = r->facts;
	json_t *row = cluster_facts_json(f);
	json_t *sequences = json_array(), *hashes = json_array(), *more;
	int failed = 0;

	for (size_t i = 0; i < r->summary->nr_members; i++) {
		char text[SEGMENT_HASH_TEXT];

		segment_hash_text(&r->summary->members[i].hash, text);
		failed |= json_array_append_new(
			sequences, json_integer((json_int_t)r->summary->members[i].sequence));
		failed |= json_array_append_new(hashes, json_string(text));
	}
	more = json_pack("{s:I, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "first",
			 (json_int_t)f->name.sequence, "last", (json_int_t)f->last_sequence,
			 "generation", (json_int_t)f->generation, "key", key, "sha256", sha256,
			 "segments", (json_int_t)f->nr_segments, "segment_bytes",
			 (json_int_t)f->segment_bytes, "dropped", (json_int_t)f->nr_dropped,
			 "dropped_begin", (json_int_t)f->dropped_begin_real_ns, "dropped_end",
			 (json_int_t)f->dropped_end_real_ns, "sequences",
			 cluster_whole_array(sequences, failed), "hashes",
			 cluster_whole_array(hashes, failed));
	if (row && more && json_object_update(row, more) == 0) {
		json_decref(more);
		return row;
	}
	json_decref(row);
	json_decref(more);
	return NULL;
}

static json_t *cluster_replacement_json(struct cluster *c, const struct store_replacement *r,
					int token, const char *key, const char *sha256)
{
	json_t *removed = json_array(), *replaced = json_array();
	const struct segment_name *n = &r->facts->name;
	int failed = 0;

	for (size_t i = 0; i < r->nr_names; i++)
		failed |= json_array_append_new(removed,
						json_integer((json_int_t)r->names[i].sequence));
	for (size_t i = 0; i < r->nr_replaced; i++)
		failed |= json_array_append_new(
			replaced, json_pack("[I, I]", (json_int_t)r->replaced[i].first.sequence,
					    (json_int_t)r->replaced[i].generation));
	return json_pack("{s:s, s:i, s:s, s:s, s:I, s:o, s:o, s:o}", "holder", c->holder, "token",
			 token, "host", n->host, "boot_id", n->boot_id, "epoch",
			 (json_int_t)n->epoch, "removed", cluster_whole_array(removed, failed),
			 "replaced", cluster_whole_array(replaced, failed), "summary",
			 cluster_summary_json(r, key, sha256));
}

/* Makes the replacement in the local copy of the index, so that the rest of the pass sees it. */
static int cluster_replace_local(struct store *s, const struct store_replacement *r,
				 struct err *err)
{
	int ret = catalog_begin(s->catalog, err);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < r->nr_replaced && ret == 0; i++)
		ret = catalog_remove_summary(s->catalog, &r->replaced[i].first, err);
	for (size_t i = 0; i < r->nr_names && ret == 0; i++)
		ret = catalog_remove(s->catalog, &r->names[i], err);
	if (ret == 0)
		ret = catalog_put(s->catalog, r->facts, err);
	if (ret == 0)
		ret = catalog_commit(s->catalog, err);
	if (ret < 0)
		catalog_rollback(s->catalog);
	return ret;
}

/*
 * An object whose summary was not committed is deleted later by a check. It is never deleted
 * here, because a commit without an answer may have succeeded.
 */
static int cluster_home_replace(struct store *s, const struct store_replacement *r, struct err *err)
{
	struct iovec whole = { r->data->data, r->data->len };
	char key[OBJECT_KEY_MAX], sha256[OBJECT_SHA256_HEX];
	struct cluster *c = s->cluster;
	const char *values[1];
	int token, ret = cluster_lease_take(c, &token, err);
	json_t *all;
	char *text;

	if (ret < 0)
		return ret;
	cluster_new_key(c, "summaries", "sum", key);
	ret = object_put(c->objects, key, &whole, 1, sha256, err);
	if (ret < 0)
		return ret;
	all = cluster_replacement_json(c, r, token, key, sha256);
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	values[0] = text;
	ret = text ? cluster_sql_call(c->keeper, "SELECT summarize($1::jsonb)", 1, values, NULL,
				      err)
		   : err_set(err, ENOMEM, "out of memory");
	free(text);
	json_decref(all);
	if (ret == 0)
		ret = cluster_places_put_summary(&c->places, r->facts, key, sha256);
	return ret == 0 ? cluster_replace_local(s, r, err) : ret;
}

const struct store_home store_home_cluster = {
	.open = cluster_home_open,
	.close = cluster_home_close,
	.sync = cluster_home_sync,
	.refresh = cluster_home_sync,
	.read = cluster_home_read,
	.file = cluster_home_file,
	.file_done = cluster_home_file_done,
	.space = cluster_home_space,
	.lock = cluster_home_lock,
	.unlock = cluster_home_unlock,
	.hash = cluster_home_hash,
	.take_out = cluster_home_take_out,
	.replace = cluster_home_replace,
	.compact = cluster_home_compact,
	.intake_new = cluster_intake_new,
	.intake_free = cluster_intake_free,
	.intake_gather = cluster_intake_gather,
	.intake_limit = cluster_intake_limit,
	.intake_put = cluster_intake_put,
	.intake_stream = cluster_intake_stream,
};
