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

/* A new reference: the number, or null where it is not finite. NULL where memory is out. */
static inline json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

#endif
