/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/cluster_schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int cluster_schema_run(struct cluster_sql *sql, const char *from, size_t len,
			      struct err *err)
{
	char *script = NULL;
	int ret = asprintf(&script, "BEGIN; %.*s; COMMIT", (int)len, from);

	if (ret < 0)
		return err_set(err, ENOMEM, "out of memory");
	ret = cluster_sql_script(sql, script, err);
	if (ret < 0)
		cluster_sql_script(sql, "ROLLBACK", NULL);
	free(script);
	return ret;
}

int cluster_schema_migrate(struct cluster_sql *sql, int *from, struct err *err)
{
	const char *at = cluster_schema_text;
	int ret = cluster_sql_version(sql, from, err);

	if (ret == 0 && *from > CLUSTER_SCHEMA_VERSION)
		return cluster_sql_check_schema(sql, err);
	while (ret == 0 && (at = strstr(at, MARK))) {
		int version = (int)strtol(at + strlen(MARK), NULL, 10);
		const char *begin = at + strlen(MARK), *end;

		begin += strcspn(begin, "\n");
		end = strstr(begin, MARK);
		at = end ? end : begin + strlen(begin);
		if (version > *from)
			ret = cluster_schema_run(sql, begin, (size_t)(at - begin), err);
	}
	return ret;
}
