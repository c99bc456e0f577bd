// SPDX-License-Identifier: Apache-2.0
#include "analyzer/learn/predict_ask.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/rows_output.h"
#include "analyzer/measure/results_table.h"
#include "analyzer/measure/table_told.h"
#include "analyzer/report/page/model_page.h"
#include "analyzer/whatif/predict/origins.h"
#include "base/text/units.h"
#include "formats/model_file.h"

static int predict_ask_load(struct predict_ask *p, const char *path)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(path, &root, &kind, &p->err);

	if (ret)
		return ret;
	p->is_storage = !strcmp(kind, "qpn");
	if (!p->is_storage && strcmp(kind, "regression") != 0) {
		ret = err_set(&p->err, EINVAL,
			      "%s: kind: expected 'regression' or 'qpn', got '%.40s'", path, kind);
		goto out;
	}
	ret = p->is_storage ? storage_model_from_json(&p->storage, root, &p->err)
			    : model_from_json(&p->model, root, &p->err);
	if (ret)
		err_prefix(&p->err, "%s", path);
out:
	json_decref(root);
	return ret;
}

static struct reach_finding predict_ask_look(const struct predict_ask *p, size_t row)
{
	return model_look(&p->model, p->rows.rows + row * p->model.schema.nr);
}

static int predict_ask_check_ranges(struct predict_ask *p)
{
	size_t nr_outside = 0, nr_far = 0;

	for (size_t i = 0; i < p->table.nr_rows; i++) {
		struct reach_finding found = predict_ask_look(p, i);
		char why[512];

		if (found.verdict == REACH_INSIDE)
			continue;
		reach_explain(&found, why, sizeof(why));
		if (p->strict)
			return err_set(&p->err, ERANGE, "%s: row %zu: %s", p->table.source, i + 1,
				       why);
		*(found.verdict == REACH_RANGE ? &nr_outside : &nr_far) += 1;
	}
	if (nr_outside)
		teller_note(p->teller,
			    "%zu of %zu rows lie outside the training range: extrapolated",
			    nr_outside, p->table.nr_rows);
	if (nr_far)
		teller_note(p->teller,
			    "%zu of %zu rows lie in a gap that the training rows leave: their "
			    "intervals may be too narrow",
			    nr_far, p->table.nr_rows);
	return 0;
}

static int predict_ask_evaluate(struct predict_ask *p)
{
	int ret = predict_rows(&p->rows, &p->model, &p->table, &p->err);

	return ret ? ret : predict_ask_check_ranges(p);
}

/*
 * An interval that the user asked for and that cannot be given is an error; for the default
 * interval a note is enough.
 */
static int predict_ask_check_interval(struct predict_ask *p)
{
	size_t nr = p->model.residuals ? p->model.data.nr_rows : 0;

	if (isfinite(model_half_width(&p->model, p->level)))
		return 0;
	if (p->level_asked)
		return err_set(&p->err, EINVAL,
			       "interval of %g: the model knows the errors of %zu rows it was not "
			       "fitted to; expected a lower level, or a model of more rows",
			       p->level, nr);
	teller_note(
		p->teller,
		"no interval: the model knows the errors of %zu rows it was not fitted to, too few "
		"for one of %g %%",
		nr, 100 * p->level);
	return 0;
}

static int predict_ask_print(const struct predict_ask *p)
{
	static const char *const names[] = { "predicted", "lower", "upper" };
	const size_t nr_rows = p->table.nr_rows;
	const size_t nr = isfinite(model_half_width(&p->model, p->level)) ? 3 : 1;
	double *values = calloc(3 * nr_rows + 1, sizeof(*values));
	bool *outside = calloc(nr_rows + 1, sizeof(*outside));
	int ret = -ENOMEM;

	if (!values || !outside)
		goto out;
	for (size_t i = 0; i < nr_rows; i++) {
		double row[3] = { p->rows.predicted[i] };

		model_interval(&p->model, p->level, p->rows.rows + i * p->model.schema.nr, row[0],
			       &row[1], &row[2]);
		memcpy(values + i * nr, row, nr * sizeof(*values));
		outside[i] = predict_ask_look(p, i).verdict != REACH_INSIDE;
	}
	ret = rows_output_print(&(struct rows_output){
		.table = &p->table,
		.names = names,
		.nr_names = nr,
		.values = values,
		.outside = outside,
		.digits = p->for_person ? 6 : 17, /* a person reads the first digits */
		.json = p->json,
		.out = p->out });
out:
	free(values);
	free(outside);
	return ret;
}

static int predict_ask_model_text(struct predict_ask *p)
{
	if (p->c)
		return model_export_c(&p->model, "predict", &p->text);
	model_print(&p->model, &p->text);
	return p->text.error;
}

/*
 * Compares predictions with the table's own column of the response, and with another
 * model.
 */
static int predict_ask_check(struct predict_ask *p)
{
	struct predict_ask other = { 0 };
	struct predict_check ask = { .model = &p->model,
				     .other = p->against ? &other.model : NULL,
				     .level = p->level,
				     .by = p->by };
	bool told = true;
	int ret = p->against ? predict_ask_load(&other, p->against) : 0;

	if (!ret && other.is_storage)
		ret = err_set(&other.err, EINVAL, "%s: expected a regression model", p->against);
	if (ret) {
		p->err = other.err;
		goto out;
	}
	if (p->against && strcmp(other.model.schema.response, p->model.schema.response)) {
		ret = err_set(&p->err, EINVAL, "%s: a model of '%s', expected one of '%s'",
			      p->against, other.model.schema.response, p->model.schema.response);
		goto out;
	}
	ret = predict_check(&p->answer, &ask, &p->rows, &p->table, &told, &p->err);
out:
	p->cannot_tell = !told;
	model_release(&other.model);
	storage_model_release(&other.storage);
	return ret;
}

static const struct variable *predict_ask_find_variable(const struct schema *s, const char *name,
							size_t len)
{
	for (size_t v = 0; v < s->nr; v++)
		if (strlen(s->variables[v].name) == len &&
		    strncmp(s->variables[v].name, name, len) == 0)
			return &s->variables[v];
	return NULL;
}

static int predict_ask_unknown_variable(struct predict_ask *p, const char *item, size_t len)
{
	const struct schema *s = &p->model.schema;
	const char *names[DATASET_VARIABLES_MAX], *near;
	char name[256];

	snprintf(name, sizeof(name), "%.*s", (int)len, item);
	for (size_t v = 0; v < s->nr; v++)
		names[v] = s->variables[v].name;
	near = word_list_within(name, names, s->nr, (strlen(name) + 2) / 3);
	if (near)
		return err_set(&p->err, EINVAL,
			       "%s: the model has no such variable; did you mean %s?", name, near);
	return err_set(&p->err, EINVAL,
		       "%s: the model has no such variable; its text names those it has", name);
}

/*
 * Converts "32k" to 32768 and "10ms" to 0.01, as everywhere on the command line. Variables whose
 * names end in a unit are left alone, because such a number would have another meaning there.
 */
static int predict_ask_plain_value(struct predict_ask *p, size_t i, const char *value, size_t len)
{
	const char *item = p->set.items[i], *unit = memrchr(item, '_', len);
	bool own_unit = false;
	uint64_t parsed;
	double number;
	char *end;

	strtod(value, &end);
	if (end != value && !*end)
		return 0;
	for (size_t k = 0; unit && k < 10; k++) {
		static const char *const units[] = { "_kb",  "_kib", "_mb", "_mib", "_gb",
						     "_gib", "_ms",  "_us", "_ns",  "_min" };

		own_unit |= strlen(units[k]) == len - (size_t)(unit - item) &&
			    strncasecmp(unit, units[k], strlen(units[k])) == 0;
	}
	if (own_unit)
		return err_set(&p->err, EINVAL,
			       "%s: expected a plain number, in the unit that the column's "
			       "name says",
			       item);
	if (!units_parse_bytes(value, &parsed, NULL))
		number = (double)parsed;
	else if (!units_parse_time(value, &parsed, NULL))
		number = (double)parsed / 1e9;
	else
		return err_set(&p->err, EINVAL,
			       "%s: expected a number, a size as 32k or a time as 10ms", item);
	if (asprintf(&p->texts[i], "%.*s=%.17g", (int)len, item, number) < 0) {
		p->texts[i] = NULL;
		return -ENOMEM;
	}
	p->set.items[i] = p->texts[i];
	return 0;
}

/* Checks that every setting names a variable of the model. */
static int predict_ask_check_set(struct predict_ask *p)
{
	int ret = 0;

	for (size_t i = 0; i < p->set.nr && !ret; i++) {
		const char *item = p->set.items[i], *equals = strchr(item, '=');
		const struct variable *v;

		if (!equals)
			continue; /* table_of_settings() reports what is wrong */
		v = predict_ask_find_variable(&p->model.schema, item, (size_t)(equals - item));
		if (!v)
			ret = predict_ask_unknown_variable(p, item, (size_t)(equals - item));
		else if (!v->factor)
			ret = predict_ask_plain_value(p, i, equals + 1, (size_t)(equals - item));
	}
	return ret;
}

/* Reads the rows to predict: from a measurement store, a table, or the settings of the one row. */
static int predict_ask_read_rows(struct predict_ask *p, const char *path, struct table *out)
{
	if (p->db)
		return results_table(out, p->db, p->campaign,
				     p->check ? p->model.schema.response : NULL, NULL, NULL,
				     &p->err);
	return path ? table_read_told(out, path, p->teller, &p->err)
		    : table_of_settings(out, "settings", &p->set, &p->err);
}

/* Predicts by a storage model, which is simulated; its intervals are those of the simulation. */
static int predict_ask_storage(struct predict_ask *p, const char *table)
{
	struct storage_rows *rows = &p->rows_of_storage;
	struct storage_ask ask = STORAGE_ASK_DEFAULTS;
	int ret;

	if (p->show || p->c || p->report || p->check)
		return err_set(
			&p->err, EINVAL,
			"a storage model is a net, which has no formula, page or check: blkcast qpn "
			"predict prints the net");
	ret = predict_ask_read_rows(p, table, &rows->table);
	if (ret)
		return ret;
	ret = storage_table_make(&rows->storage, &rows->table, NULL, 0, &p->err);
	if (ret)
		return ret;
	ret = storage_rows_predict(rows, &p->storage, &ask, &p->err);
	if (ret)
		return ret;
	ret = storage_rows_check(rows, p->teller, p->strict, &p->err);
	if (ret)
		return ret;
	return storage_rows_print(rows, false, p->json, p->out);
}

int predict_ask(struct predict_ask *p, const char *model, const char *table)
{
	int ret = predict_ask_load(p, model);

	if (ret)
		return ret;
	if (p->is_storage)
		return predict_ask_storage(p, table);
	if (p->report)
		ret = origins_model(p->teller->maker.origins, model, &p->err);
	if (ret)
		return ret;
	if (p->report)
		return model_page_save(&p->model, p->report, &p->teller->maker, &p->err);
	if (p->show || p->c)
		return predict_ask_model_text(p);
	ret = predict_ask_check_set(p);
	if (!ret && !p->check)
		ret = predict_ask_check_interval(p);
	if (!ret)
		ret = predict_ask_read_rows(p, table, &p->table);
	if (!ret)
		ret = predict_ask_evaluate(p);
	if (ret)
		return ret;
	if (p->check)
		return predict_ask_check(p);
	return predict_ask_print(p);
}

void predict_ask_release(struct predict_ask *p)
{
	for (size_t i = 0; i < WORD_LIST_MAX; i++)
		free(p->texts[i]);
	buf_release(&p->text);
	predict_rows_release(&p->rows);
	table_release(&p->table);
	model_release(&p->model);
	storage_rows_release(&p->rows_of_storage);
	storage_model_release(&p->storage);
}
