/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/engine/cluster_schema.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The assembler includes docs/cluster.sql from the source tree, so that no copy has to be kept up
 * to date.
 */
extern const char cluster_schema_text[];
/* clang-format off */
__asm__(".section .rodata\n"
	".global cluster_schema_text\n"
	".type cluster_schema_text, %object\n"
	"cluster_schema_text:\n"
	".incbin \"docs/cluster.sql\"\n"
	".byte 0\n"
	".size cluster_schema_text, . - cluster_schema_text\n"
	".previous\n");
/* clang-format on */

#define MARK "\n-- migration "

/*
 * Serves may write while the schema is brought up to date. A migration therefore locks the tables
 * that the functions of docs/cluster.sql lock, in their order and before it changes one, so that
 * the migration and these functions never wait for each other in a circle. While a migration waits
 * for a lock, all later users of the table wait behind it. Therefore a try gives up soon, and the
 * writers go on until the next try.
 */
#define LOCK_TABLES                                                                               \
	"SET LOCAL lock_timeout = '2s'; LOCK TABLE blkcast.lease, blkcast.bundle, blkcast.host, " \
	"blkcast.stream, blkcast.segment, blkcast.summary, blkcast.profile, blkcast.garbage; "
#define MAX_TRIES 30
#define PAUSE_NS  500000000l

/*
 * Migration 1 makes the tables, so that there is nothing to lock before it. Migration 6 asks for
 * the version that the catalog had when the upgrade began.
 */
static int cluster_schema_run(struct cluster_sql *sql, const char *text, size_t len, int version,
			      int from, struct err *err)
{
	char *script = NULL;
	int ret = asprintf(&script, "BEGIN; SET LOCAL blkcast.upgraded_from = '%d'; %s%.*s; COMMIT",
			   from, version > 1 ? LOCK_TABLES : "", (int)len, text);

	if (ret < 0)
		return err_set(err, ENOMEM, "out of memory");
	ret = cluster_sql_script(sql, script, err);
	if (ret < 0)
		cluster_sql_script(sql, "ROLLBACK", NULL);
	free(script);
	return ret;
}

/* Finds the text of a migration. Returns false if there is none of this version. */
static bool cluster_schema_find(int version, const char **text, size_t *len)
{
	for (const char *at = strstr(cluster_schema_text, MARK); at;) {
		const char *begin = at + strlen(MARK), *end = strstr(begin, MARK);

		if (strtol(begin, NULL, 10) == version) {
			*text = begin + strcspn(begin, "\n");
			*len = end ? (size_t)(end - *text) : strlen(*text);
			return true;
		}
		at = end;
	}
	return false;
}

/*
 * Runs the next migration. The version is read at each try, because a commit whose answer was lost
 * may have succeeded, and because somebody else may have run the migration meanwhile. It is read
 * once more after a failure: two that run a migration at the same moment both saw the old version,
 * and the one that commits later fails.
 */
static int cluster_schema_step(struct cluster_sql *sql, int version, int from, struct err *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const char *text;
	size_t len;
	int ret = 0, now;

	if (!cluster_schema_find(version, &text, &len))
		return err_set(err, ENOENT, "schema: there is no migration to version %d", version);
	for (int i = 0; i < MAX_TRIES; i++) {
		ret = cluster_sql_version(sql, &now, err);
		if (ret < 0 || now >= version)
			return ret;
		ret = cluster_schema_run(sql, text, len, version, from, err);
		if (ret != -EAGAIN && ret != -ETIMEDOUT)
			break;
		nanosleep(&pause, NULL);
	}
	if (ret < 0 && cluster_sql_version(sql, &now, NULL) == 0 && now >= version)
		return 0;
	if (ret == -EAGAIN || ret == -ETIMEDOUT)
		err_prefix(err,
			   "schema: version %d was tried %d times, and can be tried again when no "
			   "long query or backup holds the tables",
			   version, MAX_TRIES);
	return ret;
}

int cluster_schema_migrate(struct cluster_sql *sql, int *from, struct err *err)
{
	int ret = cluster_sql_version(sql, from, err);

	if (ret < 0)
		return ret;
	if (*from > CLUSTER_SCHEMA_VERSION)
		return cluster_sql_check_schema(sql, err);
	for (int version = *from + 1; version <= CLUSTER_SCHEMA_VERSION; version++) {
		ret = cluster_schema_step(sql, version, *from, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}
