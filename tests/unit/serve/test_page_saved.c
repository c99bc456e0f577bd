/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/serve/question/page_saved.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

/* The state of a question about these hosts that has an answer of so many bytes or a few more. */
static json_t *state_of(const char *hosts, size_t len)
{
	char *text = malloc(len + 1);
	json_t *state;

	memset(text, 'x', len);
	text[len] = '\0';
	state = json_pack("{s:{s:s, s:s}, s:s, s:s, s:[], s:{s:s, s:s}, s:{s:i}}", "question",
			  "ask", "migrate", "host", hosts, "command", "blkcast", "verdict",
			  "answered", "remarks", "shown", "conclusion", "It holds.", "about", text,
			  "answer", "level", 1);
	free(text);
	return state;
}

static int save_as(struct page_saved *s, const struct page_saved_reader *reader, const char *hosts,
		   const char *name, size_t len, struct err *err)
{
	json_t *state = state_of(hosts, len);
	char id[PAGE_SAVED_ID];
	int ret = page_saved_put(s, reader, name, state, id, err);

	json_decref(state);
	return ret;
}

static int save(struct page_saved *s, const char *owner, const char *name, size_t len)
{
	const struct page_saved_reader reader = { owner, NULL, NULL };
	struct err err = { 0 };

	return save_as(s, &reader, "web1", name, len, &err);
}

/* Saves so many answers. Returns the first error, or 0. */
static int save_many(struct page_saved *s, const struct page_saved_reader *reader,
		     const char *hosts, int nr, size_t len)
{
	struct err err = { 0 };
	char name[64];
	int ret = 0;

	for (int i = 0; i < nr && ret == 0; i++) {
		snprintf(name, sizeof(name), "%s %d", hosts, i);
		ret = save_as(s, reader, hosts, name, len, &err);
	}
	return ret;
}

static size_t nr_saved(struct page_saved *s, const struct page_saved_reader *reader)
{
	json_t *list = page_saved_list(s, reader);
	size_t nr = json_array_size(json_object_get(list, "saved"));

	json_decref(list);
	return nr;
}

static void bytes_are_bounded(void)
{
	const char *dir = sample_folder();
	struct page_saved_reader other = { "@other", NULL, NULL };
	struct page_saved *s = NULL;
	struct err err = { 0 };
	char name[16];
	int ret = 0;

	ok_int(page_saved_open(&s, dir, &err), 0);
	ok_int(save(s, "@acme", "too large", PAGE_SAVED_BYTES), -ENOSPC);
	for (int i = 0; i < 16 && ret == 0; i++) {
		snprintf(name, sizeof(name), "%d", i);
		ret = save(s, "@acme", name, PAGE_SAVED_BYTES - 1024);
	}
	ok_int(ret, 0);
	ok_int(save(s, "@acme", "one more", PAGE_SAVED_BYTES - 1024), -ENOSPC);
	ok_int(save(s, "@acme", "a small one", 10), 0);
	ok_int(save(s, "@other", "0", PAGE_SAVED_BYTES - 1024), 0);
	ok_eq(nr_saved(s, &other), 1);
	page_saved_close(s);
	sample_remove(dir);
}

/*
 * Gives copies of the answers of the owner "@0" to the owners from "@1" on. Each that is saved waits
 * for the disk, and these are thousands.
 */
static void copy_to_owners(const char *dir, int nr_owners)
{
	char path[4096], sql[512];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/saved.sqlite", dir);
	ok_int(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(sql, sizeof(sql),
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
		 "INSERT INTO saved SELECT '@' || i, i || id, name, ask, hosts, at_s, verdict, "
		 "conclusion, bytes, '' FROM n, saved WHERE owner = '@0'",
		 nr_owners - 1);
	ok_int(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void numbers_are_bounded(void)
{
	const struct page_saved_reader first = { "@0", NULL, NULL };
	const struct page_saved_reader fleet = { "fleet", NULL, NULL };
	const char *dir = sample_folder();
	struct page_saved *s = NULL;
	struct err err = { 0 };

	ok_int(page_saved_open(&s, dir, &err), 0);
	ok_int(save_many(s, &first, "web1", PAGE_SAVED_EACH, 10), 0);
	ok_int(save(s, "@0", "one more", 10), -ENOSPC);
	ok_int(save(s, "@another", "one", 10), 0);
	copy_to_owners(dir, PAGE_SAVED_ALL / PAGE_SAVED_EACH);
	ok_int(save(s, "@another", "one more", 10), -ENOSPC);
	/* Others do not take the room of the fleet. */
	ok_int(save_many(s, &fleet, "web1", PAGE_SAVED_EACH, 10), 0);
	ok_int(save(s, "fleet", "one more", 10), -ENOSPC);
	ok_eq(nr_saved(s, &fleet), PAGE_SAVED_EACH);
	page_saved_close(s);
	sample_remove(dir);
}

static void bytes_of_all_are_bounded(void)
{
	const struct page_saved_reader first = { "@0", NULL, NULL };
	const size_t large = PAGE_SAVED_BYTES - 1024;
	const int each = PAGE_SAVED_EACH_BYTES / PAGE_SAVED_BYTES;
	const char *dir = sample_folder();
	struct page_saved *s = NULL;
	struct err err = { 0 };

	ok_int(page_saved_open(&s, dir, &err), 0);
	ok_int(save_many(s, &first, "web1", each, large), 0);
	ok_int(save(s, "@another", "one", large), 0);
	copy_to_owners(dir, PAGE_SAVED_ALL_BYTES / PAGE_SAVED_EACH_BYTES);
	ok_int(save(s, "@another", "one more", large), -ENOSPC);
	ok_int(save(s, "fleet", "one more", large), 0);
	page_saved_close(s);
	sample_remove(dir);
}

/* Permits one host, the name of which is the context. */
static bool permits(void *ctx, const char *host)
{
	return strcmp(ctx, host) == 0;
}

/* An owner whose rights have changed cannot delete what it does not see any more. */
static void what_is_hidden_takes_no_room(void)
{
	const size_t large = PAGE_SAVED_BYTES - 1024;
	const int each = PAGE_SAVED_EACH_BYTES / PAGE_SAVED_BYTES;
	const char *dir = sample_folder();
	char web[] = "web1", db[] = "db1";
	struct page_saved_reader reader = { "@acme", permits, web };
	struct page_saved *s = NULL;
	struct err err = { 0 };

	ok_int(page_saved_open(&s, dir, &err), 0);
	ok_int(save_many(s, &reader, "web1", each, large), 0);
	ok_int(save_as(s, &reader, "web1", "more", large, &err), -ENOSPC);
	reader.ctx = db;
	ok_int(save_many(s, &reader, "db1", PAGE_SAVED_EACH, 10), 0);
	ok_int(save_as(s, &reader, "db1", "more", 10, &err), -ENOSPC);
	ok_int(save_as(s, &reader, "db1", "web1 0", 10, &err), -EEXIST);
	ok(strstr(err.line, "may not see") != NULL);
	ok_int(save_as(s, &reader, "db1", "db1 0", 10, &err), -EEXIST);
	ok(strstr(err.line, "delete it") != NULL);
	/* An answer that would be hidden at once is not saved. */
	ok_int(save_as(s, &reader, "db1,web1", "both", 10, &err), -EACCES);
	ok_eq(nr_saved(s, &reader), PAGE_SAVED_EACH);
	reader.ctx = web;
	ok_eq(nr_saved(s, &reader), each);
	ok_int(save_as(s, &reader, "web1", "more", large, &err), -ENOSPC);
	page_saved_close(s);
	sample_remove(dir);
}

static void a_host_that_may_not_be_seen_hides_its_answers(void)
{
	const char *dir = sample_folder();
	char web[] = "web1", db[] = "db1";
	struct page_saved_reader reader = { "@acme", permits, web }, all = { "@acme", NULL, NULL };
	json_t *state = state_of("web1", 10), *both = state_of("web1,db1", 10), *found;
	char id[PAGE_SAVED_ID], other[PAGE_SAVED_ID];
	struct page_saved *s = NULL;
	struct err err = { 0 };

	ok_int(page_saved_open(&s, dir, &err), 0);
	ok_int(page_saved_put(s, &reader, "web", state, id, &err), 0);
	ok_int(page_saved_put(s, &all, "both", both, other, &err), 0);
	ok_eq(nr_saved(s, &reader), 1);
	found = page_saved_get(s, &reader, id);
	ok_str(json_string_value(json_object_get(found, "name")), "web");
	json_decref(found);
	ok(!page_saved_get(s, &reader, other));
	reader.ctx = db;
	ok_eq(nr_saved(s, &reader), 0);
	ok(!page_saved_get(s, &reader, id));
	ok_int(page_saved_delete(s, "@other", id), -ENOENT);
	ok_int(page_saved_delete(s, "@acme", id), 0);
	ok_int(page_saved_delete(s, "@acme", id), -ENOENT);
	page_saved_close(s);
	json_decref(state);
	json_decref(both);
	sample_remove(dir);
}

static void a_store_without_a_folder_saves_nothing(void)
{
	struct page_saved_reader reader = { "fleet", NULL, NULL };
	struct page_saved *s = NULL;
	struct err err = { 0 };

	ok_int(page_saved_open(&s, "pg://nowhere/store", &err), 0);
	ok_str(err.line, "");
	ok_int(save(s, "fleet", "name", 10), -EROFS);
	ok_eq(nr_saved(s, &reader), 0);
	ok(!page_saved_get(s, &reader, "0"));
	ok_int(page_saved_delete(s, "fleet", "0"), -ENOENT);
	page_saved_close(s);
}

static const struct tap_test tests[] = {
	{ "bytes are bounded for each owner", bytes_are_bounded },
	{ "answers are bounded for each owner and for all", numbers_are_bounded },
	{ "bytes are bounded for all owners", bytes_of_all_are_bounded },
	{ "what is hidden takes no room", what_is_hidden_takes_no_room },
	{ "a host that may not be seen hides its answers",
	  a_host_that_may_not_be_seen_hides_its_answers },
	{ "a store without a folder saves nothing", a_store_without_a_folder_saves_nothing },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
