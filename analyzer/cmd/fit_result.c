// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "analyzer/cmd/fit_result.h"
#include "analyzer/answer/grid.h"

static json_t *number_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *variables_json(const struct schema *s)
{
	json_t *list = json_array();

	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *x = &s->variables[v];

		json_array_append_new(
			list, x->factor ? json_pack("{s:s, s:s, s:I}", "name", x->name, "kind",
						    "factor", "levels", (json_int_t)x->nr_levels)
					: json_pack("{s:s, s:s, s:f, s:f}", "name", x->name, "kind",
						    "number", "low", x->low, "high", x->high));
	}
	return list;
}

/* What each column was taken for: a number taken for a factor is seen here. */
static void print_variables(const struct schema *s)
{
	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *x = &s->variables[v];

		if (!x->factor) {
			printf("  %s: number, %g to %g\n", x->name, x->low, x->high);
			continue;
		}
		printf("  %s: factor of %zu levels:", x->name, x->nr_levels);
		for (size_t i = 0; i < x->nr_levels && i < 5; i++)
			printf(" %.40s", x->levels[i]);
		printf("%s\n", x->nr_levels > 5 ? " ..." : "");
	}
	printf("\n");
}

static json_t *candidate_json(const struct candidate *c)
{
	json_t *parameters = json_object();

	for (unsigned int i = 0; i < c->technique->nr_parameters; i++)
		json_object_set_new(parameters, c->technique->parameters[i].name,
				    c->technique->parameters[i].whole
					    ? json_integer((json_int_t)c->parameters[i])
					    : json_real(c->parameters[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:f, s:{s:o, s:o, s:o}}",
			 "technique", c->technique->name, "parameters", parameters, "cv_rmse",
			 number_or_null(c->quality.cv_rmse), "r2", number_or_null(c->quality.r2),
			 "mean_relative_error", number_or_null(c->quality.mean_relative_error),
			 "p95_relative_error", number_or_null(c->quality.p95_relative_error),
			 "evaluations", (json_int_t)c->evaluations, "model_fits",
			 (json_int_t)c->nr_fits, "seconds", c->seconds, "against_standard",
			 "cv_rmse", number_or_null(c->standard_cost), "t",
			 number_or_null(c->against_standard.t), "p",
			 number_or_null(c->against_standard.p));
}

int fit_print_json(const struct fit_summary *s, struct err *err)
{
	json_t *results = json_array(), *root;
	int ret = 0;

	for (size_t i = 0; i < s->nr; i++)
		json_array_append_new(results, candidate_json(&s->candidates[i]));
	root = json_pack("{s:s, s:s, s:s, s:I, s:{s:I, s:I}, s:s, s:o, s:o, s:o}", "schema",
			 "blkcast.fit/1", "response", s->schema->response, "scale",
			 s->schema->log ? "log" : "linear", "rows", (json_int_t)s->data->nr_rows,
			 "folds", "k", (json_int_t)s->data->nr_folds, "seed",
			 (json_int_t)s->data->seed, "selected",
			 s->candidates[s->best].technique->name, "model",
			 s->output ? json_string(s->output) : json_null(), "variables",
			 variables_json(s->schema), "results", results);
	if (!root || json_dumpf(root, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
		ret = err_set(err, EIO, "the JSON result cannot be written");
	json_decref(root);
	return ret;
}

static void percent_cell(struct grid *g, double ratio)
{
	if (isfinite(ratio))
		grid_cell(g, "%.2f %%", 100 * ratio);
	else
		grid_cell(g, "-");
}

static int candidate_row(struct grid *g, const struct candidate *c, bool best)
{
	struct buf text;

	buf_init(&text);
	technique_describe(c->technique, c->parameters, &text);
	buf_put_u8(&text, 0);
	if (text.error) {
		buf_release(&text);
		return -ENOMEM;
	}
	grid_cell(g, "%s%s", best ? "* " : "  ", c->technique->name);
	grid_cell(g, "%s", (const char *)text.data);
	grid_cell(g, "%.4g", c->quality.cv_rmse);
	grid_cell(g, isfinite(c->quality.r2) ? "%.4f" : "-", c->quality.r2);
	percent_cell(g, c->quality.mean_relative_error);
	percent_cell(g, c->quality.p95_relative_error);
	grid_cell(g, "%llu", (unsigned long long)c->evaluations);
	grid_cell(g, "%.2f s", c->seconds);
	if (c->searched && isfinite(c->against_standard.p))
		grid_cell(g, "%+.0f %% (p %.2g)", 100 * (c->quality.cv_rmse / c->standard_cost - 1),
			  c->against_standard.p);
	else
		grid_cell(g, "-");
	buf_release(&text);
	return 0;
}

int fit_print_text(const struct fit_summary *s, const struct model *m)
{
	const struct candidate *best = &s->candidates[s->best];
	double half = model_half_width(m, 0.9);
	struct grid g;
	int ret = 0;

	printf("%s%s: %zu rows, %zu variables, %u folds (seed %llu)\n\n",
	       s->schema->log ? "logarithm of " : "", s->schema->response, s->data->nr_rows,
	       s->schema->nr, s->data->nr_folds, (unsigned long long)s->data->seed);
	print_variables(s->schema);
	grid_init(&g,
		  "  technique|parameters|>RMSE|>R2|>rel. error|>95 %|>sets|>time|>to standard");
	for (size_t i = 0; i < s->nr && !ret; i++)
		ret = candidate_row(&g, &s->candidates[i], i == s->best);
	if (!ret)
		grid_print(&g, stdout);
	grid_release(&g);
	printf("\nselected %s; on rows it had not seen", best->technique->name);
	if (isfinite(half) && s->schema->log)
		printf(", 90 %% of predictions are within a factor of %.4g", exp(half));
	else if (isfinite(half))
		printf(", 90 %% of predictions are within %.4g", half);
	printf("\n");
	if (s->output)
		printf("written to %s\n", s->output);
	return ret;
}

static void log_candidate(const struct candidate *c, FILE *out)
{
	for (size_t i = 0; i < c->trace.nr; i++) {
		const struct s3_point *p = &c->trace.points[i];
		unsigned int axis = 0;

		fprintf(out, "%s,%zu,%u,", c->technique->name, i + 1, p->iteration);
		for (unsigned int k = 0; k < c->technique->nr_parameters; k++)
			fprintf(out, "%s%s=%.17g", k ? " " : "", c->technique->parameters[k].name,
				c->fixed[k] ? c->parameters[k] : p->at[axis++]);
		fprintf(out, ",%.17g\n", p->cost);
	}
}

void fit_log(const struct candidate *c, size_t nr, FILE *out)
{
	fprintf(out, "technique,evaluation,iteration,parameters,cv_rmse\n");
	for (size_t i = 0; i < nr; i++)
		log_candidate(&c[i], out);
}
