// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/table_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/show.h"
#include "base/data/json.h"

int set_table(struct table *t, const struct word_list *set, struct err *err)
{
	struct buf text;
	int ret;

	buf_init(&text);
	for (int line = 0; line < 2; line++) {
		for (size_t i = 0; i < set->nr; i++) {
			const char *item = set->items[i], *equals = strchr(item, '=');
			char name[256];

			if (!equals || (size_t)(equals - item) >= sizeof(name)) {
				buf_release(&text);
				return err_set(err, EINVAL,
					       "--set: expected NAME=VALUE, got '%.80s'", item);
			}
			snprintf(name, sizeof(name), "%.*s", (int)(equals - item), item);
			if (i)
				buf_put_u8(&text, ',');
			table_put_cell(&text, line ? equals + 1 : name);
		}
		buf_put_u8(&text, '\n');
	}
	ret = text.error ? text.error
			 : table_parse(t, "--set", (const char *)text.data, text.len, err);
	buf_release(&text);
	return ret;
}

int table_read_said(struct table *t, const char *path, const struct cli *cli, struct err *err)
{
	int ret = table_read(t, path, err);

	if (ret)
		return ret;
	if (t->separator != ',')
		cli_note(cli,
			 "%s: cells are parted by %s: the header has no comma; write commas where "
			 "these are not meant",
			 t->source, t->separator == ';' ? "semicolons" : "tabs");
	if (t->cr_lines)
		cli_note(cli, "%s: lines end with a carriage return alone", t->source);
	return 0;
}

static int rows_output_csv(const struct rows_output *o)
{
	const struct table *t = o->table;
	struct buf out;

	buf_init(&out);
	for (size_t c = 0; c < t->nr_columns; c++) {
		table_put_cell(&out, t->columns[c].name);
		buf_put_u8(&out, ',');
	}
	for (size_t k = 0; k < o->nr_names; k++)
		buf_printf(&out, "%s,", o->names[k]);
	buf_printf(&out, "outside\n");
	for (size_t i = 0; i < t->nr_rows; i++) {
		for (size_t c = 0; c < t->nr_columns; c++) {
			table_put_cell(&out, t->columns[c].cells[i]);
			buf_put_u8(&out, ',');
		}
		for (size_t k = 0; k < o->nr_names; k++) {
			if (isfinite(o->values[i * o->nr_names + k]))
				buf_printf(&out, "%.*g", o->digits, o->values[i * o->nr_names + k]);
			buf_put_u8(&out, ',');
		}
		buf_printf(&out, "%d\n", o->outside[i]);
	}
	return cli_show_text(&out);
}

static json_t *rows_output_row(const struct rows_output *o, size_t i)
{
	const struct table *t = o->table;
	json_t *row = json_object();

	for (size_t c = 0; c < t->nr_columns; c++) {
		double v;
		bool number = table_numeric(t, c) && table_number(t, c, i, &v, NULL) == 0;

		json_object_set_new(row, t->columns[c].name,
				    number ? json_real(v) : json_string(t->columns[c].cells[i]));
	}
	for (size_t k = 0; k < o->nr_names; k++)
		json_object_set_new(row, o->names[k], json_number(o->values[i * o->nr_names + k]));
	json_object_set_new(row, "outside", json_boolean(o->outside[i]));
	return row;
}

int rows_output_print(const struct rows_output *o)
{
	json_t *rows;

	if (!o->json)
		return rows_output_csv(o);
	rows = json_array();
	for (size_t i = 0; i < o->table->nr_rows; i++)
		json_array_append_new(rows, rows_output_row(o, i));
	return cli_show_json(rows);
}

int storage_rows_predict(struct storage_rows *r, const struct storage_model *m,
			 const struct storage_ask *ask, struct err *err)
{
	r->answers = calloc(r->storage.nr_rows + 1, sizeof(*r->answers));
	r->by_row = calloc(r->table.nr_rows + 1, sizeof(*r->by_row));
	if (!r->answers || !r->by_row)
		return err_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < r->storage.nr_rows; i++)
		r->by_row[r->storage.rows[i].row] = &r->answers[i];
	return storage_predict(r->answers, m, &r->storage, ask, err);
}

int storage_rows_check(const struct storage_rows *r, const struct cli *cli, bool strict,
		       struct err *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < r->table.nr_rows; i++) {
		const struct storage_answer *a = r->by_row[i];

		if (a->outside && strict)
			return err_set(err, ERANGE,
				       "%s:%llu: %s lies outside the training range %g to %g",
				       r->table.source, (unsigned long long)r->table.lines[i],
				       a->outside, a->range.low, a->range.high);
		nr += a->outside != NULL;
	}
	if (nr)
		cli_note(cli, "%zu of %zu rows lie outside the training range: extrapolated", nr,
			 r->table.nr_rows);
	return 0;
}

int storage_rows_print(const struct storage_rows *r, bool all, bool json)
{
	static const char *const names[] = { "predicted", "lower", "upper",	     "p50_s",
					     "p95_s",	  "p99_s", "predicted_per_s" };
	const size_t nr_rows = r->table.nr_rows, nr = all ? sizeof(names) / sizeof(*names) : 3;
	double *values = calloc(nr_rows * nr + 1, sizeof(*values));
	bool *outside = calloc(nr_rows + 1, sizeof(*outside));
	int ret = -ENOMEM;

	if (!values || !outside)
		goto out;
	for (size_t i = 0; i < nr_rows; i++) {
		const struct storage_answer *a = r->by_row[i];
		const struct time_estimate *t = &a->time;
		const double row[] = { t->mean.mean, t->mean.low, t->mean.high, t->p50.mean,
				       t->p95.mean,  t->p99.mean, a->throughput };

		memcpy(values + i * nr, row, nr * sizeof(*values));
		outside[i] = a->outside != NULL;
	}
	ret = rows_output_print(&(struct rows_output){ .table = &r->table,
						       .names = names,
						       .nr_names = nr,
						       .values = values,
						       .outside = outside,
						       .digits = 17,
						       .json = json });
out:
	free(values);
	free(outside);
	return ret;
}

void storage_rows_release(struct storage_rows *r)
{
	storage_table_release(&r->storage);
	table_release(&r->table);
	free(r->answers);
	free(r->by_row);
	*r = (struct storage_rows){ 0 };
}
