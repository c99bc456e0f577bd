/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/store/cluster/cluster_blocks.h"
#include "base/system/file.h"

#define KEYS_MAX_BYTES 4096

/* Cuts the first line off a text and returns it; NULL if the text is empty. */
static char *cluster_line(char **text)
{
	char *line = strsep(text, "\n");
	size_t len = line ? strlen(line) : 0;

	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		line[--len] = '\0';
	return len ? line : NULL;
}

/* Reads the keys of the object store from the file or the environment; text holds them. */
static int cluster_keys(const struct cluster_url *u, struct buf *text, const char **access_key,
			const char **secret_key, struct err *err)
{
	char *rest;
	int ret;

	if (!u->keys) {
		*access_key = getenv("AWS_ACCESS_KEY_ID");
		*secret_key = getenv("AWS_SECRET_ACCESS_KEY");
		if (*access_key && *secret_key)
			return 0;
		return err_set(
			err, EINVAL,
			"store URL: expected keys=FILE with the keys of the object store, or "
			"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
	}
	ret = file_read(u->keys, KEYS_MAX_BYTES, text, err);
	if (ret == 0)
		ret = buf_put_u8(text, 0);
	if (ret < 0)
		return ret;
	rest = (char *)text->data;
	*access_key = cluster_line(&rest);
	*secret_key = cluster_line(&rest);
	if (*access_key && *secret_key)
		return 0;
	return err_set(err, EINVAL,
		       "%s: expected a line with the access key and one with the secret key",
		       u->keys);
}

int cluster_objects_open(struct cluster *c, struct object_store **out, struct err *err)
{
	struct object_store_config config = { .url = c->url.objects,
					      .region = c->url.region,
					      .ca = c->url.ca };
	struct buf text;
	int ret;

	buf_init(&text);
	ret = cluster_keys(&c->url, &text, &config.access_key, &config.secret_key, err);
	if (ret == 0)
		ret = object_store_new(out, &config, err);
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_release(&text);
	return ret;
}

int cluster_new(struct cluster **out, const char *name, struct err *err)
{
	struct cluster *c = calloc(1, sizeof(*c));
	char machine[64] = "";
	uint64_t number;
	int ret;

	if (!c)
		return err_set(err, ENOMEM, "out of memory");
	*out = c;
	pthread_mutex_init(&c->reader_lock, NULL);
	ret = cluster_url_parse(&c->url, name, err);
	if (ret < 0)
		return ret;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return err_set(err, EIO, "the kernel has no random numbers");
	snprintf(c->instance, sizeof(c->instance), "%016" PRIx64, number);
	gethostname(machine, sizeof(machine) - 1);
	snprintf(c->holder, sizeof(c->holder), "%s, process %ld, %s", machine, (long)getpid(),
		 c->instance);
	ret = cluster_blocks_new(&c->blocks, c, err);
	return ret == 0 ? cluster_objects_open(c, &c->objects, err) : ret;
}

void cluster_free(struct cluster *c)
{
	if (!c)
		return;
	cluster_blocks_free(c->blocks);
	cluster_places_release(&c->places);
	cluster_sql_close(c->reader);
	cluster_sql_close(c->keeper);
	object_store_free(c->objects);
	cluster_url_release(&c->url);
	if (c->scratch[0])
		rmdir(c->scratch);
	pthread_mutex_destroy(&c->reader_lock);
	free(c);
}

int cluster_keeper(struct cluster *c, struct cluster_sql **out, struct err *err)
{
	int ret = 0;

	if (!c->keeper) {
		ret = cluster_sql_open(&c->keeper, &c->url, true, err);
		if (ret == 0)
			ret = cluster_sql_check_schema(c->keeper, err);
		if (ret < 0) {
			cluster_sql_close(c->keeper);
			c->keeper = NULL;
		}
	}
	*out = c->keeper;
	return ret;
}

void cluster_new_key(struct cluster *c, const char *kind, const char *end, char out[OBJECT_KEY_MAX])
{
	time_t now = time(NULL);
	char day[16] = "00000000";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(day, sizeof(day), "%Y%m%d", &tm);
	snprintf(out, OBJECT_KEY_MAX, "%s/%s/%s-%lu.%s", kind, day, c->instance,
		 atomic_fetch_add(&c->nr_objects, 1) + 1, end);
}

int cluster_lease_take(struct cluster *c, int *token, struct err *err)
{
	return cluster_lease_take_for(c, CLUSTER_LEASE_S, token, err);
}

int cluster_lease_take_for(struct cluster *c, uint64_t seconds, int *token, struct err *err)
{
	char limit[24];
	const char *values[] = { "keep", c->holder, limit };
	struct cluster_sql *sql;
	PGresult *r = NULL;
	int ret = cluster_keeper(c, &sql, err);

	snprintf(limit, sizeof(limit), "%" PRIu64, seconds);
	if (ret == 0)
		ret = cluster_sql_call(sql, "SELECT take_lease($1, $2, $3::int)", 3, values, &r,
				       err);
	if (ret < 0)
		return ret;
	if (PQgetisnull(r, 0, 0)) {
		PQclear(r);
		ret = cluster_sql_call(sql, "SELECT holder FROM lease WHERE name = 'keep'", 0, NULL,
				       &r, err);
		if (ret == 0)
			ret = err_set(err, EBUSY,
				      "another pass of retention or compaction is under way: %s",
				      PQntuples(r) ? PQgetvalue(r, 0, 0) : "unknown");
		PQclear(r);
		return ret;
	}
	*token = (int)strtol(PQgetvalue(r, 0, 0), NULL, 10);
	PQclear(r);
	if (c->token && *token != c->token)
		return err_set(
			err, EBUSY,
			"another process retained or compacted meanwhile, because this one did "
			"not for longer than its lease; the next pass goes on");
	return 0;
}

void cluster_lease_end(struct cluster *c, int token)
{
	const char *values[] = { c->holder };

	(void)token;
	if (c->keeper)
		cluster_sql_call(
			c->keeper,
			"UPDATE lease SET until = now() WHERE name = 'keep' AND holder = $1", 1,
			values, NULL, NULL);
}
