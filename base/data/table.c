// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/table.h"

/* The state of the one pass over the text. Cells are unquoted in place and end with a zero byte. */
struct reader {
	struct table *t;
	struct err *err;
	/* out is where the next byte of a cell goes; it is never ahead of at. */
	char *at, *end, *out;
	uint64_t line;
	size_t cap_rows;
};

static int quoted_cell(struct reader *r)
{
	uint64_t begin = r->line;

	for (r->at++; r->at < r->end; r->at++) {
		if (*r->at == '"') {
			if (r->at + 1 == r->end || r->at[1] != '"') {
				r->at++;
				return 0;
			}
			r->at++;
		}
		r->line += *r->at == '\n';
		*r->out++ = *r->at;
	}
	return err_set(r->err, EINVAL, "%s:%" PRIu64 ": a quote is opened and never closed",
		       r->t->source, begin);
}

/* Reads one cell. *cell is its text, ended by a zero byte; at then stands on the delimiter. */
static int read_cell(struct reader *r, const char **cell, char *delimiter)
{
	char *begin = r->out = r->at;
	int ret = 0;

	if (r->at < r->end && *r->at == '"')
		ret = quoted_cell(r);
	else
		while (r->at < r->end && *r->at != r->t->separator && *r->at != '\n' &&
		       *r->at != '\r')
			*r->out++ = *r->at++;
	if (ret)
		return ret;
	if (r->at < r->end && *r->at == '\r' && (r->at + 1 == r->end || r->at[1] == '\n'))
		r->at++;
	*delimiter = r->at < r->end ? *r->at : '\n';
	if (*delimiter != r->t->separator && *delimiter != '\n')
		return err_set(r->err, EINVAL, "%s:%" PRIu64 ": expected a comma after a quote",
			       r->t->source, r->line);
	if (r->at < r->end)
		r->at++;
	*r->out = 0; /* The text has one byte more than its length, so this store is valid. */
	*cell = begin;
	return 0;
}

static int read_header(struct reader *r)
{
	struct table *t = r->t;
	char delimiter = t->separator;

	while (delimiter == t->separator) {
		struct table_column *grown;
		const char *name;
		int ret = read_cell(r, &name, &delimiter);

		if (ret)
			return ret;
		if (!*name)
			return err_set(r->err, EINVAL, "%s:1: column %zu has no name", t->source,
				       t->nr_columns + 1);
		for (size_t i = 0; i < t->nr_columns; i++)
			if (strcmp(t->columns[i].name, name) == 0)
				return err_set(r->err, EINVAL, "%s:1: two columns are named '%s'",
					       t->source, name);
		if (t->nr_columns == TABLE_COLUMNS_MAX)
			return err_set(r->err, EINVAL, "%s:1: expected at most %d columns",
				       t->source, TABLE_COLUMNS_MAX);
		grown = reallocarray(t->columns, t->nr_columns + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		t->columns = grown;
		t->columns[t->nr_columns++] = (struct table_column){ .name = name };
	}
	r->line++;
	return 0;
}

static int more_rows(struct reader *r)
{
	struct table *t = r->t;
	size_t cap = r->cap_rows ? 2 * r->cap_rows : 64;
	uint64_t *lines = reallocarray(t->lines, cap, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	t->lines = lines;
	for (size_t i = 0; i < t->nr_columns; i++) {
		const char **cells = reallocarray(t->columns[i].cells, cap, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		t->columns[i].cells = cells;
	}
	r->cap_rows = cap;
	return 0;
}

static int read_row(struct reader *r)
{
	struct table *t = r->t;
	uint64_t line = r->line;
	char delimiter = t->separator;
	size_t nr = 0;
	int ret = t->nr_rows == r->cap_rows ? more_rows(r) : 0;

	while (!ret && delimiter == t->separator) {
		const char *cell;

		ret = read_cell(r, &cell, &delimiter);
		if (!ret && nr < t->nr_columns)
			t->columns[nr].cells[t->nr_rows] = cell;
		nr++;
	}
	r->line++;
	if (ret)
		return ret;
	if (nr == 1 && t->nr_columns > 1 && !*t->columns[0].cells[t->nr_rows])
		return 0; /* an empty line */
	if (nr != t->nr_columns)
		return err_set(r->err, EINVAL,
			       "%s:%" PRIu64 ": row %zu: expected %zu cells, got %zu", t->source,
			       line, t->nr_rows + 1, t->nr_columns, nr);
	t->lines[t->nr_rows++] = line;
	return 0;
}

/*
 * Chooses the separator by the header: semicolons or tabs separate the cells where the header has
 * no comma outside of quotes.
 */
static char find_separator(const char *at, const char *end)
{
	size_t commas = 0, semicolons = 0, tabs = 0;
	bool quoted = false;

	for (; at < end && (quoted || *at != '\n'); at++) {
		quoted ^= *at == '"';
		commas += !quoted && *at == ',';
		semicolons += !quoted && *at == ';';
		tabs += !quoted && *at == '\t';
	}
	if (commas || !(semicolons + tabs))
		return ',';
	return semicolons >= tabs ? ';' : '\t';
}

/* Returns whether CR alone ends a line, as in files of old Macintosh programs. */
static bool find_cr_lines(char *text, size_t len)
{
	if (!memchr(text, '\r', len) || memchr(text, '\n', len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\r')
			text[i] = '\n';
	return true;
}

int table_parse(struct table *t, const char *source, const char *text, size_t len, struct err *err)
{
	struct reader r = { .t = t, .err = err, .line = 1 };
	int ret = 0;

	memset(t, 0, sizeof(*t));
	t->source = strdup(source);
	t->text = malloc(len + 1);
	if (!t->source || !t->text) {
		ret = -ENOMEM;
		goto out;
	}
	memcpy(t->text, text, len);
	t->cr_lines = find_cr_lines(t->text, len);
	t->separator = find_separator(t->text, t->text + len);
	r.at = t->text;
	r.end = t->text + len;
	if (memchr(text, 0, len)) {
		ret = err_set(err, EINVAL, "%s: holds a zero byte: expected CSV text", source);
		goto out;
	}
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.at += 3;
	if (r.at == r.end) {
		ret = err_set(err, EINVAL, "%s: empty: expected a header and rows", source);
		goto out;
	}
	ret = read_header(&r);
	while (!ret && r.at < r.end)
		ret = read_row(&r);
out:
	if (ret)
		table_release(t);
	return ret;
}

static int table_slurp(FILE *f, struct buf *b)
{
	size_t nr;

	do {
		int ret = buf_reserve(b, 1 << 16);

		if (ret)
			return ret;
		nr = fread(b->data + b->len, 1, 1 << 16, f);
		b->len += nr;
	} while (nr);
	return ferror(f) ? -EIO : 0;
}

int table_read(struct table *t, const char *path, struct err *err)
{
	bool standard = strcmp(path, "-") == 0;
	FILE *f = standard ? stdin : fopen(path, "r");
	struct buf b;
	int ret;

	memset(t, 0, sizeof(*t));
	if (!f)
		return err_set(err, errno, "%s: %s", path, strerror(errno));
	buf_init(&b);
	ret = table_slurp(f, &b);
	if (ret)
		err_set(err, -ret, "%s: cannot be read: %s", path, strerror(-ret));
	else
		ret = table_parse(t, standard ? "standard input" : path,
				  b.len ? (const char *)b.data : "", b.len, err);
	buf_release(&b);
	if (!standard)
		fclose(f);
	return ret;
}

void table_release(struct table *t)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		free(t->columns[i].cells);
	free(t->columns);
	free(t->lines);
	free(t->source);
	free(t->text);
	memset(t, 0, sizeof(*t));
}

int table_find(const struct table *t, const char *name, struct err *err)
{
	char names[256];
	size_t used = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (strcmp(t->columns[i].name, name) == 0)
			return (int)i;
	names[0] = 0;
	for (size_t i = 0; i < t->nr_columns && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 t->columns[i].name);
	return err_set(err, ENOENT, "%s: no column '%s'; there are %s", t->source, name, names);
}

bool table_missing(const struct table *t, size_t column, size_t row)
{
	const char *cell = t->columns[column].cells[row];

	while (isspace((unsigned char)*cell))
		cell++;
	return !*cell || strcmp(cell, "NA") == 0;
}

/* Returns the reason why a cell is not a number, or NULL if it is one. */
static const char *number_fault(const char *cell, double *out)
{
	char *end;
	double v = strtod(cell, &end);

	while (isspace((unsigned char)*end))
		end++;
	if (end == cell || *end)
		return "expected a number";
	if (!isfinite(v))
		return "expected a finite number";
	if (fabs(v) > TABLE_VALUE_MAX)
		return "expected a magnitude of at most 1e100";
	if (v != 0 && fabs(v) < TABLE_VALUE_MIN)
		return "expected 0 or a magnitude of at least 1e-100";
	*out = v;
	return NULL;
}

/* Returns whether the cell has a comma between two digits. */
static bool has_number_comma(const char *cell)
{
	const char *comma = strchr(cell, ',');

	return comma && comma > cell && isdigit((unsigned char)comma[-1]) &&
	       isdigit((unsigned char)comma[1]);
}

int table_number(const struct table *t, size_t column, size_t row, double *out, struct err *err)
{
	const char *cell = t->columns[column].cells[row];
	const char *fault = number_fault(cell, out);

	if (!fault)
		return 0;
	return err_set(err, EINVAL, "%s:%" PRIu64 ": row %zu, column '%s': %s, got %s%.40s'%s",
		       t->source, t->lines[row], row + 1, t->columns[column].name, fault,
		       table_missing(t, column, row) ? "a missing cell '" : "'", cell,
		       has_number_comma(cell) ? " (a decimal comma, or one of thousands?)" : "");
}

bool table_numeric(const struct table *t, size_t column)
{
	double v;

	for (size_t i = 0; i < t->nr_rows; i++)
		if (!table_missing(t, column, i) && number_fault(t->columns[column].cells[i], &v) &&
		    strcasecmp(t->columns[column].cells[i], "nan") != 0)
			return false;
	return true;
}

void table_put_cell(struct buf *out, const char *cell)
{
	if (!strpbrk(cell, ",\"\r\n")) {
		buf_put(out, cell, strlen(cell));
		return;
	}
	buf_put_u8(out, '"');
	for (; *cell; cell++) {
		if (*cell == '"')
			buf_put_u8(out, '"');
		buf_put_u8(out, (uint8_t)*cell);
	}
	buf_put_u8(out, '"');
}

/* Returns whether a spreadsheet could take the text for a formula, or for text behind a '. */
static bool table_is_formula(const char *text)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					    "\xef\xbc\xa0" }; /* = + - @ in full width */

	if (*text && strchr("=+-@\t\r\n'", *text))
		return true;
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return true;
	return false;
}

void table_put_text(struct buf *out, const char *text)
{
	struct buf guarded;

	if (!table_is_formula(text)) {
		table_put_cell(out, text);
		return;
	}
	buf_init(&guarded);
	buf_printf(&guarded, "'%s", text);
	buf_put_u8(&guarded, 0);
	if (guarded.error)
		out->error = guarded.error;
	else
		table_put_cell(out, (const char *)guarded.data);
	buf_release(&guarded);
}

void table_put_number(struct buf *out, double value)
{
	if (isfinite(value))
		buf_printf(out, "%.17g", value);
}
