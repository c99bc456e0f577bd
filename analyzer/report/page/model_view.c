// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/choice/objective.h"
#include "analyzer/models/regression/technique.h"
#include "analyzer/report/page/model_page.h"

void model_view_release(struct model_view *v)
{
	free(v->measured);
	free(v->predicted);
	free(v->error);
	memset(v, 0, sizeof(*v));
}

static int held_out(struct model_view *v)
{
	struct objective_config config = { .technique = v->m->technique,
					   .schema = &v->m->schema,
					   .data = &v->m->data };
	struct objective *o = NULL;
	int ret = objective_new(&o, &config);

	if (ret)
		goto out;
	ret = objective_predict(o, v->m->parameters, v->predicted);
out:
	objective_free(o);
	return ret;
}

static void take_errors(struct model_view *v)
{
	v->relative = true;
	for (size_t i = 0; i < v->nr; i++)
		v->relative = v->relative && v->measured[i] != 0;
	for (size_t i = 0; i < v->nr; i++) {
		double e = fabs(v->predicted[i] - v->measured[i]);

		v->error[v->nr_errors++] = v->relative ? e / fabs(v->measured[i]) : e;
	}
	stats_sort(v->error, v->nr_errors);
}

int model_view_init(struct model_view *v, const struct model *m)
{
	size_t n = m->data.nr_rows;
	int ret = 0;

	*v = (struct model_view){ .m = m, .nr = n };
	v->measured = calloc(n + 1, sizeof(double));
	v->predicted = calloc(n + 1, sizeof(double));
	v->error = calloc(n + 1, sizeof(double));
	if (!v->measured || !v->predicted || !v->error)
		ret = -ENOMEM;
	/* A model without folds has no held-out predictions, so its own fit is shown. */
	if (!ret && m->data.fold && m->data.nr_folds > 1) {
		ret = held_out(v);
	} else if (!ret) {
		double *rows = dataset_rows(&m->data);

		ret = rows ? model_predict(m, rows, n, v->predicted) : -ENOMEM;
		for (size_t i = 0; i < n && !ret && m->schema.log; i++)
			v->predicted[i] =
				log(v->predicted[i] * exp(m->data.y[i]) / model_measured(m, i));
		free(rows);
	}
	if (ret) {
		model_view_release(v);
		return ret;
	}
	for (size_t i = 0; i < n; i++) {
		v->measured[i] = model_measured(m, i);
		if (m->schema.log) /* with its offset, like the measured values */
			v->predicted[i] = exp(v->predicted[i] - m->data.y[i]) * v->measured[i];
	}
	take_errors(v);
	return 0;
}
