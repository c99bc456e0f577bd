// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/predict_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Finds the table's column of each variable. */
static int find_columns(const struct schema *s, const struct table *t, size_t *at, struct err *err)
{
	for (size_t v = 0; v < s->nr; v++) {
		int column = table_find(t, s->variables[v].name, err);

		if (column < 0)
			return column;
		at[v] = (size_t)column;
	}
	return 0;
}

int predict_rows(struct predict_rows *p, const struct model *m, const struct table *t,
		 struct err *err)
{
	const struct schema *s = &m->schema;
	size_t *at = calloc(s->nr + 1, sizeof(*at));
	size_t nr = t->nr_rows;
	int ret;

	p->rows = reallocarray(NULL, nr * s->nr + 1, sizeof(*p->rows));
	p->predicted = calloc(nr + 1, sizeof(*p->predicted));
	ret = at && p->rows && p->predicted ? find_columns(s, t, at, err) : -ENOMEM;
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		ret = dataset_encode(s, t, at, i, p->rows + i * s->nr, err);
		if (ret)
			goto out;
	}
	ret = model_predict(m, p->rows, nr, p->predicted);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		if (!isfinite(p->predicted[i]))
			ret = err_set(err, EINVAL, "%s: row %zu: the prediction overflows",
				      t->source, i + 1);
		if (ret)
			goto out;
	}
out:
	free(at);
	return ret;
}

void predict_rows_release(struct predict_rows *p)
{
	free(p->rows);
	free(p->predicted);
	*p = (struct predict_rows){ 0 };
}
