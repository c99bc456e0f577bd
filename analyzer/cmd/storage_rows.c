// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/cmd/storage_rows.h"
#include "base/json.h"

#define NR_VALUES 7

static const char *const names[NR_VALUES] = { "predicted", "lower", "upper",	      "p50_s",
					      "p95_s",	   "p99_s", "predicted_per_s" };

static size_t nr_values(bool all)
{
	return all ? NR_VALUES : 3;
}

static void values_of(double v[NR_VALUES], const struct storage_answer *a)
{
	const struct time_estimate *t = &a->time;

	v[0] = t->mean.mean;
	v[1] = t->mean.low;
	v[2] = t->mean.high;
	v[3] = t->p50.mean;
	v[4] = t->p95.mean;
	v[5] = t->p99.mean;
	v[6] = a->throughput;
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

int storage_rows_csv(const struct storage_rows *r, bool all)
{
	const struct table *t = &r->table;
	struct buf out;
	int ret;

	buf_init(&out);
	for (size_t c = 0; c < t->nr_columns; c++) {
		table_put_cell(&out, t->columns[c].name);
		buf_put_u8(&out, ',');
	}
	for (size_t k = 0; k < nr_values(all); k++)
		buf_printf(&out, "%s,", names[k]);
	buf_printf(&out, "outside\n");
	for (size_t i = 0; i < t->nr_rows; i++) {
		double v[NR_VALUES];

		values_of(v, r->by_row[i]);
		for (size_t c = 0; c < t->nr_columns; c++) {
			table_put_cell(&out, t->columns[c].cells[i]);
			buf_put_u8(&out, ',');
		}
		for (size_t k = 0; k < nr_values(all); k++)
			buf_printf(&out, isfinite(v[k]) ? "%.17g," : ",", v[k]);
		buf_printf(&out, "%d\n", r->by_row[i]->outside != NULL);
	}
	ret = out.error;
	if (ret)
		goto out;
	if (fwrite(out.data, 1, out.len, stdout) != out.len)
		ret = -EIO;
out:
	buf_release(&out);
	return ret;
}

int storage_rows_json(const struct storage_rows *r, bool all)
{
	const struct table *t = &r->table;
	json_t *rows = json_array();
	int ret = 0;

	for (size_t i = 0; i < t->nr_rows; i++) {
		json_t *row = json_object();
		double v[NR_VALUES], cell;

		for (size_t c = 0; c < t->nr_columns; c++) {
			bool number =
				table_numeric(t, c) && table_number(t, c, i, &cell, NULL) == 0;

			json_object_set_new(row, t->columns[c].name,
					    number ? json_real(cell)
						   : json_string(t->columns[c].cells[i]));
		}
		values_of(v, r->by_row[i]);
		for (size_t k = 0; k < nr_values(all); k++)
			json_object_set_new(row, names[k],
					    isfinite(v[k]) ? json_real(v[k]) : json_null());
		json_object_set_new(row, "outside", json_boolean(r->by_row[i]->outside != NULL));
		json_array_append_new(rows, row);
	}
	if (json_print(rows, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
		ret = -EIO;
	json_decref(rows);
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
