// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/system/output_file.h"
#include "formats/model_file.h"

const char *const model_file_schemas[] = { MODEL_FILE_SCHEMA, NULL };

int model_file_read(const char *path, json_t **root, const char **kind, struct err *err)
{
	json_error_t where;
	FILE *f = fopen(path, "r");
	const char *schema, *name;
	json_t *read;

	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	read = json_loadf(f, JSON_REJECT_DUPLICATES, &where);
	fclose(f);
	if (!read)
		return err_set(err, EINVAL, "%s:%d: not a model: %s", path, where.line, where.text);
	schema = json_string_value(json_object_get(read, "schema"));
	name = json_string_value(json_object_get(read, "kind"));
	if (!schema || strcmp(schema, MODEL_FILE_SCHEMA) != 0 || !name) {
		err_set(err, EINVAL, "%s: schema: expected '%s' and a kind, got '%.40s'", path,
			MODEL_FILE_SCHEMA, schema ? schema : "none");
		json_decref(read);
		return -EINVAL;
	}
	*root = read;
	*kind = name;
	return 0;
}

int model_file_write(const char *path, const json_t *root, struct err *err)
{
	struct output_file file;
	int code, ret = output_file_begin(&file, path, 0666, err);

	if (ret)
		return ret;
	errno = 0;
	if (json_dumpf(root, file.out, JSON_REAL_PRECISION(17) | JSON_COMPACT) ||
	    fputc('\n', file.out) == EOF || fflush(file.out) ||
	    (file.beside && fsync(fileno(file.out)))) {
		code = errno ? errno : EIO;
		ret = err_set(err, code, "%s: the model cannot be written in full: %s", path,
			      strerror(code));
	}
	return output_file_end(&file, ret, err);
}
