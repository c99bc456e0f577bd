// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/rng.h"
#include "tests/support/regression_data.h"

static void add_factor(struct variable *v)
{
	static const char *const names[] = { "cfq", "deadline", "noop" };

	v->factor = true;
	v->nr_levels = 3;
	v->levels = calloc(3, sizeof(*v->levels));
	for (int i = 0; v->levels && i < 3; i++)
		v->levels[i] = strdup(names[i]);
}

void regression_data(struct dataset *d, struct schema *s, size_t nr_rows, bool with_factor,
		     uint64_t seed)
{
	struct rng r;

	memset(s, 0, sizeof(*s));
	s->nr = with_factor ? 6 : 5;
	s->response = strdup("y");
	s->variables = calloc(s->nr, sizeof(*s->variables));
	if (!s->response || !s->variables || dataset_alloc(d, nr_rows, s->nr, false))
		abort();
	for (size_t v = 0; v < s->nr; v++) {
		char name[32];

		snprintf(name, sizeof(name), "x%zu", v + 1);
		s->variables[v].name = strdup(name);
	}
	if (with_factor)
		add_factor(&s->variables[5]);
	rng_seed(&r, seed);
	for (size_t i = 0; i < nr_rows; i++) {
		double x[6];

		for (size_t v = 0; v < s->nr; v++) {
			x[v] = v == 5 ? (double)rng_below(&r, 3) : rng_uniform(&r);
			d->x[v * nr_rows + i] = x[v];
		}
		d->y[i] = 10 * sin(M_PI * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) +
			  10 * x[3] + 5 * x[4] + rng_normal(&r);
		if (with_factor)
			d->y[i] += x[5] == 1 ? 4 : x[5] == 2 ? 6 * x[0] : 0;
	}
	schema_take_ranges(s, d);
}
