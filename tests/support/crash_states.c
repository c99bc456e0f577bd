/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/crash_states.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/sample.h"

#define MAX_ENTRIES 1024

struct state {
	const struct call *calls;
	size_t nr;
	uint64_t seed, random;
	struct entry {
		char path[160];
		int inode; /* 0: a folder */
	} entries[MAX_ENTRIES];
	size_t nr_entries;
};

static uint64_t draw(struct state *s)
{
	uint64_t x = s->random += 0x9e3779b97f4a7c15u; /* splitmix64 */

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/*
 * Decides whether something that was not synced is kept. Some states keep nearly everything, and
 * some nearly nothing.
 */
static bool keeps(struct state *s)
{
	if (s->seed < 2)
		return s->seed;
	return draw(s) % 8 < 1 + s->seed % 7;
}

static bool is_parent(const char *folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	return strlen(folder) == len && !strncmp(folder, path, len);
}

static struct entry *find_entry(struct state *s, const char *path)
{
	for (size_t i = 0; i < s->nr_entries; i++)
		if (!strcmp(s->entries[i].path, path))
			return &s->entries[i];
	return NULL;
}

static void put_entry(struct state *s, const char *path, int inode)
{
	struct entry *e = find_entry(s, path);

	if (!e && s->nr_entries == MAX_ENTRIES)
		abort();
	if (!e)
		e = &s->entries[s->nr_entries++];
	snprintf(e->path, sizeof(e->path), "%s", path);
	e->inode = inode;
}

static void drop_entry(struct state *s, const char *path)
{
	struct entry *e = find_entry(s, path);

	if (e)
		*e = s->entries[--s->nr_entries];
}

/* Returns whether the folder of what call i changed was synced after the call. */
static bool name_is_synced(const struct state *s, size_t i)
{
	for (size_t j = i + 1; j < s->nr; j++)
		if (s->calls[j].kind == CALL_SYNC_ALL ||
		    (s->calls[j].kind == CALL_SYNC_FOLDER &&
		     is_parent(s->calls[j].path, s->calls[i].path)))
			return true;
	return false;
}

static void apply_name(struct state *s, const struct call *c)
{
	switch (c->kind) {
	case CALL_CREATE:
		put_entry(s, c->path, c->inode);
		break;
	case CALL_MKDIR:
		put_entry(s, c->path, 0);
		break;
	case CALL_RENAME:
		drop_entry(s, c->path);
		put_entry(s, c->to, c->inode);
		break;
	case CALL_UNLINK:
		drop_entry(s, c->path);
		break;
	default:
		break;
	}
}

static void make_names(struct state *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		enum call_kind kind = s->calls[i].kind;

		if ((kind == CALL_CREATE || kind == CALL_MKDIR || kind == CALL_RENAME ||
		     kind == CALL_UNLINK) &&
		    (name_is_synced(s, i) || keeps(s)))
			apply_name(s, &s->calls[i]);
	}
}

struct content {
	uint8_t *data;
	size_t len;
};

static void grow(struct content *c, size_t len)
{
	if (len <= c->len)
		return;
	c->data = realloc(c->data, len);
	if (!c->data)
		abort();
	memset(c->data + c->len, 0, len - c->len);
	c->len = len;
}

/*
 * Applies a write that was not synced: nothing of it, all of it, or some of its sectors in a file
 * that is long enough.
 */
static void tear_write(struct state *s, struct content *c, const struct call *w)
{
	bool whole = keeps(s), none = !whole && keeps(s) == (s->seed % 2);

	if (none || (s->seed < 2 && !whole))
		return;
	grow(c, w->offset + w->len);
	for (size_t at = 0; at < w->len;) {
		size_t part = SECTOR_BYTES - (w->offset + at) % SECTOR_BYTES;

		if (part > w->len - at)
			part = w->len - at;
		if (whole || draw(s) % 2)
			memcpy(c->data + w->offset + at, w->data + at, part);
		at += part;
	}
}

/* Gives each sector of a mapped file a content that it had at some time since the last sync. */
static void tear_mapped(struct state *s, struct content *c, size_t first, size_t last)
{
	const struct call *versions[64];
	size_t nr = 0, len = s->calls[last].len;

	/*
	 * The last versions are enough, because every older one is equivalent to the oldest of
	 * them.
	 */
	versions[nr++] = &s->calls[first];
	for (size_t i = last + 1; i-- > first + 1 && nr < 64;)
		if (s->calls[i].kind == CALL_MAPPED && s->calls[i].inode == s->calls[last].inode)
			versions[nr++] = &s->calls[i];
	grow(c, len);
	for (size_t at = 0; at < len; at += SECTOR_BYTES) {
		size_t part = len - at < SECTOR_BYTES ? len - at : SECTOR_BYTES;
		const struct call *v = s->seed == 0 ? versions[0] : &s->calls[last];

		if (s->seed > 1)
			v = versions[draw(s) % nr];
		memcpy(c->data + at, v->data + at, part);
	}
}

static void make_content(struct state *s, int inode, struct content *c)
{
	size_t synced = 0, first = SIZE_MAX, last = SIZE_MAX;

	*c = (struct content){ 0 };
	for (size_t i = 0; i < s->nr; i++)
		if (s->calls[i].kind == CALL_SYNC_ALL ||
		    (s->calls[i].kind == CALL_SYNC && s->calls[i].inode == inode))
			synced = i;
	for (size_t i = 0; i < s->nr; i++) {
		const struct call *call = &s->calls[i];

		if (call->inode != inode)
			continue;
		if (call->kind == CALL_WRITE && i < synced) {
			grow(c, call->offset + call->len);
			memcpy(c->data + call->offset, call->data, call->len);
		} else if (call->kind == CALL_WRITE) {
			tear_write(s, c, call);
		} else if (call->kind == CALL_MAPPED) {
			if (first == SIZE_MAX || i <= synced)
				first = i;
			last = i;
		}
	}
	if (last != SIZE_MAX)
		tear_mapped(s, c, first, last);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* Returns whether all folders above the path exist. What is in a lost folder is lost too. */
static bool is_reachable(struct state *s, const char *path)
{
	char part[160];

	for (size_t i = 0; path[i]; i++) {
		if (path[i] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		if (!find_entry(s, part))
			return false;
	}
	return true;
}

void crash_state_make(const struct call *calls, size_t nr, uint64_t seed, const char *dir)
{
	struct state s = { .calls = calls, .nr = nr, .seed = seed, .random = seed * 7919 + nr };

	make_names(&s);
	qsort(s.entries, s.nr_entries, sizeof(*s.entries), by_path);
	for (size_t i = 0; i < s.nr_entries; i++) {
		char path[320];
		struct content c;

		if (!is_reachable(&s, s.entries[i].path))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, s.entries[i].path);
		if (!s.entries[i].inode) {
			if (mkdir(path, 0777))
				abort();
			continue;
		}
		make_content(&s, s.entries[i].inode, &c);
		sample_write(path, c.data ? (const void *)c.data : "", c.len);
		free(c.data);
	}
}
