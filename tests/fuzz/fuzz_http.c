/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `serve` does with a request before it writes. The first line is what the head gives: the
 * path behind /v1/segments/ and, after a tab, the value of Blkcast-Hash; the rest is the body,
 * whose length and checksum are put right. The target runs the functions that serve runs. What they
 * take must bear a name that stays within the store. fuzz_http_conversation.c plays whole
 * conversations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyzer/serve/http/server_head.h"
#include "analyzer/store/index/segment_facts.h"
#include "analyzer/store/index/segment_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void http_put_right(uint8_t *copy, size_t size)
{
	uint64_t sum = XXH3_64bits(copy + 24, size - 24);

	for (int i = 0; i < 4; i++)
		copy[12 + i] = (uint8_t)(size >> 8 * i);
	for (int i = 0; i < 8; i++)
		copy[16 + i] = (uint8_t)(sum >> 8 * i);
}

static void check_name(const struct segment_name *name)
{
	char path[SEGMENT_PATH_MAX];

	segment_name_path(name, path);
	if (strncmp(path, "segments/", 9) || strstr(path, "/.") || strstr(path, "//"))
		abort();
}

/* Whatever is refused is refused with a line for the sender. */
static void take_head(char *line)
{
	char *path = strsep(&line, "\t"), hash[SEGMENT_HASH_TEXT];
	struct segment_name name;
	struct err err = { 0 };

	if (head_segment_path(path, &name, &err) == 0)
		check_name(&name);
	else if (!err.line[0])
		abort();
	err = (struct err){ 0 };
	if (head_segment_hash(line, hash, &err) < 0 && !err.line[0])
		abort();
}

/* Most in one reader, as serve takes one upload after the other; every 64th in one of its own. */
static int read_facts(struct segment_facts *facts, const uint8_t *body, size_t len)
{
	static struct segment_reader *kept;
	static unsigned int nr;

	if (kept && nr++ % 64 == 0)
		return segment_facts_read(facts, body, len, NULL);
	return segment_facts_read_with(facts, &kept, body, len, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t head = end ? (size_t)(end - data) : 0, len = end ? size - head - 1 : size;
	struct segment_facts facts;
	char line[300] = "";
	uint8_t *body = calloc(len + 1, 1);

	if (!body)
		return 0;
	if (end && head < sizeof(line)) {
		memcpy(line, data, head);
		take_head(line);
	}
	if (len)
		memcpy(body, end ? end + 1 : data, len);
	if (len >= 24)
		http_put_right(body, len);
	if (read_facts(&facts, body, len) == 0) {
		check_name(&facts.name);
		segment_facts_release(&facts);
	}
	free(body);
	return 0;
}
