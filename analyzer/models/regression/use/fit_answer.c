// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/regression/use/fit_answer.h"

#include <math.h>
#include <stdio.h>

#include "base/data/json.h"
#include "base/memory/buf.h"

#define SHOWN_LEVELS 5 /* levels of a factor that are shown */

static json_t *fit_variables_json(const struct schema *s)
{
	json_t *list = json_array();

	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *variable = &s->variables[v];

		json_array_append_new(list,
				      variable->factor
					      ? json_pack("{s:s, s:s, s:I}", "name", variable->name,
							  "kind", "factor", "levels",
							  (json_int_t)variable->nr_levels)
					      : json_pack("{s:s, s:s, s:f, s:f}", "name",
							  variable->name, "kind", "number", "low",
							  variable->low, "high", variable->high));
	}
	return list;
}

static json_t *fit_candidate_json(const struct candidate *c)
{
	json_t *parameters = json_object();

	for (unsigned int i = 0; i < c->technique->nr_parameters; i++)
		json_object_set_new(parameters, c->technique->parameters[i].name,
				    c->technique->parameters[i].whole
					    ? json_integer((json_int_t)c->parameters[i])
					    : json_real(c->parameters[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:f, s:{s:o, s:o, s:o}}",
			 "technique", c->technique->name, "parameters", parameters, "cv_rmse",
			 json_number(c->quality.cv_rmse), "r2", json_number(c->quality.r2),
			 "mean_relative_error", json_number(c->quality.mean_relative_error),
			 "p95_relative_error", json_number(c->quality.p95_relative_error),
			 "evaluations", (json_int_t)c->evaluations, "model_fits",
			 (json_int_t)c->nr_fits, "seconds", c->seconds, "against_standard",
			 "cv_rmse", json_number(c->standard_cost), "t",
			 json_number(c->against_standard.t), "p",
			 json_number(c->against_standard.p));
}

/* Describes the values of a variable: its range, or the first levels of a factor. */
static void fit_answer_variable(const struct variable *variable, struct answer_table *t)
{
	struct buf text;

	answer_words(t, "%s", variable->name);
	if (!variable->factor) {
		answer_words(t, "number");
		answer_words(t, "%g to %g", variable->low, variable->high);
		return;
	}
	answer_words(t, "factor of %zu levels", variable->nr_levels);
	buf_init(&text);
	for (size_t i = 0; i < variable->nr_levels && i < SHOWN_LEVELS; i++)
		buf_printf(&text, "%s%.40s", i ? " " : "", variable->levels[i]);
	if (variable->nr_levels > SHOWN_LEVELS)
		buf_printf(&text, " ...");
	buf_put_u8(&text, 0);
	answer_words(t, "%s", text.error ? "" : (const char *)text.data);
	buf_release(&text);
}

/*
 * Shows how each column of the table was read, so that users notice a number that was taken for a
 * factor.
 */
static void fit_answer_variables(const struct schema *s, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "variable" },
		{ .title = "taken for" },
		{ .title = "values" },
	};
	struct answer_table *t = answer_table(a, NULL, "Variables", NULL, ANSWER_COLUMNS(columns));

	for (size_t v = 0; v < s->nr; v++)
		fit_answer_variable(&s->variables[v], t);
}

static void fit_answer_candidate(const struct candidate *c, bool best, struct answer_table *t)
{
	struct buf text;

	buf_init(&text);
	technique_describe(c->technique, c->parameters, &text);
	buf_put_u8(&text, 0);
	answer_words(t, "%s%s", best ? "* " : "  ", c->technique->name);
	answer_words(t, "%s", text.error ? "" : (const char *)text.data);
	buf_release(&text);
	answer_number(t, c->quality.cv_rmse);
	answer_number(t, c->quality.r2);
	answer_number(t, c->quality.mean_relative_error);
	answer_number(t, c->quality.p95_relative_error);
	answer_number(t, (double)c->evaluations);
	answer_number(t, c->seconds);
	if (c->searched && isfinite(c->against_standard.p))
		answer_words(t, "%+.0f %% (p %.2g)",
			     100 * (c->quality.cv_rmse / c->standard_cost - 1),
			     c->against_standard.p);
	else
		answer_number(t, NAN);
}

static void fit_answer_candidates(const struct fit_summary *s, struct answer *a)
{
	static const struct answer_column columns[] = {
		{ .title = "  technique" },
		{ .title = "parameters" },
		{ .title = "RMSE" },
		{ .title = "R2" },
		{ .title = "rel. error", .unit = ANSWER_RATIO },
		{ .title = "95 %", .unit = ANSWER_RATIO },
		{ .title = "sets", .unit = ANSWER_INTEGER },
		{ .title = "time", .unit = ANSWER_SECONDS },
		{ .title = "to standard", .right = true },
	};
	struct answer_table *t = answer_table(a, NULL, "Techniques, on rows that they had not seen",
					      NULL, ANSWER_COLUMNS(columns));

	for (size_t i = 0; i < s->nr; i++)
		fit_answer_candidate(&s->candidates[i], i == s->best, t);
}

static void fit_conclude(const struct fit_summary *s, const struct model *m, struct answer *a)
{
	double half = model_half_width(m, 0.9);
	const char *name = s->candidates[s->best].technique->name;

	if (!isfinite(half))
		answer_conclude(a, "Selected %s.", name);
	else
		answer_conclude(a,
				"Selected %s; on rows it had not seen, 90 %% of predictions are "
				"within %s%.4g.",
				name, s->schema->log ? "a factor of " : "",
				s->schema->log ? exp(half) : half);
	if (s->output)
		answer_note(a, "The model is written to %s.", s->output);
}

static void fit_add_json(const struct fit_summary *s, struct answer *a)
{
	json_t *results = json_array();

	for (size_t i = 0; i < s->nr; i++)
		json_array_append_new(results, fit_candidate_json(&s->candidates[i]));
	answer_fact_words(a, "response", NULL, s->schema->response);
	answer_fact_words(a, "scale", NULL, s->schema->log ? "log" : "linear");
	answer_fact(a, "rows", NULL, ANSWER_INTEGER, (double)s->data->nr_rows);
	answer_member(a, "folds",
		      json_pack("{s:I, s:I}", "k", (json_int_t)s->data->nr_folds, "seed",
				(json_int_t)s->data->seed));
	answer_fact_words(a, "selected", NULL, s->candidates[s->best].technique->name);
	answer_fact_words(a, "model", NULL, s->output);
	answer_member(a, "variables", fit_variables_json(s->schema));
	answer_member(a, "results", results);
}

struct answer *fit_answer(const struct fit_summary *s, const struct model *m)
{
	struct answer *a = answer_new("blkcast.fit/1", "Models of a measurement table");
	char text[128];

	fit_add_json(s, a);
	answer_fact_words(a, NULL, s->schema->log ? "Logarithm of" : "Response",
			  s->schema->response);
	snprintf(text, sizeof(text), "%zu rows, %zu variables, %zu folds (seed %llu)",
		 s->data->nr_rows, s->schema->nr, s->data->nr_folds,
		 (unsigned long long)s->data->seed);
	answer_fact_words(a, NULL, "Table", text);
	fit_answer_variables(s->schema, a);
	fit_answer_candidates(s, a);
	fit_conclude(s, m, a);
	return a;
}

static void fit_log_candidate(const struct candidate *c, FILE *out)
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
	for (size_t k = 0; c->parts && k < PARTS_MAX; k++)
		fit_log_candidate(&c->parts[k], out);
}

void fit_log(const struct candidate *c, size_t nr, FILE *out)
{
	fprintf(out, "technique,evaluation,iteration,parameters,cv_rmse\n");
	for (size_t i = 0; i < nr; i++)
		fit_log_candidate(&c[i], out);
}
