/* SPDX-License-Identifier: Apache-2.0 */
#include "base/data/json_writer.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/shown.h"

#define REAL_BYTES 32 /* "-1.7976931348623157e+308" and more */
#define ALL_DIGITS 17 /* tell any double from all others */
/* Doubles below this, without a fraction, are whole numbers of 64 bits with at most 17 digits. */
#define WHOLE_REAL_END 0x1p53

/* A whole number below powers_of_10[digits] has no more digits than that. */
static const double powers_of_10[ALL_DIGITS + 1] = { 1,	   1e1,	 1e2,  1e3,  1e4,  1e5,
						     1e6,  1e7,	 1e8,  1e9,  1e10, 1e11,
						     1e12, 1e13, 1e14, 1e15, 1e16, 1e17 };

/* buf_put() with its usual case inline: a profile has a thousand pieces of a few bytes. */
static inline void json_writer_put(struct json_writer *w, const char *bytes, size_t nr)
{
	struct buf *out = w->out;

	if (out->error || nr > out->cap - out->len) {
		buf_put(out, bytes, nr);
		return;
	}
	memcpy(out->data + out->len, bytes, nr);
	out->len += nr;
}

static void json_writer_line(struct json_writer *w)
{
	if (!w->is_pretty)
		return;
	json_writer_put(w, "\n", 1);
	for (unsigned int i = 0; i < w->depth; i++)
		json_writer_put(w, "  ", 2);
}

/* Separates a key, or a value without key, from the text before it. */
static void json_writer_next(struct json_writer *w)
{
	if (w->has_key || !w->depth) {
		w->has_key = false;
		return;
	}
	if (w->has_entries)
		json_writer_put(w, ",", 1);
	json_writer_line(w);
	w->has_entries = true;
}

void json_writer_open(struct json_writer *w, char bracket)
{
	json_writer_next(w);
	json_writer_put(w, &bracket, 1);
	w->depth++;
	w->has_entries = false;
}

void json_writer_close(struct json_writer *w, char bracket)
{
	w->depth--;
	if (w->has_entries)
		json_writer_line(w);
	json_writer_put(w, &bracket, 1);
	w->has_entries = true;
}

void json_writer_key(struct json_writer *w, const char *key, size_t len)
{
	json_writer_next(w);
	json_writer_put(w, "\"", 1);
	json_writer_put(w, key, len);
	json_writer_put(w, "\": ", w->is_pretty ? 3 : 2);
	w->has_key = true;
}

void json_writer_null(struct json_writer *w)
{
	json_writer_next(w);
	json_writer_put(w, "null", 4);
}

/* Writes the digits of the number, and a minus before them, to the end of `text`. */
static char *json_writer_digits(uint64_t value, bool is_negative, char text[REAL_BYTES])
{
	char *at = text + REAL_BYTES;

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	if (is_negative)
		*--at = '-';
	return at;
}

void json_writer_signed(struct json_writer *w, int64_t value)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char text[REAL_BYTES], *at = json_writer_digits(size, value < 0, text);

	json_writer_next(w);
	json_writer_put(w, at, (size_t)(text + REAL_BYTES - at));
}

void json_writer_whole(struct json_writer *w, uint64_t value)
{
	json_writer_signed(w, value < INT64_MAX ? (int64_t)value : INT64_MAX);
}

/* Takes the plus and leading zeros out of the exponent "e+05", as jansson does. */
static void json_writer_short_exponent(char *exponent)
{
	char *digits = exponent + 1, *to = exponent + 1;

	if (*digits == '-' || *digits == '+') {
		if (*digits == '-')
			to++;
		digits++;
	}
	digits += strspn(digits, "0");
	memmove(to, digits, strlen(digits) + 1);
}

/*
 * strfromd() is printf() for one double. It does not look for conversions that a library has
 * registered (libquadmath does), which would take most of the time.
 */
static void json_writer_digits_of(double value, int digits, char text[REAL_BYTES])
{
	const char *point = localeconv()->decimal_point;
	char format[] = "%.17g", *exponent, *comma;

	format[2] = (char)('0' + digits / 10);
	format[3] = (char)('0' + digits % 10);
	strfromd(text, REAL_BYTES - 2, format, value);
	comma = *point == '.' ? NULL : strchr(text, *point);
	if (comma)
		*comma = '.';
	exponent = strchr(text, 'e');
	if (exponent)
		json_writer_short_exponent(exponent);
	else if (!strchr(text, '.'))
		memcpy(text + strlen(text), ".0", 3);
}

void json_writer_real(struct json_writer *w, double value)
{
	const int digits = w->digits ? w->digits : ALL_DIGITS;
	char text[REAL_BYTES], *at;

	if (!isfinite(value)) {
		json_writer_null(w);
		return;
	}
	json_writer_next(w);
	if (fabs(value) < fmin(WHOLE_REAL_END, powers_of_10[digits]) && value == rint(value) &&
	    (value != 0 || !signbit(value))) {
		at = json_writer_digits((uint64_t)fabs(value), value < 0, text);
		json_writer_put(w, at, (size_t)(text + REAL_BYTES - at));
		json_writer_put(w, ".0", 2);
		return;
	}
	json_writer_digits_of(value, digits, text);
	json_writer_put(w, text, strlen(text));
}

static void json_writer_escape(struct json_writer *w, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
	const char *found = c ? strchr(plain, c) : NULL;
	char text[8];

	if (found) {
		text[0] = '\\';
		text[1] = escaped[found - plain];
		json_writer_put(w, text, 2);
		return;
	}
	snprintf(text, sizeof(text), "\\u%04X", c);
	json_writer_put(w, text, 6);
}

void json_writer_text(struct json_writer *w, const char *text)
{
	bool is_utf8 = shown_is_utf8(text);

	json_writer_next(w);
	json_writer_put(w, "\"", 1);
	while (*text) {
		const char *end = text;

		while ((unsigned char)*end >= ' ' && *end != '"' && *end != '\\' &&
		       (is_utf8 || !(*end & 0x80)))
			end++;
		json_writer_put(w, text, (size_t)(end - text));
		if (*end && *end & 0x80)
			json_writer_put(w, "?", 1);
		else if (*end)
			json_writer_escape(w, (unsigned char)*end);
		text = *end ? end + 1 : end;
	}
	json_writer_put(w, "\"", 1);
}

static void json_writer_entries(struct json_writer *w, const json_t *value)
{
	const char *key;
	json_t *entry;
	size_t i;

	if (json_is_array(value)) {
		json_writer_open(w, '[');
		json_array_foreach(value, i, entry) json_writer_value(w, entry);
		json_writer_close(w, ']');
		return;
	}
	json_writer_open(w, '{');
	json_object_foreach((json_t *)value, key, entry)
	{
		json_writer_next(w);
		w->has_key = true; /* no comma between the key, written as a text, and its value */
		json_writer_text(w, key);
		json_writer_put(w, ": ", w->is_pretty ? 2 : 1);
		w->has_key = true;
		json_writer_value(w, entry);
	}
	json_writer_close(w, '}');
}

void json_writer_value(struct json_writer *w, const json_t *value)
{
	if (json_is_object(value) || json_is_array(value)) {
		json_writer_entries(w, value);
	} else if (json_is_string(value)) {
		json_writer_text(w, json_string_value(value));
	} else if (json_is_integer(value)) {
		json_writer_signed(w, json_integer_value(value));
	} else if (json_is_real(value)) {
		json_writer_real(w, json_real_value(value));
	} else if (json_is_boolean(value)) {
		json_writer_next(w);
		json_writer_put(w, json_is_true(value) ? "true" : "false",
				json_is_true(value) ? 4 : 5);
	} else {
		json_writer_null(w);
	}
}
