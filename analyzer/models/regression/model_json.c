// SPDX-License-Identifier: Apache-2.0
/* This file reads and writes a model as JSON; formats/model.md describes the format. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"
#include "base/data/json.h"

static json_t *model_json_numbers(const double *v, size_t nr)
{
	json_t *list = json_array();

	for (size_t i = 0; i < nr; i++)
		json_array_append_new(list, json_real(v[i]));
	return list;
}

static json_t *variable_json(const struct variable *v)
{
	json_t *levels = json_array();

	for (size_t i = 0; i < v->nr_levels; i++)
		json_array_append_new(levels, json_string(v->levels[i]));
	if (v->factor)
		return json_pack("{s:s, s:o}", "name", v->name, "levels", levels);
	json_decref(levels);
	return json_pack("{s:s, s:f, s:f}", "name", v->name, "low", v->low, "high", v->high);
}

static json_t *data_json(const struct model *m)
{
	const struct dataset *d = &m->data;
	json_t *columns = json_array(), *root, *folds = json_array();

	for (size_t v = 0; v < d->nr_vars; v++)
		json_array_append_new(columns,
				      model_json_numbers(d->x + v * d->nr_rows, d->nr_rows));
	for (size_t i = 0; d->fold && i < d->nr_rows; i++)
		json_array_append_new(folds, json_integer(d->fold[i]));
	root = json_pack("{s:I, s:o, s:o, s:o, s:I, s:I}", "rows", (json_int_t)d->nr_rows, "x",
			 columns, "y", model_json_numbers(d->y, d->nr_rows), "fold", folds, "folds",
			 (json_int_t)d->nr_folds, "seed", (json_int_t)d->seed);
	if (d->weight)
		json_object_set_new(root, "weight", model_json_numbers(d->weight, d->nr_rows));
	return root;
}

static json_t *parameters_json(const struct model *m)
{
	json_t *root = json_object();

	for (unsigned int i = 0; i < m->technique->nr_parameters; i++)
		json_object_set_new(root, m->technique->parameters[i].name,
				    json_real(m->parameters[i]));
	return root;
}

static const char *const form_names[] = {
	[MODEL_TERMS] = "terms", [MODEL_FOREST] = "forest",   [MODEL_RULES] = "rules",
	[MODEL_GP] = "gp",	 [MODEL_MEMBERS] = "members",
};

static json_t *members_json(const struct model *m);

static json_t *form_json(const struct model *m)
{
	switch (m->form) {
	case MODEL_TERMS:
		return terms_json(&m->terms);
	case MODEL_FOREST:
		return forest_json(&m->forest, &m->schema);
	case MODEL_RULES:
		return rules_json(&m->rules, &m->schema);
	case MODEL_GP:
		return gp_json(&m->gp);
	default:
		return members_json(m);
	}
}

/*
 * Returns NULL for models that are no sums of terms, because only sums have limits. The key is
 * then left out.
 */
static json_t *limits_json(const struct model *m)
{
	return m->form == MODEL_TERMS ? json_pack("[f, f]", m->limits.low, m->limits.high) : NULL;
}

static json_t *members_json(const struct model *m)
{
	json_t *list = json_array();

	for (size_t i = 0; i < m->nr_members; i++) {
		const struct model *member = &m->members[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:f, s:o, s:o, s:o*}", "technique",
						member->technique->name, "share", member->share,
						"parameters", parameters_json(member),
						form_names[member->form], form_json(member),
						"limits", limits_json(member)));
	}
	return list;
}

/* Returns NULL if there is no offset. The key is then left out. */
static json_t *offset_json(const struct schema *s)
{
	json_t *text = NULL;
	struct buf out;

	if (!s->offset.nr)
		return NULL;
	buf_init(&out);
	offset_print(&s->offset, s, &out);
	if (!out.error)
		text = json_stringn((const char *)out.data, out.len);
	buf_release(&out);
	return text;
}

/* Returns NULL if the spread is unknown. The key is then left out. */
static json_t *spread_json(const struct spread *s)
{
	if (!s->nr)
		return NULL;
	return json_pack("{s:o, s:o, s:o}", "at", model_json_numbers(s->at, s->nr), "scale",
			 model_json_numbers(s->scale, s->nr), "ratios",
			 model_json_numbers(s->ratios, s->nr_rows));
}

json_t *model_json(const struct model *m)
{
	json_t *variables = json_array(), *quality;

	for (size_t v = 0; v < m->schema.nr; v++)
		json_array_append_new(variables, variable_json(&m->schema.variables[v]));
	quality = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o*}", "cv_rmse",
			    json_number(m->quality.cv_rmse), "r2", json_number(m->quality.r2),
			    "mean_relative_error", json_number(m->quality.mean_relative_error),
			    "p95_relative_error", json_number(m->quality.p95_relative_error),
			    "fold_rmse",
			    model_json_numbers(m->fold_rmse, m->fold_rmse ? m->data.nr_folds : 0),
			    "residuals",
			    model_json_numbers(m->residuals, m->residuals ? m->data.nr_rows : 0),
			    "spread", spread_json(&m->spread));
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o*, s:o, s:o, s:o, s:o, s:o, s:o*}", "schema",
			 "blkcast.model/1", "kind", "regression", "technique", m->technique->name,
			 "response", m->schema.response, "scale", m->schema.log ? "log" : "linear",
			 "offset", offset_json(&m->schema), "parameters", parameters_json(m),
			 "variables", variables, "quality", quality, "data", data_json(m),
			 form_names[m->form], form_json(m), "limits", limits_json(m));
}

static int read_numbers(double *out, const json_t *list, size_t nr)
{
	if (!json_is_array(list) || json_array_size(list) != nr)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		const json_t *v = json_array_get(list, i);

		if (!json_is_number(v))
			return -EINVAL;
		out[i] = json_number_value(v);
	}
	return 0;
}

static int read_variable(struct variable *v, const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "name"));
	const json_t *levels = json_object_get(root, "levels");
	size_t nr = json_array_size(levels);

	if (!name || nr > DATASET_LEVELS_MAX)
		return -EINVAL;
	v->name = strdup(name);
	if (!v->name)
		return -ENOMEM;
	v->factor = levels != NULL;
	if (!v->factor) {
		const json_t *low = json_object_get(root, "low");
		const json_t *high = json_object_get(root, "high");

		v->low = json_number_value(low);
		v->high = json_number_value(high);
		return json_is_number(low) && json_is_number(high) ? 0 : -EINVAL;
	}
	v->levels = calloc(nr + 1, sizeof(*v->levels));
	if (!v->levels)
		return -ENOMEM;
	for (; v->nr_levels < nr; v->nr_levels++) {
		const char *level = json_string_value(json_array_get(levels, v->nr_levels));

		if (!level)
			return -EINVAL;
		v->levels[v->nr_levels] = strdup(level);
		if (!v->levels[v->nr_levels])
			return -ENOMEM;
	}
	v->high = nr ? (double)(nr - 1) : 0;
	return nr ? 0 : -EINVAL;
}

static int read_schema(struct schema *s, const json_t *root, struct err *err)
{
	const char *response = json_string_value(json_object_get(root, "response"));
	const json_t *variables = json_object_get(root, "variables");
	size_t nr = json_array_size(variables);
	const char *scale = json_string_value(json_object_get(root, "scale"));
	const json_t *offset = json_object_get(root, "offset");
	int ret = 0;

	if (!scale || (strcmp(scale, "log") != 0 && strcmp(scale, "linear") != 0))
		return err_set(err, EINVAL, "scale: expected log or linear");
	s->log = strcmp(scale, "log") == 0;
	if (!response || !nr || nr > DATASET_VARIABLES_MAX)
		return err_set(err, EINVAL, "variables: expected 1 to %d, and a response",
			       DATASET_VARIABLES_MAX);
	s->response = strdup(response);
	s->variables = calloc(nr, sizeof(*s->variables));
	if (!s->response || !s->variables)
		return -ENOMEM;
	while (s->nr < nr) {
		ret = read_variable(&s->variables[s->nr], json_array_get(variables, s->nr));
		s->nr++;
		if (ret)
			break;
	}
	if (ret == -EINVAL)
		err_set(err, EINVAL, "variables[%zu]: expected a name with low and high, or levels",
			s->nr - 1);
	if (ret || !offset)
		return ret;
	if (!json_is_string(offset) || !s->log)
		return err_set(err, EINVAL,
			       "offset: expected a product of variables, and scale log");
	return offset_read(&s->offset, json_string_value(offset), s, err);
}

static int read_folds(struct dataset *d, const json_t *root)
{
	const json_t *fold = json_object_get(root, "fold");
	json_int_t nr = json_integer_value(json_object_get(root, "folds"));

	d->seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
	if (json_array_size(fold) == 0)
		return 0;
	if (json_array_size(fold) != d->nr_rows || nr < 2 || (uint64_t)nr > d->nr_rows)
		return -EINVAL;
	d->nr_folds = (uint32_t)nr;
	d->fold = calloc(d->nr_rows + 1, sizeof(*d->fold));
	if (!d->fold)
		return -ENOMEM;
	for (size_t i = 0; i < d->nr_rows; i++) {
		json_int_t f = json_integer_value(json_array_get(fold, i));

		if (f < 0 || f >= nr)
			return -EINVAL;
		d->fold[i] = (uint32_t)f;
	}
	return 0;
}

/*
 * Checks that every cell of a factor is the number of one of its levels, because cells are used as
 * indices later.
 */
static bool cells_valid(const struct dataset *d, const struct schema *s)
{
	for (size_t v = 0; v < s->nr; v++) {
		const struct variable *var = &s->variables[v];

		for (size_t i = 0; i < d->nr_rows && var->factor; i++) {
			double x = d->x[v * d->nr_rows + i];

			if (x < 0 || x >= (double)var->nr_levels || x != floor(x))
				return false;
		}
	}
	return true;
}

static int read_data(struct dataset *d, const json_t *root, const struct schema *s, struct err *err)
{
	const json_t *x = json_object_get(root, "x"), *weight = json_object_get(root, "weight");
	const json_t *y = json_object_get(root, "y");
	json_int_t nr = json_integer_value(json_object_get(root, "rows"));
	int ret = -EINVAL;

	/* The arrays are already in memory, so that a count beyond their length is refused. */
	if (nr >= 1 && (uint64_t)nr == json_array_size(y) && json_array_size(x) == s->nr)
		ret = dataset_alloc(d, (size_t)nr, s->nr, weight != NULL);
	if (ret)
		goto out;
	ret = read_numbers(d->y, y, d->nr_rows);
	if (ret)
		goto out;
	for (size_t v = 0; v < s->nr; v++) {
		ret = read_numbers(d->x + v * d->nr_rows, json_array_get(x, v), d->nr_rows);
		if (ret)
			goto out;
	}
	if (weight)
		ret = read_numbers(d->weight, weight, d->nr_rows);
	if (ret)
		goto out;
	for (size_t i = 0; i < d->nr_rows && weight; i++) {
		if (!(d->weight[i] > 0))
			ret = -EINVAL;
		if (ret)
			goto out;
	}
	ret = read_folds(d, root);
	if (ret)
		goto out;
	if (!cells_valid(d, s))
		ret = -EINVAL;
out:
	if (ret == -EINVAL)
		err_set(err, EINVAL, "data: its columns and counts do not fit each other");
	return ret;
}

static int read_parameters(struct model *m, const json_t *root, struct err *err)
{
	const char *name = json_string_value(json_object_get(root, "technique"));
	const json_t *list = json_object_get(root, "parameters");

	m->technique = name ? technique_find(name) : NULL;
	if (!m->technique)
		return err_set(err, EINVAL, "technique: unknown '%.40s'", name ? name : "");
	for (unsigned int i = 0; i < m->technique->nr_parameters; i++) {
		const char *key = m->technique->parameters[i].name;
		const json_t *v = json_object_get(list, key);

		if (!json_is_number(v))
			return err_set(err, EINVAL, "parameters: expected a number '%s'", key);
		m->parameters[i] = json_number_value(v);
	}
	return technique_check(m->technique, m->parameters, err);
}

static double number_or_nan(const json_t *root, const char *key)
{
	const json_t *v = json_object_get(root, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

static int read_list(double **out, const json_t *list, size_t nr)
{
	*out = calloc(nr + 1, sizeof(**out));
	return *out ? read_numbers(*out, list, nr) : -ENOMEM;
}

static int read_spread(struct model *m, const json_t *root)
{
	struct spread *s = &m->spread;
	size_t nr = json_array_size(json_object_get(root, "at"));
	int ret;

	if (!root)
		return 0;
	if (!nr || nr > SPREAD_GROUPS_MAX)
		return -EINVAL;
	ret = read_list(&s->at, json_object_get(root, "at"), nr);
	if (ret)
		return ret;
	ret = read_list(&s->scale, json_object_get(root, "scale"), nr);
	if (ret)
		return ret;
	ret = read_list(&s->ratios, json_object_get(root, "ratios"), m->data.nr_rows);
	if (ret)
		return ret;
	for (size_t k = 0; k < nr; k++)
		if (!(s->scale[k] > 0) || (k && !(s->at[k] >= s->at[k - 1])))
			return -EINVAL;
	s->nr = nr;
	s->nr_rows = m->data.nr_rows;
	stats_sort(s->ratios, s->nr_rows);
	return 0;
}

static int read_quality(struct model *m, const json_t *root, struct err *err)
{
	const json_t *folds = json_object_get(root, "fold_rmse");
	const json_t *residuals = json_object_get(root, "residuals");
	int ret = 0;

	m->quality.cv_rmse = number_or_nan(root, "cv_rmse");
	m->quality.r2 = number_or_nan(root, "r2");
	m->quality.mean_relative_error = number_or_nan(root, "mean_relative_error");
	m->quality.p95_relative_error = number_or_nan(root, "p95_relative_error");
	if (json_array_size(folds)) {
		m->fold_rmse = calloc(m->data.nr_folds + 1, sizeof(double));
		ret = m->fold_rmse ? read_numbers(m->fold_rmse, folds, m->data.nr_folds) : -ENOMEM;
	}
	if (ret)
		goto out;
	if (json_array_size(residuals)) {
		m->residuals = calloc(m->data.nr_rows + 1, sizeof(double));
		ret = m->residuals ? read_numbers(m->residuals, residuals, m->data.nr_rows)
				   : -ENOMEM;
		if (ret)
			goto out;
		stats_sort(m->residuals, m->data.nr_rows);
	}
	ret = read_spread(m, json_object_get(root, "spread"));
out:
	if (ret == -EINVAL)
		err_set(err, EINVAL, "quality: its lists do not fit the rows and folds");
	return ret;
}

/* Computes the neighbours anew from the training rows and the rules, because they are not saved. */
static int remake_neighbours(struct model *m)
{
	unsigned int k =
		m->technique == technique_find("cubist") ? (unsigned int)m->parameters[2] : 0;
	double *rows, *fitted;
	int ret = -ENOMEM;

	if (!k)
		return 0;
	rows = dataset_rows(&m->data);
	fitted = calloc(m->data.nr_rows + 1, sizeof(*fitted));
	if (rows && fitted) {
		rules_predict(&m->rules, &m->schema, rows, m->data.nr_rows, fitted);
		ret = neighbours_init(&m->neighbours, &m->schema, &m->data, k, fitted);
	}
	free(rows);
	free(fitted);
	return ret;
}

/* Returns the form of a technique's models. */
static enum model_form form_of(const struct technique *t)
{
	if (t->nr_parts)
		return MODEL_MEMBERS;
	if (t == &technique_gp)
		return MODEL_GP;
	if (t == &technique_cart)
		return MODEL_FOREST;
	return t == &technique_m5 || t == &technique_cubist ? MODEL_RULES : MODEL_TERMS;
}

static int read_terms(struct model *m, const json_t *root, const json_t *form, struct err *err)
{
	double limits[2];

	if (read_numbers(limits, json_object_get(root, "limits"), 2) || !(limits[0] <= limits[1]))
		return err_set(err, EINVAL,
			       "limits: expected the least and the largest prediction");
	m->limits = (struct limits){ limits[0], limits[1] };
	return terms_from_json(&m->terms, form, &m->schema, err);
}

static int read_members(struct model *m, const json_t *list, struct err *err);

static int read_form(struct model *m, const json_t *root, struct err *err)
{
	const json_t *form;

	m->form = form_of(m->technique);
	form = json_object_get(root, form_names[m->form]);
	if (!form)
		return err_set(err, EINVAL, "%s: missing: what a model of %s is made of",
			       form_names[m->form], m->technique->name);
	switch (m->form) {
	case MODEL_TERMS:
		return read_terms(m, root, form, err);
	case MODEL_FOREST:
		return forest_from_json(&m->forest, form, &m->schema, err);
	case MODEL_RULES:
		return rules_from_json(&m->rules, form, &m->schema, err);
	case MODEL_GP:
		return gp_from_json(&m->gp, form, &m->schema, &m->data, err);
	default:
		return read_members(m, form, err);
	}
}

static int read_member(struct model *m, const json_t *root, struct err *err)
{
	struct model *member = model_add_member(m);
	const json_t *share = json_object_get(root, "share");
	int ret;

	if (!member)
		return -ENOMEM;
	ret = read_parameters(member, root, err);
	if (ret)
		return ret;
	if (form_of(member->technique) == MODEL_MEMBERS)
		return err_set(err, EINVAL, "technique: a member of a mean cannot be '%s'",
			       member->technique->name);
	member->share = json_number_value(share);
	if (!json_is_number(share) || !(member->share > 0 && member->share <= 1))
		return err_set(err, EINVAL, "share: expected a weight above 0 and at most 1");
	ret = read_form(member, root, err);
	return ret ? ret : remake_neighbours(member);
}

/*
 * Reads the members of a mean. Only one of them may have neighbours, as in every mean that is
 * written.
 */
static int read_members(struct model *m, const json_t *list, struct err *err)
{
	size_t nr = json_array_size(list), nr_corrected = 0;

	if (!nr || nr > MEMBERS_MAX)
		return err_set(err, EINVAL, "members: expected 1 to %d models", MEMBERS_MAX);
	for (size_t i = 0; i < nr; i++) {
		int ret = read_member(m, json_array_get(list, i), err);

		if (ret && ret != -ENOMEM)
			err_prefix(err, "members[%zu]", i);
		if (ret)
			return ret;
		nr_corrected += m->members[i].neighbours.k != 0;
	}
	if (nr_corrected > 1)
		return err_set(err, EINVAL,
			       "members: expected at most one with ninstances above 0");
	return 0;
}

int model_from_json(struct model *m, const json_t *root, struct err *err)
{
	int ret;

	memset(m, 0, sizeof(*m));
	forest_init(&m->forest);
	ret = read_parameters(m, root, err);
	if (ret)
		goto out;
	ret = read_schema(&m->schema, root, err);
	if (ret)
		goto out;
	ret = read_data(&m->data, json_object_get(root, "data"), &m->schema, err);
	if (ret)
		goto out;
	ret = read_quality(m, json_object_get(root, "quality"), err);
	if (ret)
		goto out;
	ret = read_form(m, root, err);
	if (ret)
		goto out;
	ret = remake_neighbours(m);
	if (ret)
		goto out;
	ret = model_take_reach(m);
out:
	if (ret)
		model_release(m);
	return ret;
}
