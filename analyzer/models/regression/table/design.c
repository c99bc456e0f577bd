// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/regression/table/design.h"

int design_init(struct design *g, const struct schema *s, const struct dataset *d)
{
	size_t nr = 0, n = d->nr_rows;

	memset(g, 0, sizeof(*g));
	for (size_t v = 0; v < s->nr; v++)
		nr += s->variables[v].factor ? s->variables[v].nr_levels - 1 : 1;
	g->nr_rows = n;
	g->columns = calloc(nr + 1, sizeof(*g->columns));
	g->x = reallocarray(NULL, n * nr + 1, sizeof(*g->x));
	if (!g->columns || !g->x) {
		design_release(g);
		return -ENOMEM;
	}
	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *var = &s->variables[v];
		int32_t first = var->factor ? 1 : -1;
		int32_t end = var->factor ? (int32_t)var->nr_levels : 0;

		for (int32_t level = first; level < end; level++) {
			double *x = g->x + g->nr_columns * n;
			struct design_column c = { (uint32_t)v, level };

			for (size_t i = 0; i < n; i++)
				x[i] = level < 0 ? d->x[v * n + i]
						 : (double)(d->x[v * n + i] == level);
			g->columns[g->nr_columns++] = c;
		}
	}
	return 0;
}

void design_release(struct design *g)
{
	free(g->columns);
	free(g->x);
	memset(g, 0, sizeof(*g));
}
