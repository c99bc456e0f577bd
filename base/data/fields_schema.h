/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_schema: makes the JSON Schema (2020-12) of a table of fields. docs/NAME.schema.json is
 * written from it.
 *
 * Tables and items with a name become definitions, so that they may contain themselves. What only a
 * hook checks (a name that must exist elsewhere) is not in the schema, so a file that the schema
 * accepts may still be refused.
 */
#ifndef BASE_DATA_FIELDS_SCHEMA_H
#define BASE_DATA_FIELDS_SCHEMA_H

#include <jansson.h>

#include "base/data/fields.h"

/* Returns a new reference, or NULL where memory ran out. */
json_t *fields_schema(const struct fields *root);

#endif
