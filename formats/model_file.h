/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_file: saved models of every kind, JSON as formats/model.md describes. This layer knows the
 * envelope (schema and kind); what is inside belongs to the kind.
 */
#ifndef FORMATS_MODEL_FILE_H
#define FORMATS_MODEL_FILE_H

#include <jansson.h>

#include "base/err.h"

#define MODEL_FILE_SCHEMA "blkcast.model/1"

/*
 * Reads a model file. *root is the caller's (json_decref), *kind borrowed from it. 0, -EINVAL for
 * text that is no such model, -errno of the file.
 */
int model_file_read(const char *path, json_t **root, const char **kind, struct err *err);
/* Writes beside it and renames, so that a reader never sees half a model. */
int model_file_write(const char *path, const json_t *root, struct err *err);

#endif
