// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/regression/technique.h"

const struct technique *const techniques[] = {
	&technique_lrm,	     &technique_lrm_ia, &technique_cart,   &technique_mars,
	&technique_mars_ia,  &technique_m5,	&technique_cubist, &technique_ensemble,
	&technique_mars_bag, &technique_gp,	&technique_stack,  NULL,
};

const struct technique *technique_find(const char *name)
{
	for (size_t i = 0; techniques[i]; i++)
		if (strcmp(techniques[i]->name, name) == 0)
			return techniques[i];
	return NULL;
}

void technique_standard(const struct technique *t, size_t nr_columns, double *p)
{
	unsigned int of_parts = 0;

	for (unsigned int k = 0; k < t->nr_parts; k++) {
		technique_standard(t->parts[k], nr_columns, p + of_parts);
		of_parts += t->parts[k]->nr_parameters;
	}
	for (unsigned int i = of_parts; i < t->nr_parameters; i++) {
		const struct parameter *q = &t->parameters[i];

		p[i] = q->standard_of ? q->standard_of(nr_columns, p) : q->standard;
	}
}

size_t technique_nr_columns(const struct schema *s)
{
	size_t nr = 0;

	for (size_t v = 0; v < s->nr; v++)
		nr += s->variables[v].factor ? s->variables[v].nr_levels - 1 : 1;
	return nr;
}

int technique_check(const struct technique *t, const double *p, struct err *err)
{
	for (unsigned int i = 0; i < t->nr_parameters; i++) {
		const struct parameter *q = &t->parameters[i];

		if (!(p[i] >= q->low && p[i] <= q->high) || (q->whole && p[i] != rint(p[i])))
			return err_set(err, EINVAL,
				       "%s.%s: expected a%s number from %g to %g, got %g", t->name,
				       q->name, q->whole ? " whole" : "", q->low, q->high, p[i]);
	}
	return 0;
}

void technique_describe(const struct technique *t, const double *p, struct buf *out)
{
	for (unsigned int i = 0; i < t->nr_parameters; i++)
		buf_printf(out, "%s%s %.4g", i ? ", " : "", t->parameters[i].name, p[i]);
	if (!t->nr_parameters)
		buf_printf(out, "-");
}
