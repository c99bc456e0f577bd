/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_schema: the JSON Schema (2020-12) of a table of fields, from which docs/NAME.schema.json is written.
 *
 * Tables and items with a name become definitions, so that they may contain themselves. What only a hook
 * checks (a name that must exist elsewhere) is not in the schema: a valid file may still be refused.
 */
#ifndef BASE_FIELDS_SCHEMA_H
#define BASE_FIELDS_SCHEMA_H

#include <jansson.h>

#include "base/fields.h"

/* A new reference; NULL out of memory. */
json_t *fields_schema(const struct fields *root);

#endif
