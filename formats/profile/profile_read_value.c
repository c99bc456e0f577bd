/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/profile/profile_read_state.h"

int profile_read_expected(struct profile_reading *r, const char *what)
{
	return err_set(r->err, EINVAL, "%s: expected %s", r->path, what);
}

size_t __attribute__((format(printf, 2, 3)))
profile_read_enter(struct profile_reading *r, const char *fmt, ...)
{
	size_t len = strlen(r->path);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->path + len, sizeof(r->path) - len, fmt, ap);
	va_end(ap);
	return len;
}

void profile_read_leave(struct profile_reading *r, size_t len)
{
	r->path[len] = 0;
}

int profile_read_count(struct profile_reading *r, const json_t *value, uint64_t max, uint64_t *out)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max)
		return profile_read_expected(r, "a whole number of 0 or more, and not too large");
	*out = (uint64_t)json_integer_value(value);
	return 0;
}

int profile_read_number(struct profile_reading *r, const json_t *value, double max, double *out)
{
	double number = json_number_value(value);

	if (json_is_null(value)) {
		*out = NAN;
		return 0;
	}
	if (!json_is_number(value))
		return profile_read_expected(r, "a number or null");
	if (max > 0 && !(number >= 0 && number <= max))
		return profile_read_expected(r, max > 1 ? "a number of 0 or more"
							: "a number of 0 to 1");
	*out = number;
	return 0;
}

int profile_read_text(struct profile_reading *r, const json_t *value, char *out, size_t room)
{
	if (!json_is_string(value) || json_string_length(value) >= room)
		return profile_read_expected(r, "a text that is not too long");
	memcpy(out, json_string_value(value), json_string_length(value) + 1);
	return 0;
}

int profile_read_name(struct profile_reading *r, const json_t *value,
		      const char *(*name)(unsigned int), unsigned int begin, unsigned int end,
		      uint8_t *out)
{
	const char *text = json_string_value(value);

	for (unsigned int i = begin; text && i < end; i++)
		if (!strcmp(text, name(i))) {
			*out = (uint8_t)i;
			return 0;
		}
	return profile_read_expected(r, "one of the names that the format knows");
}

int profile_read_member(struct profile_reading *r, const json_t *object, const char *key,
			double max, double *out)
{
	size_t len = profile_read_enter(r, ".%s", key);
	const json_t *value = json_object_get(object, key);
	int ret;

	if (!value)
		return profile_read_expected(r, "it, but it is missing");
	ret = profile_read_number(r, value, max, out);
	if (ret)
		return ret;
	profile_read_leave(r, len);
	return 0;
}

int profile_read_member_or(struct profile_reading *r, const json_t *object, const char *key,
			   double fallback, double *out)
{
	*out = fallback;
	return json_object_get(object, key) ? profile_read_member(r, object, key, 0, out) : 0;
}

int profile_read_member_count(struct profile_reading *r, const json_t *object, const char *key,
			      uint64_t max, uint64_t *out)
{
	size_t len = profile_read_enter(r, ".%s", key);
	const json_t *value = json_object_get(object, key);
	int ret = value ? profile_read_count(r, value, max, out) : 0;

	if (ret)
		return ret;
	profile_read_leave(r, len);
	return 0;
}

/*
 * Does what profile_read_enter(r, "[%zu]", i) does, without printf(), which took a sixth of the time
 * of reading a long histogram.
 */
static void enter_item(struct profile_reading *r, size_t i)
{
	char text[sizeof("[18446744073709551615]")], *at = text + sizeof(text) - 1;
	size_t len = strlen(r->path), nr;

	*at = 0;
	*--at = ']';
	do {
		*--at = (char)('0' + i % 10);
		i /= 10;
	} while (i);
	*--at = '[';
	nr = (size_t)(text + sizeof(text) - at);
	if (len + nr <= sizeof(r->path))
		memcpy(r->path + len, at, nr);
}

int profile_read_pair(struct profile_reading *r, const json_t *list, size_t i, const json_t **first,
		      const json_t **second)
{
	const json_t *pair = json_array_get(list, i);

	enter_item(r, i);
	if (!json_is_array(pair) || json_array_size(pair) != 2)
		return profile_read_expected(r, "an array of two values");
	*first = json_array_get(pair, 0);
	*second = json_array_get(pair, 1);
	return 0;
}

int profile_read_list(struct profile_reading *r, const json_t *list, size_t size, void *out,
		      size_t *nr)
{
	void *array;

	*nr = 0;
	if (json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return profile_read_expected(r, "an array or null");
	if (!json_array_size(list))
		return 0;
	array = calloc(json_array_size(list), size);
	if (!array)
		return -ENOMEM;
	memcpy(out, &array, sizeof(array));
	*nr = json_array_size(list);
	return 0;
}
