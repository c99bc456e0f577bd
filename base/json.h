/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: what jansson leaves to its users.
 *
 * Inside blkcast an unknown number is NaN; in JSON it is null (product contract). JSON has no infinity,
 * so an infinite number is null as well.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <math.h>
#include <stdio.h>

/* A new reference: the number, or null where it is not finite. NULL where memory is out. */
static inline json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* A new reference: the text, as shown() has it where it is no UTF-8 (a file name may be any bytes). NULL
 * where memory is out. */
json_t *json_text(const char *text);
/*
 * Prints the value by jansson's flags; characters that would move a terminal or turn the direction of writing
 * are escaped. 0, or -1 where it cannot.
 */
int json_print(const json_t *value, FILE *out, size_t flags);

#endif
