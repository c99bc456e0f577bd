// SPDX-License-Identifier: Apache-2.0
#include "analyzer/serve/fleet/page_label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/buf.h"
#include "base/system/file.h"
#include "base/text/shown.h"
#include "formats/segment/segment.h"

/* One label of one host. The texts are parts of the file, which stays in memory. */
struct page_label_item {
	const char *host, *key, *value;
	unsigned long line;
};

struct page_labels {
	struct buf text;
	struct page_label_item *items; /* owned, by host and key */
	size_t nr, cap;
	const char *keys[PAGE_LABEL_KEYS];
	size_t nr_keys;
};

void page_labels_free(struct page_labels *l)
{
	if (!l)
		return;
	free(l->items);
	buf_release(&l->text);
	free(l);
}

static int page_label_order(const void *a, const void *b)
{
	const struct page_label_item *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : strcmp(x->key, y->key);
}

static int page_label_by_value(const void *a, const void *b)
{
	const struct page_label_item *x = *(const struct page_label_item *const *)a;
	const struct page_label_item *y = *(const struct page_label_item *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : strcmp(x->value, y->value);
}

static bool page_label_is_text(const char *text)
{
	size_t len = strlen(text);

	for (const char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return false;
	return len > 0 && len < PAGE_LABEL_BYTES && shown_is_utf8(text);
}

/* Reads one line, which it cuts into words. Returns 0, -EINVAL or -ENOMEM. */
static int page_labels_line(struct page_labels *l, char *text, unsigned long line, const char *path,
			    struct err *err)
{
	char *rest = NULL, *host = strtok_r(text, " \t\r", &rest), *word;

	if (!host || host[0] == '#')
		return 0;
	if (strlen(host) >= SEGMENT_NAME_BYTES)
		return err_set(err, EINVAL, "%s:%lu: the host's name is too long", path, line);
	while ((word = strtok_r(NULL, " \t\r", &rest)) && word[0] != '#') {
		char *equals = strchr(word, '=');

		if (!equals)
			return err_set(err, EINVAL, "%s:%lu: expected HOST KEY=VALUE ...", path,
				       line);
		*equals = '\0';
		if (!page_label_is_text(word) || !page_label_is_text(equals + 1))
			return err_set(err, EINVAL,
				       "%s:%lu: expected keys and values of 1 to %d bytes of UTF-8",
				       path, line, PAGE_LABEL_BYTES - 1);
		if (array_grow(&l->items, &l->cap, l->nr + 1, sizeof(*l->items)))
			return err_set(err, ENOMEM, "%s: no memory", path);
		l->items[l->nr++] = (struct page_label_item){ host, word, equals + 1, line };
	}
	return 0;
}

static int page_labels_lines(struct page_labels *l, const char *path, struct err *err)
{
	unsigned long line = 0;
	int ret = 0;

	if (memchr(l->text.data, 0, l->text.len))
		return err_set(err, EINVAL, "%s: expected text, got a byte of 0", path);
	for (char *at = (char *)l->text.data; at && *at && ret == 0;) {
		char *end = strchr(at, '\n');

		if (end)
			*end = '\0';
		ret = page_labels_line(l, at, ++line, path, err);
		at = end ? end + 1 : NULL;
	}
	return ret;
}

/* Sorts the labels and refuses a label that a host has twice. */
static int page_labels_sort(struct page_labels *l, const char *path, struct err *err)
{
	if (l->nr)
		qsort(l->items, l->nr, sizeof(*l->items), page_label_order);
	for (size_t i = 1; i < l->nr; i++)
		if (page_label_order(&l->items[i - 1], &l->items[i]) == 0)
			return err_set(err, EINVAL, "%s:%lu: the host has this key already", path,
				       l->items[i].line > l->items[i - 1].line
					       ? l->items[i].line
					       : l->items[i - 1].line);
	return 0;
}

/* Finds the keys, and refuses more of them, or more values of one, than the page can show. */
static int page_labels_count(struct page_labels *l, const char *path, struct err *err)
{
	const struct page_label_item **sorted = calloc(l->nr + 1, sizeof(*sorted));
	size_t nr_values = 0;
	int ret = 0;

	if (!sorted)
		return err_set(err, ENOMEM, "%s: no memory", path);
	for (size_t i = 0; i < l->nr; i++)
		sorted[i] = &l->items[i];
	if (l->nr)
		qsort(sorted, l->nr, sizeof(*sorted), page_label_by_value);
	for (size_t i = 0; i < l->nr && ret == 0; i++) {
		bool new_key = i == 0 || strcmp(sorted[i]->key, sorted[i - 1]->key) != 0;

		if (new_key && l->nr_keys == PAGE_LABEL_KEYS)
			ret = err_set(err, EINVAL, "%s: expected at most %d different keys", path,
				      PAGE_LABEL_KEYS);
		else if (new_key)
			l->keys[l->nr_keys++] = sorted[i]->key;
		if (new_key)
			nr_values = 1;
		else
			nr_values += strcmp(sorted[i]->value, sorted[i - 1]->value) != 0;
		if (ret == 0 && nr_values > PAGE_LABEL_VALUES)
			ret = err_set(err, EINVAL, "%s:%lu: expected at most %d values of %s", path,
				      sorted[i]->line, PAGE_LABEL_VALUES, sorted[i]->key);
	}
	free(sorted);
	return ret;
}

int page_labels_read(struct page_labels **out, const char *path, struct err *err)
{
	struct page_labels *l = calloc(1, sizeof(*l));
	int ret;

	if (!l)
		return err_set(err, ENOMEM, "%s: no memory", path);
	buf_init(&l->text);
	ret = file_read(path, PAGE_LABEL_FILE_BYTES, &l->text, err);
	if (ret == 0)
		ret = page_labels_lines(l, path, err);
	if (ret == 0)
		ret = page_labels_sort(l, path, err);
	if (ret == 0)
		ret = page_labels_count(l, path, err);
	if (ret < 0) {
		page_labels_free(l);
		return ret;
	}
	*out = l;
	return 0;
}

size_t page_labels_keys(const struct page_labels *l, const char *const **out)
{
	*out = l ? l->keys : NULL;
	return l ? l->nr_keys : 0;
}

const char *page_label(const struct page_labels *l, const char *host, const char *key)
{
	const struct page_label_item wanted = { .host = host, .key = key }, *found;

	if (!l || !l->nr)
		return NULL;
	found = bsearch(&wanted, l->items, l->nr, sizeof(*l->items), page_label_order);
	return found ? found->value : NULL;
}
