// SPDX-License-Identifier: Apache-2.0
#include "base/data/fields_json.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/word_list.h"

#define EXPECTED_BYTES 300
#define PATH_BYTES     256
#define KEYS_MAX       64     /* most unknown keys of an object that are examined */
#define EXACT_MAX      0x1p53 /* Up to here a double holds every whole number. */

/* A step of the way from the outermost object to the value that is read. */
struct fields_json_step {
	const struct fields_json_step *up;
	const char *key; /* NULL: an index */
	size_t index;
};

static void fields_json_path(const struct fields_json_step *at, char *out, size_t room)
{
	size_t used;

	if (!at)
		return;
	fields_json_path(at->up, out, room);
	used = strlen(out);
	if (at->key)
		snprintf(out + used, room - used, "%s%s", used ? "." : "", at->key);
	else
		snprintf(out + used, room - used, "[%zu]", at->index);
}

int fields_json_error(const struct fields_json *r, const char *fmt, ...)
{
	char what[ERR_LINE_BYTES], path[PATH_BYTES] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	fields_json_path(r->at, path, sizeof(path));
	return err_set(r->err, EINVAL, "%s%s%s", path, *path ? ": " : "", what);
}

void fields_json_prefix(const struct fields_json *r)
{
	char path[PATH_BYTES] = "";

	fields_json_path(r->at, path, sizeof(path));
	if (*path)
		err_prefix(r->err, "%s", path);
}

static int fields_json_expected(const struct fields_json *r, const struct field *f)
{
	char words[EXPECTED_BYTES];

	if (fields_described(f)->type == FIELD_STRUCT && !f->expected)
		return fields_json_error(r, "expected an object");
	return fields_json_error(r, "expected %s%s", fields_words(f, words, sizeof(words)),
				 fields_described(f)->null ? " or null" : "");
}

/* Lists the keys of the object that the table does not have. Returns their number. */
static size_t fields_json_unknown(const struct fields *t, const json_t *object,
				  const char *unknown[KEYS_MAX + 1])
{
	const char *key;
	const json_t *value;
	size_t nr = 0;

	json_object_foreach((json_t *)object, key, value)
	{
		const struct field *f = t->fields;

		while (!fields_is_end(f) && strcmp(f->name, key))
			f++;
		if (fields_is_end(f) && nr < KEYS_MAX)
			unknown[nr++] = key;
	}
	unknown[nr] = NULL;
	return nr;
}

/* Reports a required key that is absent, with the unknown key that may stand for it. */
static int fields_json_missing(const struct fields_json *r, const struct fields *t,
			       const struct field *missing, const json_t *object)
{
	const char *unknown[KEYS_MAX + 1], *nearest;
	char words[EXPECTED_BYTES];

	fields_json_unknown(t, object, unknown);
	nearest = word_list_nearest(missing->name, unknown);
	return fields_json_error(r, "%s: missing: expected %s%s%.60s%s", missing->name,
				 fields_words(missing, words, sizeof(words)),
				 nearest ? "; did you mean this by \"" : "", nearest ? nearest : "",
				 nearest ? "\"?" : "");
}

static int fields_json_store_text(const struct fields_json *r, const struct field *f,
				  const json_t *value, void *to)
{
	const char *text = json_string_value(value);
	size_t room = fields_described(f)->room;
	char *copy;

	if (!text || !*text || (room && strlen(text) >= room))
		return fields_json_expected(r, f);
	if (room) {
		memcpy(to, text, strlen(text) + 1);
		return 0;
	}
	copy = strdup(text);
	if (!copy)
		return err_set(r->err, ENOMEM, "out of memory");
	free(*(char **)to);
	*(char **)to = copy;
	return 0;
}

static int fields_json_store_word(const struct fields_json *r, const struct field *f,
				  const json_t *value, void *to)
{
	const char *const *words = fields_described(f)->words;
	const char *text = json_string_value(value);

	for (unsigned int i = 0; text && words[i]; i++) {
		if (strcmp(words[i], text) != 0)
			continue;
		if (fields_described(f)->room)
			*(bool *)to = i;
		else
			*(unsigned int *)to = i;
		return 0;
	}
	return fields_json_expected(r, f);
}

/* Whole numbers keep all of their 64 bits. A negative one, where the range has it, wraps around. */
static int fields_json_store_count(const struct fields_json *r, const struct field *f,
				   const json_t *value, void *to)
{
	const struct field *d = fields_described(f);
	double number = json_number_value(value);
	uint64_t whole = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;

	if (!json_is_number(value) || !fields_in_range(d, number) ||
	    (json_is_real(value) && !(fabs(number) <= EXACT_MAX)))
		return fields_json_expected(r, f);
	if (json_is_real(value))
		whole = (uint64_t)(int64_t)number;
	if (d->room && whole >> 8 * d->room)
		return fields_json_expected(r, f);
	if (d->room == sizeof(uint8_t))
		*(uint8_t *)to = (uint8_t)whole;
	else if (d->room == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)whole;
	else
		*(uint64_t *)to = whole;
	return 0;
}

static int fields_json_store_number(const struct fields_json *r, const struct field *f,
				    const json_t *value, double *to)
{
	const struct field *d = fields_described(f);

	if (json_is_null(value) && d->null) {
		*to = d->null;
		return 0;
	}
	if (!json_is_number(value) || !fields_in_range(d, json_number_value(value)))
		return fields_json_expected(r, f);
	*to = json_number_value(value);
	return 0;
}

static int fields_json_read_item(struct fields_json *r, const struct field *item,
				 const json_t *list, size_t i, void *base)
{
	struct fields_json_step here = { .up = r->at, .index = i };
	int ret;

	r->at = &here;
	ret = fields_json_read_value(r, item, json_array_get(list, i), base);
	r->at = here.up;
	return ret;
}

static int fields_json_store_list(struct fields_json *r, const struct field *f, const json_t *list,
				  char *base)
{
	const struct field *d = fields_described(f);
	size_t nr = json_array_size(list), *count = (size_t *)(base + f->count);
	char *to = base + f->offset;
	int ret;

	if (!json_is_array(list) || (double)nr < d->low || (d->high && (double)nr > d->high))
		return fields_json_expected(r, f);
	if (f->counted && nr != *count && (nr || d->low > 0))
		return fields_json_error(r, "expected a list of %zu, got %zu", *count, nr);
	if (!f->count && d->stride)
		nr = (size_t)d->low;
	if (f->owned && nr) {
		to = *(char **)to = calloc(nr, d->stride);
		if (!to)
			return err_set(r->err, ENOMEM, "out of memory");
	}
	if (f->count && !f->counted)
		*count = nr;
	for (size_t i = 0; i < nr; i++) {
		ret = fields_json_read_item(r, d->item, list, i, to + i * d->stride);
		if (ret)
			return ret;
	}
	return 0;
}

static int fields_json_store_tuple(struct fields_json *r, const struct field *f, const json_t *list,
				   void *to)
{
	const struct field *item = fields_described(f)->item;
	int ret;

	for (size_t i = 0; !fields_is_end(&item[i]); i++) {
		if (i >= json_array_size(list))
			return fields_json_expected(r, f);
		ret = fields_json_read_item(r, &item[i], list, i, to);
		if (ret)
			return ret;
	}
	return 0;
}

int fields_json_read_value(struct fields_json *r, const struct field *f, const json_t *value,
			   void *base)
{
	const struct field *d = fields_described(f);
	field_json_read *hook = f->from_json ? f->from_json : d->from_json;
	char *to = (char *)base + f->offset;

	if (hook)
		return hook(r, f, value, to);
	switch (d->type) {
	case FIELD_TEXT:
		return fields_json_store_text(r, f, value, to);
	case FIELD_WORD:
		return d->constant ? 0 : fields_json_store_word(r, f, value, to);
	case FIELD_FLAG:
		*(bool *)to = json_is_true(value);
		return json_is_boolean(value) ? 0 : fields_json_expected(r, f);
	case FIELD_COUNT:
		return fields_json_store_count(r, f, value, to);
	case FIELD_NUMBER:
		return fields_json_store_number(r, f, value, (double *)to);
	case FIELD_STRUCT:
		return fields_json_read(r, d->of, value, to);
	case FIELD_TUPLE:
		return fields_json_store_tuple(r, f, value, to);
	case FIELD_LIST:
		return fields_json_store_list(r, f, value, base);
	default:
		return 0;
	}
}

static int fields_json_read_key(struct fields_json *r, const struct field *f, const json_t *value,
				void *base)
{
	struct fields_json_step here = { .up = r->at, .key = f->name };
	int ret;

	if (f->flag)
		*(bool *)((char *)base + f->flag) = true;
	r->at = &here;
	ret = fields_json_read_value(r, f, value, base);
	r->at = here.up;
	return ret;
}

static int fields_json_read_keys(struct fields_json *r, const struct fields *t,
				 const json_t *object, void *to, bool late)
{
	for (const struct field *f = t->fields; !fields_is_end(f); f++) {
		const json_t *value = f->late == late ? json_object_get(object, f->name) : NULL;
		int ret;

		if (!value && f->late == late && f->required && !f->constant)
			return fields_json_missing(r, t, f, object);
		ret = value ? fields_json_read_key(r, f, value, to) : 0;
		if (ret)
			return ret;
	}
	return 0;
}

int fields_json_read(struct fields_json *r, const struct fields *t, const json_t *object, void *to)
{
	const char *wrong, *unknown[KEYS_MAX + 1];
	int ret;

	if (!json_is_object(object))
		return fields_json_error(r, "expected an object");
	if (t->closed && fields_json_unknown(t, object, unknown))
		return fields_json_error(r, "unknown key \"%.60s\"", unknown[0]);
	ret = fields_json_read_keys(r, t, object, to, false);
	if (ret)
		return ret;
	ret = fields_json_read_keys(r, t, object, to, true);
	if (ret)
		return ret;
	wrong = t->check ? t->check(to) : NULL;
	return wrong ? fields_json_error(r, "%s", wrong) : 0;
}

/* ---- writing ---- */

int fields_json_append(json_t *list, const struct field *item, const void *base)
{
	json_t *value;
	int ret = fields_json_write_value(item, base, &value);

	if (ret)
		return ret;
	return json_array_append_new(list, value) ? -ENOMEM : 0;
}

static int fields_json_write_list(const struct field *f, const void *base, json_t *list)
{
	const struct field *d = fields_described(f);
	const char *from = (const char *)base + f->offset;
	size_t nr = f->count ? *(const size_t *)((const char *)base + f->count) : (size_t)d->low;
	bool tuple = d->type == FIELD_TUPLE;
	int ret;

	if (f->owned)
		from = *(const char *const *)from;
	if (f->owned && !from)
		nr = 0;
	for (size_t i = 0; tuple ? !fields_is_end(&d->item[i]) : i < nr; i++) {
		ret = tuple ? fields_json_append(list, &d->item[i], from)
			    : fields_json_append(list, d->item, from + i * d->stride);
		if (ret)
			return ret;
	}
	return 0;
}

int fields_json_write_value(const struct field *f, const void *base, json_t **out)
{
	const struct field *d = fields_described(f);
	field_json_write *hook = f->to_json ? f->to_json : d->to_json;
	const void *from = (const char *)base + f->offset;
	int ret = 0;

	*out = NULL;
	if (hook)
		return hook(f, from, out);
	switch (d->type) {
	case FIELD_TEXT:
		*out = json_text(d->room ? from : *(const char *const *)from);
		break;
	case FIELD_WORD:
		*out = json_string(d->words[d->constant ? 0
					    : d->room	? *(const bool *)from
							: *(const unsigned int *)from]);
		break;
	case FIELD_FLAG:
		*out = json_boolean(*(const bool *)from);
		break;
	case FIELD_COUNT:
		*out = json_integer(d->room == sizeof(uint8_t) ? *(const uint8_t *)from
				    : d->room == sizeof(uint32_t)
					    ? *(const uint32_t *)from
					    : (json_int_t) * (const uint64_t *)from);
		break;
	case FIELD_NUMBER:
		if (!d->null && !isfinite(*(const double *)from))
			return -EDOM;
		*out = json_number(*(const double *)from);
		break;
	case FIELD_LIST:
		if (f->owned && d->low > 0 && !*(const void *const *)from)
			return 0;
		*out = json_array();
		ret = *out ? fields_json_write_list(f, base, *out) : 0;
		break;
	case FIELD_STRUCT:
		return d->of->written && !d->of->written(from)
			       ? 0
			       : fields_json_write(d->of, from, out);
	default:
		*out = json_array();
		ret = *out ? fields_json_write_list(f, base, *out) : 0;
	}
	if (*out && !ret)
		return 0;
	json_decref(*out);
	*out = NULL;
	return ret ? ret : -ENOMEM;
}

int fields_json_write(const struct fields *t, const void *from, json_t **out)
{
	json_t *object = json_object(), *value;
	int ret = object ? 0 : -ENOMEM;

	*out = NULL;
	if (ret)
		return ret;
	for (const struct field *f = t->fields; !fields_is_end(f); f++) {
		if (f->flag && !*(const bool *)((const char *)from + f->flag))
			continue;
		ret = fields_json_write_value(f, from, &value);
		if (!ret && value && json_object_set_new(object, f->name, value))
			ret = -ENOMEM;
		if (ret)
			goto out;
	}
	*out = json_incref(object);
out:
	json_decref(object);
	return ret;
}

int fields_json_make(const struct fields *t, const void *from, json_t **out, struct err *err)
{
	int ret = fields_json_write(t, from, out);

	if (ret == -EDOM)
		return err_set(err, EDOM,
			       "a number is not finite, so that a file with it could not be read");
	return ret == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : ret;
}
