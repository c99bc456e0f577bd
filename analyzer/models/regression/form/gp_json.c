// SPDX-License-Identifier: Apache-2.0
/*
 * This file reads and writes a Gaussian process as JSON, and writes it as C; formats/model.md
 * describes the format.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/models/regression/form/gp_kernel.h"

json_t *gp_json(const struct gp *g)
{
	json_t *lengths = json_array(), *logarithms = json_array(), *list = json_array();

	for (size_t v = 0; v < g->nr_vars; v++) {
		json_array_append_new(lengths, json_real(g->length[v]));
		json_array_append_new(logarithms, json_boolean(g->logarithm[v]));
	}
	for (size_t i = 0; i < g->nr_rows; i++)
		json_array_append_new(list, json_real(g->coefficients[i]));
	return json_pack("{s:f, s:f, s:f, s:o, s:o, s:o}", "mean", g->mean, "variance", g->variance,
			 "noise_ratio", g->noise_ratio, "lengths", lengths, "logarithms",
			 logarithms, "coefficients", list);
}

static bool gp_read_number(const json_t *root, double low, double *out)
{
	*out = json_number_value(root);
	return json_is_number(root) && isfinite(*out) && *out >= low;
}

static bool gp_read_variable(struct gp *g, const json_t *root, const struct schema *s, size_t v)
{
	const json_t *logarithm = json_array_get(json_object_get(root, "logarithms"), v);

	g->logarithm[v] = json_is_true(logarithm);
	return json_is_boolean(logarithm) &&
	       gp_read_number(json_array_get(json_object_get(root, "lengths"), v), 1e-300,
			      &g->length[v]) &&
	       (!g->logarithm[v] || (!s->variables[v].factor && s->variables[v].low > 0));
}

/* Checks that a number that enters by its logarithm has a logarithm in every training row. */
static bool gp_rows_enter(struct gp *g, const struct schema *s, const struct dataset *d)
{
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

int gp_from_json(struct gp *g, const json_t *root, const struct schema *s, const struct dataset *d,
		 struct err *err)
{
	const json_t *list = json_object_get(root, "coefficients");
	bool good = json_array_size(list) == d->nr_rows && d->nr_rows <= GP_ROWS_MAX &&
		    json_array_size(json_object_get(root, "lengths")) == s->nr &&
		    json_array_size(json_object_get(root, "logarithms")) == s->nr;
	int ret = good ? gp_alloc(g, d->nr_rows, s->nr) : 0;

	if (ret)
		return ret;
	good = good && gp_read_number(json_object_get(root, "mean"), -HUGE_VAL, &g->mean) &&
	       gp_read_number(json_object_get(root, "variance"), 0, &g->variance) &&
	       gp_read_number(json_object_get(root, "noise_ratio"), 0, &g->noise_ratio);
	for (size_t v = 0; good && v < s->nr; v++)
		good = gp_read_variable(g, root, s, v);
	for (size_t i = 0; good && i < g->nr_rows; i++)
		good = gp_read_number(json_array_get(list, i), -HUGE_VAL, &g->coefficients[i]);
	if (good && gp_rows_enter(g, s, d))
		return 0;
	return err_set(
		err, EINVAL,
		"gp: expected mean, variance, noise_ratio, a length above 0 and whether it is "
		"of the logarithm for each variable, and a coefficient for each of at most %d "
		"rows",
		GP_ROWS_MAX);
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
