/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/store/ask/host_patterns.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory/array.h"

static uint64_t host_patterns_hash(const char *text, size_t len, bool is_beginning)
{
	return XXH3_64bits_withSeed(text, len, is_beginning);
}

/* Takes the * off the end. Returns the length of the rest. */
static size_t host_patterns_length(const char *pattern, bool *is_beginning)
{
	size_t len = strlen(pattern);

	*is_beginning = len && pattern[len - 1] == '*';
	return len - *is_beginning;
}

/* Returns the pattern of this text and kind, or NULL. */
static struct host_pattern *host_patterns_entry(const struct host_patterns *p, const char *text,
						size_t len, bool is_beginning)
{
	uint32_t i = u64map_find(&p->by_hash, host_patterns_hash(text, len, is_beginning));

	for (; i != U64MAP_NONE; i = p->list[i].next) {
		const char *other = (const char *)p->texts.data + p->list[i].at;
		const char *end = is_beginning ? "*" : "";

		if (strncmp(other, text, len) == 0 && strcmp(other + len, end) == 0)
			return &p->list[i];
	}
	return NULL;
}

int host_patterns_add(struct host_patterns *p, const char *pattern, uint32_t owner)
{
	bool is_beginning;
	size_t len = host_patterns_length(pattern, &is_beginning);
	struct host_pattern *there = host_patterns_entry(p, pattern, len, is_beginning);
	uint64_t hash = host_patterns_hash(pattern, len, is_beginning);

	if (there) {
		there->owner = owner < there->owner ? owner : there->owner;
		return 0;
	}
	if (array_grow(&p->list, &p->cap, p->nr + 1, sizeof(*p->list)) < 0)
		return -ENOMEM;
	p->list[p->nr] = (struct host_pattern){ .at = (uint32_t)p->texts.len,
						.owner = owner,
						.next = u64map_find(&p->by_hash, hash) };
	if (buf_put(&p->texts, pattern, strlen(pattern) + 1) ||
	    u64map_put(&p->by_hash, hash, (uint32_t)p->nr))
		return -ENOMEM;
	p->nr++;
	if (is_beginning)
		p->has_length[len / 64 % 2] |= 1ull << len % 64;
	return 0;
}

void host_patterns_release(struct host_patterns *p)
{
	free(p->list);
	buf_release(&p->texts);
	u64map_release(&p->by_hash);
	*p = (struct host_patterns){ .nr = 0 };
}

/* Returns the lowest owner of the beginnings of a text, at most `most`. */
static uint32_t host_patterns_beginnings(const struct host_patterns *p, const char *text,
					 size_t len, uint32_t most)
{
	for (size_t i = 0; i <= len; i++) {
		const struct host_pattern *one = NULL;

		if (p->has_length[i / 64 % 2] >> i % 64 & 1)
			one = host_patterns_entry(p, text, i, true);
		if (one && one->owner < most)
			most = one->owner;
	}
	return most;
}

uint32_t host_patterns_find(const struct host_patterns *p, const char *host)
{
	size_t len = strlen(host);
	const struct host_pattern *whole = host_patterns_entry(p, host, len, false);

	return host_patterns_beginnings(p, host, len, whole ? whole->owner : HOST_PATTERNS_NONE);
}

uint32_t host_patterns_cover(const struct host_patterns *p, const char *pattern)
{
	bool is_beginning;
	size_t len = host_patterns_length(pattern, &is_beginning);

	if (!is_beginning)
		return host_patterns_find(p, pattern);
	return host_patterns_beginnings(p, pattern, len, HOST_PATTERNS_NONE);
}
