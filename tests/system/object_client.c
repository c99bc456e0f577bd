// SPDX-License-Identifier: Apache-2.0
/*
 * object_client URL ACCESS SECRET: puts two objects, reads a range, lists them and deletes them, by
 * analyzer/store/engine/object_store.h, and prints what came back. For tests of the signatures.
 */
#include <stdio.h>
#include <string.h>

#include "analyzer/store/engine/object_store.h"

static int object_client_print(void *ctx, const char *key, uint64_t bytes, double age_s)
{
	(void)ctx;
	printf("%s %llu %s\n", key, (unsigned long long)bytes, age_s > 86400 ? "old" : "young");
	return 0;
}

static int object_client_all(struct object_store *o, struct err *err)
{
	static char text[] = "Welcome to the object store.", more[] = " More of it.";
	struct iovec parts[] = { { text, sizeof(text) - 1 }, { more, sizeof(more) - 1 } };
	char sha256[OBJECT_SHA256_HEX];
	struct buf b;
	int ret = object_put(o, "bundles/20260101/0-1.seg", parts, 2, sha256, err);

	buf_init(&b);
	if (ret == 0)
		ret = object_put(o, "bundles/20260101/0-2.seg", parts, 1, sha256, err);
	if (ret == 0)
		ret = object_get(o, "bundles/20260101/0-1.seg", 11, 24, &b, err);
	if (ret == 0)
		printf("%.*s\n", (int)b.len, (char *)b.data);
	if (ret == 0)
		ret = object_list(o, "bundles/", object_client_print, NULL, err);
	for (int i = 1; i <= 2 && ret == 0; i++) {
		char key[64];

		snprintf(key, sizeof(key), "bundles/20260101/0-%d.seg", i);
		ret = object_delete(o, key, err);
	}
	buf_release(&b);
	return ret;
}

int main(int argc, char **argv)
{
	struct object_store_config config = { .region = "eu-test-1" };
	struct object_store *o;
	struct err err = { 0 };
	int ret;

	if (argc != 4)
		return 2;
	config.url = argv[1];
	config.access_key = argv[2];
	config.secret_key = argv[3];
	ret = object_store_new(&o, &config, &err);
	if (ret == 0) {
		ret = object_client_all(o, &err);
		object_store_free(o);
	}
	if (ret < 0)
		fprintf(stderr, "%s\n", err.line);
	return ret < 0;
}
