// SPDX-License-Identifier: Apache-2.0
/*
 * This file reads and writes a Gaussian process as JSON, and writes it as C; formats/model.md
 * describes the format.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/models/regression/form/gp_kernel.h"

#define AT(member)	 .offset = offsetof(struct gp, member)
#define NUMBER(key, ...) FIELD(NUMBER, key, .required = true, __VA_ARGS__)
/* A list whose length is known before it is read, from the schema or the training rows. */
#define LIST(key, item_kind, each, nr, ...)                                                  \
	FIELD(LIST, key, .item = &item_kind, .stride = sizeof(each), .owned = true,          \
	      .count = offsetof(struct gp, nr), .counted = true, .low = 1, .required = true, \
	      __VA_ARGS__)

static const struct field gp_length = FIELD(NUMBER, NULL, .low = 1e-300);
static const struct field gp_flag = FIELD(FLAG, NULL);
static const struct field gp_coefficient = FIELD(NUMBER, NULL, .low = -INFINITY);
static const struct field gp_fields[] = {
	NUMBER("mean", AT(mean), .low = -INFINITY),
	NUMBER("variance", AT(variance)),
	NUMBER("noise_ratio", AT(noise_ratio)),
	LIST("lengths", gp_length, double, nr_vars, AT(length)),
	LIST("logarithms", gp_flag, bool, nr_vars, AT(logarithm)),
	LIST("coefficients", gp_coefficient, double, nr_rows, AT(coefficients)),
	{ 0 },
};
static const struct fields gp_table = { .name = "gp", .fields = gp_fields };

int gp_json(const struct gp *g, json_t **out)
{
	return fields_json_write(&gp_table, g, out);
}

/* Checks that a number that enters by its logarithm has a logarithm in every training row. */
static bool gp_rows_enter(struct gp *g, const struct schema *s, const struct dataset *d)
{
	for (size_t v = 0; v < g->nr_vars; v++)
		if (g->logarithm[v] && (s->variables[v].factor || !(s->variables[v].low > 0)))
			return false;
	for (size_t i = 0; i < g->nr_rows; i++) {
		double *point = g->points + i * g->nr_vars;

		for (size_t v = 0; v < g->nr_vars; v++)
			point[v] = d->x[v * d->nr_rows + i];
		gp_point(g, s, point, point);
		for (size_t v = 0; v < g->nr_vars; v++)
			if (!isfinite(point[v]))
				return false;
	}
	return true;
}

int gp_from_json(struct gp *g, struct fields_json *r, const json_t *value, const struct dataset *d)
{
	int ret;

	if (d->nr_rows > GP_ROWS_MAX)
		return fields_json_error(r, "expected at most %d rows", GP_ROWS_MAX);
	*g = (struct gp){ .nr_rows = d->nr_rows, .nr_vars = d->nr_vars };
	ret = fields_json_read(r, &gp_table, value, g);
	if (ret)
		return ret;
	g->points = calloc(g->nr_rows * g->nr_vars, sizeof(*g->points));
	if (!g->points)
		return -ENOMEM;
	if (gp_rows_enter(g, r->context, d))
		return 0;
	return fields_json_error(r, "logarithms: expected false for factors, and for numbers that "
				    "are not above 0 in every row");
}

static void gp_export_array(struct buf *out, const char *name, const char *what, const double *v,
			    size_t nr)
{
	buf_printf(out, "static const double %s_%s[%zu] = {", name, what, nr);
	for (size_t i = 0; i < nr; i++)
		buf_printf(out, "%s%.17g,", i % 4 ? " " : "\n\t", v[i]);
	buf_printf(out, "\n};\n");
}

void gp_export(const struct gp *g, const struct schema *s, const char *name, struct buf *out)
{
	gp_export_array(out, name, "points", g->points, g->nr_rows * g->nr_vars);
	gp_export_array(out, name, "coefficients", g->coefficients, g->nr_rows);
	buf_printf(out,
		   "\nstatic double %s(const double *x)\n{\n\tdouble sum = %.17g;\n\n"
		   "\tfor (int i = 0; i < %zu; i++) {\n\t\tconst double *p = %s_points + i * %zu;\n"
		   "\t\tdouble squared = 0, e, r;\n\n",
		   name, g->mean, g->nr_rows, name, g->nr_vars);
	for (size_t v = 0; v < g->nr_vars; v++) {
		const struct variable *var = &s->variables[v];

		if (var->factor)
			buf_printf(out, "\t\te = x[%zu] != p[%zu] ? 1 / %.17g : 0;\n", v, v,
				   g->length[v]);
		else if (g->logarithm[v])
			buf_printf(out,
				   "\t\te = (x[%zu] > 0 ? log(x[%zu]) : %.17g) / %.17g - p[%zu];\n",
				   v, v, gp_enter(var, true, 0), g->length[v], v);
		else
			buf_printf(out, "\t\te = x[%zu] / %.17g - p[%zu];\n", v, g->length[v], v);
		buf_printf(out, "\t\tsquared += e * e;\n");
	}
	buf_printf(out,
		   "\t\tr = sqrt(5 * squared);\n"
		   "\t\tsum += %s_coefficients[i] * ((1 + r + r * r / 3) * exp(-r));\n"
		   "\t}\n\treturn sum;\n}\n\n",
		   name);
}
