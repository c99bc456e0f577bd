// SPDX-License-Identifier: Apache-2.0
#include "base/data/fields.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/word_list.h"

#define EXPECTED_BYTES 300
#define KEYS_MAX       64 /* most keys of one table */
#define KEY_BYTES      64 /* bytes of a key's name, including the final 0 */
#define TEXT_SHOWN     60 /* An error repeats at most this many bytes of a value. */

int fields_error(const struct fields_reader *r, const struct yaml_node *at, const char *fmt, ...)
{
	char what[ERR_LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (at && !at->line)
		return err_set(r->err, EINVAL, "%s%s%s: %.400s",
			       r->settings_from ? r->settings_from : "",
			       r->settings_from ? " " : "", at->key, what);
	return yaml_tree_error(r->tree, at ? at : yaml_tree_root(r->tree), r->err, "%s%s%.400s",
			       at && at->key ? at->key : "", at && at->key ? ": " : "", what);
}

int fields_no_memory(const struct fields_reader *r)
{
	return err_set(r->err, ENOMEM, "%s%sout of memory", r->tree ? yaml_tree_name(r->tree) : "",
		       r->tree ? ": " : "");
}

/* Appends the words as "a, b or c". */
static void fields_join(char *out, size_t room, const char *const *words, const char *last)
{
	for (; *words; words++) {
		size_t at = strlen(out);

		snprintf(out + at, room - at, "%s%s", *words,
			 !words[1]  ? ""
			 : words[2] ? ", "
				    : last);
	}
}

static void fields_join_range(const struct field *f, const char *what, char *out, size_t room)
{
	if (f->above && f->high)
		snprintf(out, room, "%s above %.15g, up to %.15g", what, f->low, f->high);
	else if (f->above)
		snprintf(out, room, "%s above %.15g", what, f->low);
	else if (f->high && isfinite(f->high))
		snprintf(out, room, "%s from %.15g to %.15g", what, f->low, f->high);
	else if (isfinite(f->low))
		snprintf(out, room, "%s of %.15g or more", what, f->low);
	else
		snprintf(out, room, "%s", what);
}

static void fields_join_items(const struct field *f, const char *what, char *out, size_t room)
{
	if (f->high)
		snprintf(out, room, "a %s of %g to %g", what, f->low, f->high);
	else if (f->low)
		snprintf(out, room, "a %s of %g or more", what, f->low);
	else
		snprintf(out, room, "a %s", what);
}

const char *fields_words(const struct field *f, char *out, size_t room)
{
	const struct field *d = fields_described(f);

	*out = 0;
	if (f->expected || d->expected) {
		snprintf(out, room, "%s", f->expected ? f->expected : d->expected);
		return out;
	}
	switch (d->type) {
	case FIELD_TEXT:
		if (d->room)
			snprintf(out, room, "a text of 1 to %zu bytes", d->room - 1);
		else
			snprintf(out, room, "a text");
		break;
	case FIELD_WORD:
		fields_join(out, room, d->words, " or ");
		break;
	case FIELD_FLAG:
		snprintf(out, room, "true or false");
		break;
	case FIELD_COUNT:
		fields_join_range(d, "a whole number", out, room);
		break;
	case FIELD_NUMBER:
		fields_join_range(d, "a number", out, room);
		break;
	case FIELD_LIST:
	case FIELD_TUPLE:
		fields_join_items(d, "list", out, room);
		break;
	case FIELD_STRUCT:
		snprintf(out, room, "a mapping of keys to values");
		break;
	case FIELD_MAP:
		fields_join_items(d, "mapping", out, room);
		break;
	default:
		snprintf(out, room, "a value");
	}
	return out;
}

int fields_expected(const struct fields_reader *r, const struct field *f,
		    const struct yaml_node *at)
{
	char words[EXPECTED_BYTES];

	fields_words(f, words, sizeof(words));
	if (at->kind == YAML_SCALAR)
		return fields_error(r, at, "expected %s, got '%.*s'", words, TEXT_SHOWN, at->text);
	return fields_error(r, at, "expected %s, got a %s of %zu", words,
			    at->kind == YAML_MAP ? "mapping" : "list", at->nr);
}

/*
 * Reads a number where the reader has no hook for numbers. Only decimal digits are allowed, so that
 * neither the locale nor "nan" has an effect.
 */
static int fields_plain_number(const char *text, double *value)
{
	char *end;

	if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
		return -EINVAL;
	*value = strtod(text, &end);
	return *end || !isfinite(*value) ? -EINVAL : 0;
}

bool fields_in_range(const struct field *f, double value)
{
	bool whole = f->type != FIELD_COUNT || value == floor(value);

	return whole && (f->above ? value > f->low : value >= f->low) &&
	       (f->high == 0 || value <= f->high);
}

int fields_number(const struct fields_reader *r, const struct field *f, const struct yaml_node *n,
		  double *value)
{
	const struct field *d = fields_described(f);
	char words[EXPECTED_BYTES], got[32];
	struct err why = { 0 };
	int ret;

	if (n->kind != YAML_SCALAR)
		return fields_expected(r, f, n);
	ret = r->number ? r->number(r, n->text, value, &why) : fields_plain_number(n->text, value);
	if (ret == -ENOMEM)
		return fields_no_memory(r);
	if (ret && why.line[0])
		return fields_error(r, n, "%s", why.line);
	if (ret)
		return fields_expected(r, f, n);
	if (fields_in_range(d, *value))
		return 0;
	fields_words(f, words, sizeof(words));
	snprintf(got, sizeof(got), "%.15g", *value);
	if (!strcmp(got, n->text))
		return fields_expected(r, f, n);
	return fields_error(r, n, "expected %s, got '%.*s', which is %s", words, TEXT_SHOWN,
			    n->text, got);
}

static int fields_store_text(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, void *to)
{
	const struct field *d = fields_described(f);
	char **text = to, *copy;

	if (d->room) {
		if (strlen(n->text) >= d->room)
			return fields_expected(r, f, n);
		memcpy(to, n->text, strlen(n->text) + 1);
		return 0;
	}
	copy = strdup(n->text);
	if (!copy)
		return fields_no_memory(r);
	free(*text);
	*text = copy;
	return 0;
}

static int fields_store_word(const struct fields_reader *r, const struct field *f,
			     const struct yaml_node *n, unsigned int *to)
{
	const struct field *d = fields_described(f);

	for (unsigned int i = 0; d->words[i]; i++)
		if (!strcmp(d->words[i], n->text)) {
			*to = i;
			return 0;
		}
	return fields_expected(r, f, n);
}

static int fields_store(const struct fields_reader *r, const struct field *f,
			const struct yaml_node *n, void *to)
{
	const struct field *d = fields_described(f);
	double value;
	int ret;

	switch (d->type) {
	case FIELD_TEXT:
		return fields_store_text(r, f, n, to);
	case FIELD_WORD:
		return fields_store_word(r, f, n, to);
	case FIELD_FLAG:
		*(bool *)to = !strcmp(n->text, "true");
		return *(bool *)to || !strcmp(n->text, "false") ? 0 : fields_expected(r, f, n);
	case FIELD_COUNT:
		ret = fields_number(r, f, n, &value);
		if (!ret)
			*(uint64_t *)to = (uint64_t)value;
		return ret;
	case FIELD_NUMBER:
		return fields_number(r, f, n, to);
	case FIELD_STRUCT:
		return fields_read(r, d->of, n, to);
	case FIELD_MAP:
	case FIELD_LIST:
		for (size_t i = 0; i < n->nr; i++) {
			ret = fields_read_value(r, d->item, n->items[i], to);
			if (ret)
				return ret;
		}
		return 0;
	default:
		return 0;
	}
}

static bool fields_fits(const struct field *f, const struct yaml_node *n)
{
	const struct field *d = fields_described(f);

	switch (d->type) {
	case FIELD_ANY:
	case FIELD_EITHER:
		return true;
	case FIELD_STRUCT:
	case FIELD_MAP:
		return n->kind == YAML_MAP;
	case FIELD_LIST:
		return n->kind == YAML_LIST;
	case FIELD_TEXT:
		return n->kind == YAML_SCALAR && *n->text;
	default:
		return n->kind == YAML_SCALAR;
	}
}

int fields_read_value(const struct fields_reader *r, const struct field *f,
		      const struct yaml_node *n, void *base)
{
	const struct field *d = fields_described(f);
	field_hook *hook = f->read ? f->read : d->read;
	bool counted = d->type == FIELD_MAP || d->type == FIELD_LIST;
	char *to = (char *)base + f->offset;

	if (!fields_fits(f, n))
		return fields_expected(r, f, n);
	if (counted && ((double)n->nr < d->low || (d->high && (double)n->nr > d->high)))
		return fields_expected(r, f, n);
	for (size_t i = 0; d->banned && i < n->nr; i++)
		if (!*n->items[i]->key || strpbrk(n->items[i]->key, d->banned))
			return yaml_tree_error(r->tree, n->items[i], r->err,
					       "\"%.60s\": expected a name without any of \"%s\"",
					       n->items[i]->key, d->banned);
	if (hook)
		return hook(r, f, n, to);
	if (d->type != FIELD_EITHER)
		return fields_store(r, f, n, to);
	for (const struct field *one = d->item; one->type || one->as; one++)
		if (fields_fits(one, n))
			return fields_read_value(r, one, n, to);
	return fields_expected(r, f, n);
}

static const struct field *fields_find(const struct fields *t, const char *key)
{
	for (const struct field *f = t->fields; !fields_is_end(f); f++)
		if (!strcmp(f->name, key))
			return f;
	return NULL;
}

static int fields_unknown(const struct fields_reader *r, const struct fields *t,
			  const struct yaml_node *n)
{
	const char *names[KEYS_MAX + 1] = { NULL }, *nearest;
	char known[EXPECTED_BYTES] = "";
	size_t nr = 0;

	for (const struct field *f = t->fields; !fields_is_end(f) && nr < KEYS_MAX; f++)
		names[nr++] = f->name;
	fields_join(known, sizeof(known), names, ", ");
	nearest = word_list_nearest(n->key, names);
	return yaml_tree_error(r->tree, n, r->err, "unknown %s \"%.60s\": expected one of %s%s%s%s",
			       t->noun ? t->noun : "key", n->key, known,
			       nearest ? "; did you mean \"" : "", nearest ? nearest : "",
			       nearest ? "\"?" : "");
}

/* Reports a choice of which no key, or more than one key, is present. */
static int fields_not_chosen(const struct fields_reader *r, const struct fields *t,
			     const struct yaml_node *n, const struct field *group)
{
	const char *names[KEYS_MAX + 1] = { NULL };
	char words[EXPECTED_BYTES] = "";
	size_t nr = 0;

	for (size_t i = 0; i < n->nr; i++) {
		const struct field *f = fields_find(t, n->items[i]->key);

		if (f && !group->some && (t->one_key || f->choice == group->choice))
			names[nr++] = f->name;
		if (nr == 2)
			return fields_error(r, n, "expected only one of \"%s\" and \"%s\"",
					    names[0], names[1]);
	}
	nr = 0;
	if (t->expected)
		return fields_error(r, n, "expected %s", t->expected);
	for (const struct field *f = t->fields; !fields_is_end(f) && nr < KEYS_MAX; f++)
		if (t->one_key || (group->choice && f->choice == group->choice) ||
		    (group->some && f->some == group->some))
			names[nr++] = f->name;
	fields_join(words, sizeof(words), names, " or ");
	return fields_error(r, n, "expected %s%s",
			    t->one_key	    ? "one of "
			    : group->choice ? "either "
					    : "",
			    words);
}

/* Returns whether as many keys of the group are present as required. */
static bool fields_group_holds(const struct fields *t, const struct yaml_node *n,
			       const struct field *group)
{
	size_t there = 0;

	for (const struct field *f = t->fields; !fields_is_end(f); f++)
		if ((group->choice && f->choice == group->choice) ||
		    (group->some && f->some == group->some))
			there += yaml_node_get(n, f->name) != NULL;
	return group->choice ? there == 1 : there > 0;
}

/* Refuses a key beside one of the keys that the field excludes. */
static int fields_check_alone(const struct fields_reader *r, const struct field *f,
			      const struct yaml_node *n, const struct yaml_node *at)
{
	char other[KEY_BYTES];

	for (const char *word = f->without; word && *word; word += strspn(word, " ")) {
		snprintf(other, sizeof(other), "%.*s", (int)strcspn(word, " "), word);
		word += strcspn(word, " ");
		if (yaml_node_get(n, other))
			return yaml_tree_error(r->tree, at, r->err,
					       "\"%s\" and \"%s\": expected one of them", at->key,
					       other);
	}
	return 0;
}

static int fields_check_keys(const struct fields_reader *r, const struct fields *t,
			     const struct yaml_node *n)
{
	for (size_t i = 0; i < n->nr; i++) {
		const struct yaml_node *at = n->items[i];
		const struct field *f = fields_find(t, at->key);
		int ret;

		if (!f)
			return fields_unknown(r, t, at);
		if (f->with && !yaml_node_get(n, f->with))
			return fields_error(r, at, "expected \"%s\" beside it", f->with);
		ret = fields_check_alone(r, f, n, at);
		if (ret)
			return ret;
	}
	if (t->one_key && n->nr != 1)
		return fields_not_chosen(r, t, n, t->fields);
	for (const struct field *f = t->fields; !fields_is_end(f); f++)
		if ((f->choice || f->some) && !fields_group_holds(t, n, f))
			return fields_not_chosen(r, t, n, f);
	return 0;
}

/*
 * Finds the key in the reader's settings; the last setting of a name is used. Returns false where
 * there is none.
 */
static bool fields_setting(const struct fields_reader *r, const struct field *f,
			   struct yaml_node *set)
{
	size_t len = strlen(f->name);

	for (size_t i = r->nr_settings; f->settable && i-- > 0;)
		if (!strncmp(r->settings[i], f->name, len) && r->settings[i][len] == '=') {
			*set = (struct yaml_node){ .kind = YAML_SCALAR,
						   .key = (char *)f->name,
						   .text = (char *)r->settings[i] + len + 1 };
			return true;
		}
	return false;
}

int fields_check_settings(const struct fields_reader *r, const struct fields *t)
{
	const char *names[KEYS_MAX + 1] = { NULL };
	char known[EXPECTED_BYTES] = "";
	size_t nr = 0;

	for (const struct field *f = t->fields; !fields_is_end(f) && nr < KEYS_MAX; f++)
		if (f->settable)
			names[nr++] = f->name;
	fields_join(known, sizeof(known), names, " or ");
	for (size_t i = 0; i < r->nr_settings; i++) {
		size_t len = strcspn(r->settings[i], "="), k = 0;

		while (k < nr &&
		       (strlen(names[k]) != len || strncmp(names[k], r->settings[i], len)))
			k++;
		if (k == nr || !r->settings[i][len])
			return err_set(r->err, EINVAL,
				       "%s: expected KEY=VALUE with %s; got '%.60s'",
				       r->settings_from, known, r->settings[i]);
	}
	return 0;
}

static int fields_missing(const struct fields_reader *r, const struct field *f,
			  const struct yaml_node *n)
{
	char words[EXPECTED_BYTES];

	return fields_error(r, n, "%s: missing: expected %s", f->name,
			    fields_words(f, words, sizeof(words)));
}

int fields_read(const struct fields_reader *r, const struct fields *t, const struct yaml_node *n,
		void *to)
{
	int ret;

	if (n->kind != YAML_MAP)
		return fields_error(r, n, "expected a mapping of keys to values");
	ret = fields_check_keys(r, t, n);
	if (ret)
		return ret;
	for (const struct field *f = t->fields; !fields_is_end(f); f++) {
		const struct yaml_node *value = yaml_node_get(n, f->name);
		struct yaml_node set;

		if (fields_setting(r, f, &set))
			value = &set;
		if (!value && f->required)
			return fields_missing(r, f, n);
		ret = value ? fields_read_value(r, f, value, to) : 0;
		if (ret)
			return ret;
	}
	return 0;
}
