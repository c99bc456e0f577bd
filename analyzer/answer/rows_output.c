// SPDX-License-Identifier: Apache-2.0
#include "analyzer/answer/rows_output.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "base/data/json.h"
#include "base/memory/buf.h"

/* Writes the text, and releases the text afterwards. */
static int rows_output_end(struct buf *text, FILE *out)
{
	int ret = text->error;

	/* An empty text has no memory, and fwrite() takes no NULL. */
	if (!ret && text->len && fwrite(text->data, 1, text->len, out) != text->len)
		ret = -EIO;
	buf_release(text);
	return ret;
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
	return rows_output_end(&out, o->out);
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
	int ret;

	if (!o->json)
		return rows_output_csv(o);
	rows = json_array();
	for (size_t i = 0; i < o->table->nr_rows; i++)
		json_array_append_new(rows, rows_output_row(o, i));
	ret = json_print(rows, o->out, JSON_INDENT(2)) || putc('\n', o->out) == EOF ? -EIO : 0;
	json_decref(rows);
	return ret;
}
