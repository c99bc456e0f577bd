// SPDX-License-Identifier: Apache-2.0
/*
 * This file reads and writes a model as JSON; formats/model.md describes the format. The offsets of
 * most tables count from the model. The context of the reader is the schema of the model, which the
 * readers of the forms need.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/num/stats.h"
#include "analyzer/models/regression/model.h"
#include "analyzer/models/regression/technique.h"
#include "formats/model_file.h"

#define AT(type, member) .offset = offsetof(struct type, member)
#define IN(member)	 AT(model, member)
#define COUNTED(member)	 .count = offsetof(struct model, member), .counted = true
#define NUMBER(key, ...) FIELD(NUMBER, key, .low = -INFINITY, __VA_ARGS__)
/* A list in an array that the model owns; each member of the array has the type `each`. */
#define LIST(key, of_each, each, ...) \
	FIELD(LIST, key, .item = &of_each, .stride = sizeof(each), .owned = true, __VA_ARGS__)

/* The counts of the structs are size_t; tables know uint64_t. */
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "size_t has 64 bits");

static const struct field any_number = NUMBER(NULL);
static const struct field positive_number = FIELD(NUMBER, NULL, .above = true);
static const struct field text_item = FIELD(TEXT, NULL);
static const struct field fold_item = FIELD(COUNT, NULL, .room = sizeof(uint32_t));

/* ---- variables ---- */

static const struct field level_fields[] = {
	FIELD(TEXT, "name", AT(variable, name), .required = true),
	LIST("levels", text_item, char *, AT(variable, levels),
	     .count = offsetof(struct variable, nr_levels), .low = 1, .high = DATASET_LEVELS_MAX,
	     .required = true),
	{ 0 },
};
static const struct field range_fields[] = {
	FIELD(TEXT, "name", AT(variable, name), .required = true),
	NUMBER("low", AT(variable, low), .required = true),
	NUMBER("high", AT(variable, high), .required = true),
	{ 0 },
};
static const struct fields variable_tables[] = {
	{ .name = "variable", .fields = range_fields },
	{ .name = "factor", .fields = level_fields },
};

static int variable_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			      void *to)
{
	struct variable *v = to;
	int ret;

	(void)f;
	v->factor = json_object_get(value, "levels") != NULL;
	ret = fields_json_read(r, &variable_tables[v->factor], value, v);
	if (v->factor && !ret)
		v->high = (double)(v->nr_levels - 1);
	return ret;
}

static int variable_to_json(const struct field *f, const void *from, json_t **out)
{
	const struct variable *v = from;

	(void)f;
	return fields_json_write(&variable_tables[v->factor], v, out);
}

static const struct field variable_item =
	FIELD(ANY, NULL, .from_json = variable_from_json, .to_json = variable_to_json);

/* The offset is a text over the variables, which are read before. */
static int offset_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			    void *to)
{
	struct model *m = to;

	(void)f;
	if (!json_is_string(value) || !m->schema.log)
		return fields_json_error(r, "expected a product of variables, and scale log");
	return offset_read(&m->schema.offset, json_string_value(value), &m->schema, r->err);
}

static int offset_to_json(const struct field *f, const void *from, json_t **out)
{
	const struct model *m = from;
	struct buf text;

	(void)f;
	*out = NULL;
	if (!m->schema.offset.nr)
		return 0;
	buf_init(&text);
	offset_print(&m->schema.offset, &m->schema, &text);
	if (!text.error)
		*out = json_stringn((const char *)text.data, text.len);
	buf_release(&text);
	return *out ? 0 : -ENOMEM;
}

/* ---- data and quality ---- */

/* Describes x: one list of nr_rows numbers for each variable. column receives what each is. */
static struct field columns_field(const struct model *m, struct field *column)
{
	double nr_rows = (double)m->data.nr_rows, nr_vars = (double)m->schema.nr;

	*column = (struct field)FIELD(LIST, NULL, .item = &any_number, .stride = sizeof(double),
				      .low = nr_rows, .high = nr_rows);
	return (struct field)FIELD(LIST, NULL, .item = column, .low = nr_vars, .high = nr_vars,
				   .stride = m->data.nr_rows * sizeof(double));
}

static int columns_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			     void *to)
{
	struct model *m = to;
	struct dataset *d = &m->data;
	struct field column, columns = columns_field(m, &column);

	(void)f;
	d->nr_vars = m->schema.nr;
	/* The lists are in memory already, so that a count beyond their length is refused. */
	for (size_t v = 0; v < d->nr_vars; v++)
		if (json_array_size(json_array_get(value, v)) != d->nr_rows)
			return fields_json_error(
				r, "expected a list of as many numbers as rows, for each variable");
	d->x = reallocarray(NULL, d->nr_rows * d->nr_vars + 1, sizeof(*d->x));
	return d->x ? fields_json_read_value(r, &columns, value, d->x) : -ENOMEM;
}

static int columns_to_json(const struct field *f, const void *from, json_t **out)
{
	const struct model *m = from;
	struct field column, columns = columns_field(m, &column);

	(void)f;
	return fields_json_write_value(&columns, m->data.x, out);
}

/*
 * Checks the folds, and that every cell of a factor is the number of one of its levels, because
 * both are used as indices later.
 */
static const char *data_check(const void *from)
{
	const struct model *m = from;
	const struct dataset *d = &m->data;

	if (d->fold ? d->nr_folds < 2 || d->nr_folds > d->nr_rows : d->nr_folds > 0)
		return "folds: expected 2 to the number of rows, and a fold of each row; or 0";
	for (size_t i = 0; i < d->nr_rows && d->fold; i++)
		if (d->fold[i] >= d->nr_folds)
			return "fold: expected numbers from 0 to one less than folds";
	for (size_t i = 0; i < d->nr_rows * d->nr_vars; i++) {
		const struct variable *v = &m->schema.variables[i / d->nr_rows];

		if (v->factor &&
		    !(d->x[i] >= 0 && d->x[i] < (double)v->nr_levels && d->x[i] == floor(d->x[i])))
			return "x: expected numbers of levels for a factor";
	}
	return NULL;
}

static const struct field data_fields[] = {
	FIELD(COUNT, "rows", IN(data.nr_rows), .low = 1, .high = DATASET_ROWS_MAX,
	      .required = true),
	FIELD(ANY, "x", .from_json = columns_from_json, .to_json = columns_to_json,
	      .required = true),
	LIST("y", any_number, double, IN(data.y), COUNTED(data.nr_rows), .low = 1,
	     .required = true),
	LIST("fold", fold_item, uint32_t, IN(data.fold), COUNTED(data.nr_rows)),
	FIELD(COUNT, "folds", IN(data.nr_folds)),
	/* A seed above the largest signed number is written as a negative one. */
	FIELD(COUNT, "seed", IN(data.seed), .low = -INFINITY),
	LIST("weight", positive_number, double, IN(data.weight), COUNTED(data.nr_rows), .low = 1),
	{ 0 },
};
static const struct fields data_table = { .fields = data_fields, .check = data_check };

static bool spread_written(const void *from)
{
	return ((const struct model *)from)->spread.nr > 0;
}

static const char *spread_check(const void *from)
{
	const struct model *m = from;

	for (size_t k = 1; k < m->spread.nr; k++)
		if (!(m->spread.at[k] >= m->spread.at[k - 1]))
			return "at: expected ascending numbers";
	return m->spread.nr_rows == m->data.nr_rows ? NULL : "ratios: expected one for each row";
}

static const struct field spread_fields[] = {
	LIST("at", any_number, double, IN(spread.at), .count = offsetof(struct model, spread.nr),
	     .low = 1, .high = SPREAD_GROUPS_MAX, .required = true),
	LIST("scale", positive_number, double, IN(spread.scale), COUNTED(spread.nr), .low = 1,
	     .required = true),
	LIST("ratios", any_number, double, IN(spread.ratios),
	     .count = offsetof(struct model, spread.nr_rows), .low = 1, .required = true),
	{ 0 },
};
static const struct fields spread_table = { .fields = spread_fields,
					    .check = spread_check,
					    .written = spread_written };

static const struct field quality_fields[] = {
	NUMBER("cv_rmse", IN(quality.cv_rmse), .null = NAN),
	NUMBER("r2", IN(quality.r2), .null = NAN),
	NUMBER("mean_relative_error", IN(quality.mean_relative_error), .null = NAN),
	NUMBER("p95_relative_error", IN(quality.p95_relative_error), .null = NAN),
	LIST("fold_rmse", any_number, double, IN(fold_rmse), COUNTED(data.nr_folds)),
	LIST("residuals", any_number, double, IN(residuals), COUNTED(data.nr_rows)),
	FIELD(STRUCT, "spread", .of = &spread_table),
	{ 0 },
};
static const struct fields quality_table = { .fields = quality_fields };

/* ---- technique and form ---- */

static int technique_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			       void *to)
{
	struct model *m = to;
	const char *name = json_string_value(value);

	(void)f;
	m->technique = name ? technique_find(name) : NULL;
	if (!m->technique)
		return fields_json_error(r, "unknown '%.40s'", name ? name : "");
	if (m->technique->nr_parts)
		m->form = MODEL_MEMBERS;
	else if (m->technique == &technique_gp)
		m->form = MODEL_GP;
	else if (m->technique == &technique_cart)
		m->form = MODEL_FOREST;
	else if (m->technique == &technique_m5 || m->technique == &technique_cubist)
		m->form = MODEL_RULES;
	return 0;
}

static int technique_to_json(const struct field *f, const void *from, json_t **out)
{
	(void)f;
	*out = json_string(((const struct model *)from)->technique->name);
	return *out ? 0 : -ENOMEM;
}

/* Makes a table of the parameters of a technique, which are the first members of parameters. */
static struct fields parameters_table(const struct technique *t,
				      struct field fields[PARAMETERS_MAX + 1])
{
	unsigned int i;

	for (i = 0; i < t->nr_parameters; i++)
		fields[i] = (struct field)NUMBER(t->parameters[i].name,
						 .offset = i * sizeof(double), .required = true);
	fields[i] = (struct field){ 0 };
	return (struct fields){ .fields = fields };
}

static int parameters_from_json(struct fields_json *r, const struct field *f, const json_t *value,
				void *to)
{
	struct field fields[PARAMETERS_MAX + 1];
	struct model *m = to;
	struct fields table = parameters_table(m->technique, fields);
	int ret = fields_json_read(r, &table, value, m->parameters);

	(void)f;
	return ret ? ret : technique_check(m->technique, m->parameters, r->err);
}

static int parameters_to_json(const struct field *f, const void *from, json_t **out)
{
	struct field fields[PARAMETERS_MAX + 1];
	const struct model *m = from;
	struct fields table = parameters_table(m->technique, fields);

	(void)f;
	return fields_json_write(&table, m->parameters, out);
}

static const char *const form_names[] = {
	[MODEL_TERMS] = "terms", [MODEL_FOREST] = "forest",   [MODEL_RULES] = "rules",
	[MODEL_GP] = "gp",	 [MODEL_MEMBERS] = "members",
};
static const struct field members_list;

/* Reads the key of the model's form; those of other forms are ignored, as unknown keys are. */
static int form_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			  void *to)
{
	struct model *m = to;

	if (strcmp(f->name, form_names[m->form]) != 0)
		return 0;
	switch (m->form) {
	case MODEL_TERMS:
		return terms_from_json(&m->terms, r, value);
	case MODEL_FOREST:
		return forest_from_json(&m->forest, r, value);
	case MODEL_RULES:
		return rules_from_json(&m->rules, r, value);
	case MODEL_GP:
		return gp_from_json(&m->gp, r, value, &m->data);
	default:
		return fields_json_read_value(r, &members_list, value, m);
	}
}

static int form_to_json(const struct field *f, const void *from, json_t **out)
{
	const struct model *m = from;

	*out = NULL;
	if (strcmp(f->name, form_names[m->form]) != 0)
		return 0;
	switch (m->form) {
	case MODEL_TERMS:
		return terms_json(&m->terms, out);
	case MODEL_FOREST:
		return forest_json(&m->forest, &m->schema, out);
	case MODEL_RULES:
		return rules_json(&m->rules, &m->schema, out);
	case MODEL_GP:
		return gp_json(&m->gp, out);
	default:
		return fields_json_write_value(&members_list, m, out);
	}
}

static const struct field limits_bounds[] = {
	NUMBER(NULL, IN(limits.low)),
	NUMBER(NULL, IN(limits.high)),
	{ 0 },
};
static const struct field limits_item = FIELD(TUPLE, NULL, .item = limits_bounds);

/* Only sums of terms have limits. */
static int limits_to_json(const struct field *f, const void *from, json_t **out)
{
	(void)f;
	*out = NULL;
	if (((const struct model *)from)->form != MODEL_TERMS)
		return 0;
	return fields_json_write_value(&limits_item, from, out);
}

#define TECHNIQUE                                                                               \
	FIELD(ANY, "technique", .from_json = technique_from_json, .to_json = technique_to_json, \
	      .required = true)
#define PARAMETERS                                                                                 \
	FIELD(ANY, "parameters", .from_json = parameters_from_json, .to_json = parameters_to_json, \
	      .required = true)
#define FORM(key) \
	FIELD(ANY, key, .late = true, .from_json = form_from_json, .to_json = form_to_json)
#define FORMS  FORM("terms"), FORM("forest"), FORM("rules"), FORM("gp")
#define LIMITS FIELD_AS(&limits_item, "limits", .to_json = limits_to_json)

static const struct field member_fields[] = {
	TECHNIQUE,  FIELD(NUMBER, "share", IN(share), .above = true, .high = 1, .required = true),
	PARAMETERS, FORMS,
	LIMITS,	    { 0 },
};
static const struct fields member_table = { .name = "member", .fields = member_fields };

/* Computes the neighbours anew from the training rows and the rules, because they are not saved. */
static int model_remake_neighbours(struct model *m)
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

/* Reads a model or a member of one, and checks that the form of its technique was there. */
static int model_read(struct fields_json *r, const struct fields *t, const json_t *value,
		      struct model *m)
{
	int ret;

	m->limits = (struct limits){ NAN, NAN };
	ret = fields_json_read(r, t, value, m);
	if (ret)
		return ret;
	if (t == &member_table && m->form == MODEL_MEMBERS)
		return fields_json_error(r, "technique: a member of a mean cannot be '%s'",
					 m->technique->name);
	if (!model_size(m))
		return fields_json_error(r, "%s: missing: what a model of %s is made of",
					 form_names[m->form], m->technique->name);
	if (m->form == MODEL_TERMS && !(m->limits.low <= m->limits.high))
		return fields_json_error(r,
					 "limits: expected the least and the largest prediction");
	return model_remake_neighbours(m);
}

static int member_from_json(struct fields_json *r, const struct field *f, const json_t *value,
			    void *to)
{
	const struct model *whole = (void *)((char *)r->context - offsetof(struct model, schema));
	struct model *member = to;

	(void)f;
	*member = (struct model){ .schema = whole->schema, .data = whole->data };
	return model_read(r, &member_table, value, member);
}

static const struct field member_item =
	FIELD(STRUCT, NULL, .of = &member_table, .from_json = member_from_json);
static const struct field members_list =
	LIST(NULL, member_item, struct model, IN(members),
	     .count = offsetof(struct model, nr_members), .low = 1, .high = MEMBERS_MAX);

static const char *const model_kinds[] = { "regression", NULL };
static const char *const scale_names[] = { "linear", "log", NULL };
static const struct field model_fields[] = {
	MODEL_FILE_FIELDS(model_kinds),
	TECHNIQUE,
	FIELD(TEXT, "response", IN(schema.response), .required = true),
	FIELD(WORD, "scale", IN(schema.log), .words = scale_names, .room = sizeof(bool),
	      .required = true),
	FIELD(ANY, "offset", .late = true, .from_json = offset_from_json,
	      .to_json = offset_to_json),
	PARAMETERS,
	LIST("variables", variable_item, struct variable, IN(schema.variables),
	     .count = offsetof(struct model, schema.nr), .low = 1, .high = DATASET_VARIABLES_MAX,
	     .required = true),
	FIELD(STRUCT, "quality", .of = &quality_table, .late = true),
	FIELD(STRUCT, "data", .of = &data_table, .required = true),
	FORMS,
	FORM("members"),
	LIMITS,
	{ 0 },
};
static const struct fields model_table = { .name = "regression", .fields = model_fields };

int model_json(const struct model *m, json_t **root, struct err *err)
{
	return fields_json_make(&model_table, m, root, err);
}

int model_from_json(struct model *m, const json_t *root, struct err *err)
{
	struct fields_json r = { .err = err, .context = &m->schema };
	size_t nr_corrected = 0;
	int ret;

	*m = (struct model){ .quality = { NAN, NAN, NAN, NAN } };
	forest_init(&m->forest);
	ret = model_read(&r, &model_table, root, m);
	if (ret)
		goto out;
	/* Only one member may have neighbours, as in every mean that is written. */
	for (size_t i = 0; i < m->nr_members; i++)
		nr_corrected += m->members[i].neighbours.k != 0;
	if (nr_corrected > 1) {
		ret = err_set(err, EINVAL, "members: expected at most one with ninstances above 0");
		goto out;
	}
	stats_sort(m->residuals, m->residuals ? m->data.nr_rows : 0);
	stats_sort(m->spread.ratios, m->spread.nr_rows);
	ret = model_take_reach(m);
out:
	if (ret)
		model_release(m);
	return ret;
}
