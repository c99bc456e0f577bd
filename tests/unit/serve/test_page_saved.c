/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
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

static int save(struct page_saved *s, const char *owner, const char *name, size_t len)
{
	json_t *state = state_of("web1", len);
	char id[PAGE_SAVED_ID];
	struct err err = { 0 };
	int ret = page_saved_put(s, owner, name, state, id, &err);

	json_decref(state);
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

/* Permits one host, the name of which is the context. */
static bool permits(void *ctx, const char *host)
{
	return strcmp(ctx, host) == 0;
}

static void a_host_that_may_not_be_seen_hides_its_answers(void)
{
	const char *dir = sample_folder();
	char web[] = "web1", db[] = "db1";
	struct page_saved_reader reader = { "@acme", permits, web };
	json_t *state = state_of("web1", 10), *both = state_of("web1,db1", 10), *found;
	char id[PAGE_SAVED_ID], other[PAGE_SAVED_ID];
	struct page_saved *s = NULL;
	struct err err = { 0 };

	ok_int(page_saved_open(&s, dir, &err), 0);
	ok_int(page_saved_put(s, "@acme", "web", state, id, &err), 0);
	ok_int(page_saved_put(s, "@acme", "both", both, other, &err), 0);
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
	{ "a host that may not be seen hides its answers",
	  a_host_that_may_not_be_seen_hides_its_answers },
	{ "a store without a folder saves nothing", a_store_without_a_folder_saves_nothing },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
