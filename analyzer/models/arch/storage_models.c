// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/storage_models.h"
#include "analyzer/models/regression/model.h"
#include "formats/model_file.h"

#define MAX_COLUMNS 64

/* Numbers of the names, which have this order in the list of each model. */
enum input {
	IN_REQUESTS,
	IN_TYPE,
	IN_SIZE,
	IN_READ_SIZE,
	IN_WRITE_SIZE,
	IN_PATTERN,
	IN_READ_PATTERN,
	IN_WRITE_PATTERN,
	IN_READ_SHARE,
	IN_FILE_SET,
	NR_INPUTS,
	TEXT_READ = NR_INPUTS,
	TEXT_WRITE,
	TEXT_SEQUENTIAL,
	TEXT_RANDOM,
	NR_NAMES,
};

static const char *const names[NR_NAMES] = {
	"requests", "type",	    "size",	     "read_size",  "write_size",
	"pattern",  "read_pattern", "write_pattern", "read_share", "file_set",
	"read",	    "write",	    "sequential",    "random",
};

struct column {
	struct stoex *e;
	enum input direct; /* set if the expression is this input alone; otherwise NR_INPUTS */
};

/* This struct is the regression or formula that predicts requests of one type. */
struct answer {
	bool present;
	struct stoex *formula; /* NULL means the regression */
	struct model model;
	struct column columns[MAX_COLUMNS];
};

struct fitted {
	struct arch_storage_model model;
	struct stoex_names names;
	double unit_s;
	struct answer answers[2]; /* reads, writes */
};

static struct stoex_value storage_models_number(double v)
{
	return (struct stoex_value){ .type = STOEX_DOUBLE, .d = v };
}

static struct stoex_value storage_models_text(uint32_t v)
{
	return (struct stoex_value){ .type = STOEX_TEXT, .text = v };
}

static struct stoex_value value_of(const struct arch_storage_input *x, uint32_t name)
{
	bool sequential = x->read ? x->read_sequential : x->write_sequential;

	switch (name) {
	case IN_REQUESTS:
		return storage_models_number(x->in_service);
	case IN_TYPE:
		return storage_models_text(x->read ? TEXT_READ : TEXT_WRITE);
	case IN_SIZE:
		return storage_models_number(x->read ? x->read_size : x->write_size);
	case IN_READ_SIZE:
		return storage_models_number(x->read_size);
	case IN_WRITE_SIZE:
		return storage_models_number(x->write_size);
	case IN_PATTERN:
		return storage_models_text(sequential ? TEXT_SEQUENTIAL : TEXT_RANDOM);
	case IN_READ_PATTERN:
		return storage_models_text(x->read_sequential ? TEXT_SEQUENTIAL : TEXT_RANDOM);
	case IN_WRITE_PATTERN:
		return storage_models_text(x->write_sequential ? TEXT_SEQUENTIAL : TEXT_RANDOM);
	case IN_READ_SHARE:
		return storage_models_number(x->read_share);
	default:
		return storage_models_number(x->file_set);
	}
}

static int storage_models_get(void *ctx, uint32_t name, struct stoex_value *v, struct err *err)
{
	(void)err;
	if (name >= NR_INPUTS)
		return -ENOENT;
	*v = value_of(ctx, name);
	return 0;
}

static int storage_models_evaluate(const struct stoex *e, const struct arch_storage_input *x,
				   struct stoex_value *v, struct err *err)
{
	struct arch_storage_input copy = *x;
	struct stoex_scope scope = { .get = storage_models_get, .ctx = &copy };

	return stoex_eval(e, &scope, v, err);
}

/* Converts a value to a cell of a variable; NaN if this is impossible. */
static double storage_models_cell(const struct fitted *f, const struct variable *v,
				  struct stoex_value x)
{
	char digits[32];
	double number = x.type == STOEX_INT ? (double)x.i : x.type == STOEX_DOUBLE ? x.d : NAN;
	long level;

	if (!v->factor)
		return number;
	snprintf(digits, sizeof(digits), "%.15g", number);
	level = variable_level(v, x.type == STOEX_TEXT ? f->names.items[x.text] : digits);
	return level < 0 ? NAN : (double)level;
}

static double storage_models_regression(const struct fitted *f, const struct answer *a,
					const struct arch_storage_input *x, bool *outside)
{
	double row[MAX_COLUMNS], out = NAN;
	struct stoex_value v = storage_models_number(NAN);

	for (size_t i = 0; i < a->model.schema.nr; i++) {
		const struct variable *variable = &a->model.schema.variables[i];

		if (a->columns[i].direct != NR_INPUTS)
			v = value_of(x, a->columns[i].direct);
		else if (storage_models_evaluate(a->columns[i].e, x, &v, NULL))
			v = storage_models_number(NAN);
		row[i] = storage_models_cell(f, variable, v);
		if (!variable_outside(variable, row[i]))
			continue;
		*outside = true;
		/*
		 * An unknown level is replaced by the first level, and a value that is no number
		 * by the least number.
		 */
		if (isnan(row[i]))
			row[i] = variable->factor ? 0 : variable->low;
	}
	return model_predict(&a->model, row, 1, &out) ? NAN : out * f->unit_s;
}

static double storage_models_respond(const struct arch_storage_model *m,
				     const struct arch_storage_input *x, bool *outside)
{
	const struct fitted *f = (const struct fitted *)m;
	const struct answer *a = &f->answers[!x->read];
	struct stoex_value v;

	if (!a->formula)
		return storage_models_regression(f, a, x, outside);
	if (storage_models_evaluate(a->formula, x, &v, NULL))
		return NAN;
	return v.type == STOEX_INT ? (double)v.i : v.type == STOEX_DOUBLE ? v.d : NAN;
}

static bool storage_models_answers(const struct arch_storage_model *m, bool read)
{
	return ((const struct fitted *)m)->answers[!read].present;
}

static void fitted_free(struct arch_storage_model *m)
{
	struct fitted *f = (struct fitted *)m;

	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < MAX_COLUMNS; i++)
			stoex_free(f->answers[k].columns[i].e);
		stoex_free(f->answers[k].formula);
		model_release(&f->answers[k].model);
	}
	stoex_names_release(&f->names);
	free(f);
}

/*
 * Parses an expression and evaluates it for example inputs, so that wrong types are found at once.
 */
static int storage_models_parse(struct fitted *f, const char *what, const char *expression,
				struct stoex **out, struct stoex_value *sample, struct err *err)
{
	static const struct arch_storage_input some = { .in_service = 2,
							.read = true,
							.read_size = 4096,
							.write_size = 4096,
							.read_share = 0.5,
							.file_set = 0x1p30 };
	const uint32_t *variables;
	struct err why = { 0 };
	int ret = stoex_parse(out, expression, STOEX_BLKCAST, &f->names, &why);

	if (ret)
		return err_set(err, -ret, "%s: %s", what, why.line);
	for (size_t i = stoex_variables(*out, &variables); i-- > 0;)
		if (variables[i] >= NR_INPUTS)
			return err_set(err, EINVAL,
				       "%s: \"%.100s\": \"%s\" is no input: expected requests, "
				       "type, size, read_size, write_size, pattern, read_pattern, "
				       "write_pattern, read_share or file_set",
				       what, expression, f->names.items[variables[i]]);
	if (stoex_is_random(*out))
		return err_set(err, EINVAL, "%s: \"%.100s\": expected no distribution", what,
			       expression);
	ret = storage_models_evaluate(*out, &some, sample, &why);
	return ret ? err_set(err, EINVAL, "%s: %s", what, why.line) : 0;
}

static const char *expression_of(const struct storage_model_spec *spec, const char *column)
{
	for (size_t i = 0; i < spec->nr_columns; i++)
		if (!strcmp(spec->columns[i].name, column))
			return spec->columns[i].expression;
	for (int i = 0; i < NR_INPUTS; i++)
		if (!strcmp(names[i], column))
			return column;
	return NULL;
}

static int open_column(struct fitted *f, struct answer *a, const struct storage_model_spec *spec,
		       size_t i, struct err *err)
{
	const struct variable *v = &a->model.schema.variables[i];
	const char *expression = expression_of(spec, v->name);
	struct column *c = &a->columns[i];
	struct stoex_value sample;
	int ret;

	if (!expression)
		return err_set(err, EINVAL,
			       "column '%s': no input of that name: expected what it is under "
			       "\"inputs\"",
			       v->name);
	ret = storage_models_parse(f, v->name, expression, &c->e, &sample, err);
	if (ret)
		return ret;
	if (!v->factor && sample.type > STOEX_DOUBLE)
		return err_set(err, EINVAL, "column '%s' is a number, \"%.60s\" is none", v->name,
			       expression);
	for (c->direct = 0; c->direct < NR_INPUTS; c->direct++)
		if (!strcmp(names[c->direct], expression))
			break;
	return 0;
}

static int open_regression(struct fitted *f, struct answer *a,
			   const struct storage_model_spec *spec, const char *path, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(path, &root, &kind, err);

	if (ret)
		return ret;
	if (strcmp(kind, "regression")) {
		ret = err_set(err, EINVAL, "%s: kind: expected 'regression', got '%.40s'", path,
			      kind);
	} else {
		ret = model_from_json(&a->model, root, err);
		if (ret)
			err_prefix(err, "%s", path);
	}
	json_decref(root);
	if (ret)
		return ret;
	if (a->model.schema.nr > MAX_COLUMNS)
		ret = err_set(err, EINVAL, "%s: more than %d columns", path, MAX_COLUMNS);
	if (ret)
		return ret;
	for (size_t i = 0; i < a->model.schema.nr; i++) {
		ret = open_column(f, a, spec, i, err);
		if (ret)
			err_prefix(err, "%s", path);
		if (ret)
			return ret;
	}
	return 0;
}

static int open_answer(struct fitted *f, struct answer *a, const struct storage_model_spec *spec,
		       bool read, struct err *err)
{
	const char *what = read ? spec->read : spec->write;
	struct stoex_value sample;
	int ret;

	a->present = what;
	if (!what)
		return 0;
	if (!spec->formula)
		return open_regression(f, a, spec, what, err);
	ret = storage_models_parse(f, read ? "read" : "write", what, &a->formula, &sample, err);
	if (ret)
		return ret;
	if (sample.type > STOEX_DOUBLE)
		ret = err_set(err, EINVAL, "\"%.100s\": expected a time in seconds", what);
	return ret;
}

static int open_names(struct fitted *f, const struct storage_model_spec *spec)
{
	for (uint32_t i = 0; i < NR_NAMES; i++)
		if (stoex_name(&f->names, names[i], strlen(names[i])) != i)
			return -ENOMEM;
	for (uint32_t i = 0; spec->names && i < spec->names->nr; i++)
		if (spec->names->bound[i] &&
		    stoex_bind(&f->names, spec->names->items[i], spec->names->bound[i]))
			return -ENOMEM;
	return 0;
}

int storage_model_open(struct arch_storage_model **out, const struct storage_model_spec *spec,
		       struct err *err)
{
	struct fitted *f = calloc(1, sizeof(*f));
	int ret;

	if (!f)
		return err_set(err, ENOMEM, "out of memory");
	f->model = (struct arch_storage_model){ storage_models_respond, fitted_free,
						storage_models_answers };
	f->unit_s = spec->unit_s;
	ret = open_names(f, spec) ? err_set(err, ENOMEM, "out of memory") : 0;
	if (ret)
		goto out;
	for (int k = 0; k < 2; k++) {
		ret = open_answer(f, &f->answers[k], spec, !k, err);
		if (ret)
			goto out;
	}
out:
	if (ret)
		fitted_free(&f->model);
	else
		*out = &f->model;
	return ret;
}
