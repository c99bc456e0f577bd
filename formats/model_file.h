/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file: reads and writes saved models of every kind, as JSON that formats/model.md describes.
 * This layer knows the envelope (schema and kind); the content belongs to the kind.
 */
#ifndef FORMATS_MODEL_FILE_H
#define FORMATS_MODEL_FILE_H

#include <jansson.h>

#include "base/data/fields.h"

#define MODEL_FILE_SCHEMA "blkcast.model/1"

/* The first two fields of the table of a kind (base/data/fields_json.h). */
extern const char *const model_file_schemas[];
#define MODEL_FILE_FIELDS(kinds)                                                                \
	FIELD(WORD, "schema", .words = model_file_schemas, .constant = true, .required = true), \
		FIELD(WORD, "kind", .words = kinds, .constant = true, .required = true)

/*
 * Reads a model file. *root belongs to the caller (json_decref), and *kind is borrowed from it.
 * Returns 0, -EINVAL where the text is not such a model, or the -errno of the file.
 */
int model_file_read(const char *path, json_t **root, const char **kind, struct err *err);
/* Writes a file beside the destination and renames it, so that a reader never sees half a model. */
int model_file_write(const char *path, const json_t *root, struct err *err);

#endif
