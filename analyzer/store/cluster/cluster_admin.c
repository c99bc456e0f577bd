/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster_admin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/store/cluster/cluster.h"
#include "analyzer/store/cluster/cluster_sweep.h"
#include "analyzer/store/engine/cluster_schema.h"

/*
 * Checks the keys and the bucket before any segment is sent: it writes, reads and deletes one
 * small object.
 */
static int cluster_try_objects(struct cluster *c, struct err *err)
{
	static const char text[] = "blkcast cluster init tries the object store\n";
	struct iovec whole = { (void *)(uintptr_t)text, sizeof(text) - 1 };
	char key[OBJECT_KEY_MAX], sha256[OBJECT_SHA256_HEX];
	struct buf back;
	int ret;

	cluster_new_key(c, "trial", "txt", key);
	buf_init(&back);
	ret = object_put(c->objects, key, &whole, 1, sha256, err);
	if (ret == 0)
		ret = object_get(c->objects, key, 0, whole.iov_len, &back, err);
	if (ret == 0 && memcmp(back.data, text, whole.iov_len) != 0)
		ret = err_set(err, EBADMSG, "%s/%s: other bytes came back than were put",
			      c->url.objects, key);
	if (ret == 0)
		ret = object_delete(c->objects, key, err);
	buf_release(&back);
	return ret;
}

int cluster_init(const char *name, struct cluster_made *made, struct err *err)
{
	struct cluster_sql *sql = NULL;
	struct cluster *c;
	int ret = cluster_new(&c, name, err);

	if (ret == 0)
		ret = cluster_sql_open(&sql, &c->url, true, err);
	if (ret == 0)
		ret = cluster_try_objects(c, err);
	if (ret == 0)
		ret = cluster_schema_migrate(sql, &made->from, err);
	if (ret == 0)
		ret = cluster_owner_claim(c, err);
	made->to = CLUSTER_SCHEMA_VERSION;
	cluster_sql_close(sql);
	cluster_free(c);
	return ret;
}

static uint64_t cluster_state_u64(const PGresult *r, int at)
{
	return strtoull(PQgetvalue(r, 0, at), NULL, 10);
}

static int cluster_state_ask(struct cluster_sql *sql, struct cluster_state *out, struct err *err)
{
	static const char ask[] =
		"SELECT current_setting('fsync') = 'on' AND current_setting('full_page_writes') = "
		"'on', pg_is_in_recovery(), current_setting('synchronous_standby_names'), (SELECT "
		"count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')), (SELECT "
		"count(*) FROM host), (SELECT count(*) FROM stream), (SELECT coalesce(sum(segments), "
		"0) FROM bundle), (SELECT count(*) FROM summary), (SELECT count(*) FROM bundle), "
		"(SELECT coalesce(sum(bytes), 0) FROM bundle), (SELECT coalesce(sum(used_bytes), 0) "
		"FROM bundle), (SELECT coalesce(sum((SELECT sum(upper(h) - lower(h)) FROM "
		"unnest(holes) h)), 0) FROM watermark), (SELECT count(*) FROM garbage), coalesce("
		"(SELECT holder FROM lease WHERE name = 'keep' AND until > now()), '')";
	PGresult *r = NULL;
	int ret = cluster_sql_call(sql, ask, 0, NULL, &r, err);

	if (ret < 0)
		return ret;
	out->is_durable = PQgetvalue(r, 0, 0)[0] == 't';
	out->is_standby = PQgetvalue(r, 0, 1)[0] == 't';
	snprintf(out->standbys, sizeof(out->standbys), "%s", PQgetvalue(r, 0, 2));
	out->nr_standbys = cluster_state_u64(r, 3);
	out->nr_hosts = cluster_state_u64(r, 4);
	out->nr_streams = cluster_state_u64(r, 5);
	out->nr_segments = cluster_state_u64(r, 6);
	out->nr_summaries = cluster_state_u64(r, 7);
	out->nr_bundles = cluster_state_u64(r, 8);
	out->bundle_bytes = cluster_state_u64(r, 9);
	out->used_bytes = cluster_state_u64(r, 10);
	out->nr_holes = cluster_state_u64(r, 11);
	out->nr_garbage = cluster_state_u64(r, 12);
	snprintf(out->holder, sizeof(out->holder), "%s", PQgetvalue(r, 0, 13));
	PQclear(r);
	return 0;
}

int cluster_status(const char *name, struct cluster_state *out, struct err *err)
{
	struct cluster *c;
	int ret = cluster_new(&c, name, err);

	*out = (struct cluster_state){ .version = 0 };
	if (ret == 0)
		ret = cluster_sql_open(&c->reader, &c->url, false, err);
	if (ret == 0)
		ret = cluster_sql_check_schema(c->reader, err);
	if (ret == 0)
		ret = cluster_sql_version(c->reader, &out->version, err);
	if (ret == 0)
		ret = cluster_state_ask(c->reader, out, err);
	cluster_free(c);
	return ret;
}
