/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: helpers that jansson does not offer.
 *
 * Inside blkcast an unknown number is NaN; in JSON it is null (product contract). JSON has no
 * infinity, so an infinite number becomes null as well.
 */
#ifndef BASE_DATA_JSON_H
#define BASE_DATA_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/*
 * Returns a new reference to the number, or to null where it is not finite. Returns NULL where
 * there is no memory.
 */
static inline json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/*
 * Returns a new reference to the text. Bytes that are not UTF-8 (a file name may have any bytes)
 * are escaped as shown() does. Returns NULL where there is no memory.
 */
json_t *json_text(const char *text);
/*
 * Parses len bytes with jansson's flags. Returns 0 with a new reference in *out; -EINVAL where the
 * text is no JSON, which where (may be NULL) explains; -ENOMEM. Without memory jansson itself
 * reports a wrong token at some places. On failure *out is NULL.
 */
int json_parse(json_t **out, const char *text, size_t len, size_t flags, json_error_t *where);
/*
 * Prints the value with jansson's flags. Characters that would control a terminal or change the
 * direction of writing are escaped. Returns 0, or -1 where printing failed.
 */
int json_print(const json_t *value, FILE *out, size_t flags);

#endif
