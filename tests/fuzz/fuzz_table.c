/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a measurement table in CSV. Each of the first columns once is the response, by
 * itself and as a logarithm: what is accepted must be a data set of finite numbers whose rows
 * encode to the same numbers again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/table/dataset.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TABLE_FUZZ_RESPONSES 4

static void table_check_rows(const struct table *t, const struct schema *s, const struct dataset *d)
{
	size_t *at = calloc(s->nr + 1, sizeof(*at));
	double *x = calloc(s->nr + 1, sizeof(*x));

	if (!at || !x)
		abort();
	for (size_t v = 0; v < s->nr; v++) {
		int column = table_find(t, s->variables[v].name, NULL);

		if (column < 0)
			abort();
		at[v] = (size_t)column;
	}
	for (size_t row = 0; row < d->nr_rows; row++) {
		if (!isfinite(d->y[row]) || (d->weight && !(d->weight[row] > 0)))
			abort();
		if (d->nr_rows != t->nr_rows) /* rows were left out: their numbers moved */
			continue;
		if (dataset_encode(s, t, at, row, x, NULL))
			abort();
		for (size_t v = 0; v < s->nr; v++)
			if (x[v] != d->x[v * d->nr_rows + row])
				abort();
	}
	free(at);
	free(x);
}

static void table_as_data(const struct table *t, size_t response, bool is_log)
{
	struct dataset_spec spec = { .response = t->columns[response].name, .log = is_log };
	struct dataset d = { 0 };
	struct schema s = { 0 };
	struct err err = { 0 };

	if (!dataset_read(&d, &s, t, &spec, &err))
		table_check_rows(t, &s, &d);
	else if (!err.line[0])
		abort();
	dataset_release(&d);
	schema_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct table t;

	if (table_parse(&t, "fuzz", (const char *)data, size, &err)) {
		if (!err.line[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < t.nr_columns && i < TABLE_FUZZ_RESPONSES; i++) {
		table_numeric(&t, i);
		table_as_data(&t, i, i % 2);
	}
	table_release(&t);
	return 0;
}
