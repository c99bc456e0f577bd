/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a saved regression model. What is read must predict, be printed and exported, and be
 * written, read and written again the same.
 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *written(const struct model *m)
{
	json_t *root;
	char *text = !model_json(m, &root, NULL)
			     ? json_dumps(root, JSON_SORT_KEYS | JSON_REAL_PRECISION(17))
			     : NULL;

	json_decref(root);
	return text;
}

static void use(const struct model *m)
{
	double *row = calloc(m->schema.nr + 1, sizeof(*row)), out = 0;
	struct buf text;

	buf_init(&text);
	if (!row)
		abort();
	for (size_t v = 0; v < m->schema.nr; v++)
		row[v] = m->schema.variables[v].factor ? 0 : m->schema.variables[v].low;
	if (model_predict(m, row, 1, &out))
		abort();
	model_print(m, &text);
	if (model_export_c(m, "f", &text))
		abort();
	buf_release(&text);
	free(row);
}

static void again(const struct model *m)
{
	char *first = written(m), *second = NULL;
	json_t *root = first ? json_loads(first, 0, NULL) : NULL;
	struct model n;

	/* A number that is not finite has no place in JSON: such a model is not written. */
	if (root && model_from_json(&n, root, NULL) == 0) {
		second = written(&n);
		if (!second || strcmp(first, second) != 0)
			abort();
		model_release(&n);
	} else if (root) {
		abort();
	}
	json_decref(root);
	free(first);
	free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *root = json_loadb((const char *)data, size, 0, NULL);
	struct err err = { 0 };
	struct model m;

	if (!root)
		return 0;
	if (!model_from_json(&m, root, &err)) {
		use(&m);
		again(&m);
		model_release(&m);
	} else if (!err.line[0]) {
		abort();
	}
	json_decref(root);
	return 0;
}
