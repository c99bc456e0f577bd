/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/draw/csv_table.h"
#include "analyzer/report/draw/label.h"
#include "analyzer/report/draw/svg.h"

#define COLUMNS_MAX 24
#define NAME_BYTES  48

enum column_kind { TEXT, NUMBER, DURATION, INSTANT, BYTES, BYTES_RATE, RATIO };

struct column {
	char name[NAME_BYTES];
	enum column_kind kind;
};

static bool take_suffix(char *name, const char *suffix)
{
	size_t len = strlen(name), cut = strlen(suffix);

	if (len < cut || strcmp(name + len - cut, suffix))
		return false;
	name[len - cut] = '\0';
	return true;
}

static struct column column_of(const char *name, size_t len)
{
	struct column c = { .kind = NUMBER };
	bool bytes = len > 6 && !strncmp(name, "bytes_", 6);

	snprintf(c.name, sizeof(c.name), "%.*s", (int)len, name);
	if (!strcmp(c.name, "name"))
		c.kind = TEXT;
	else if (take_suffix(c.name, "_per_s"))
		c.kind = bytes ? BYTES_RATE : NUMBER;
	else if (take_suffix(c.name, "_s"))
		c.kind = len > 5 && !strncmp(name + len - 5, "_at_s", 5) ? INSTANT : DURATION;
	else if (take_suffix(c.name, "_bytes"))
		c.kind = BYTES;
	else if (take_suffix(c.name, "_ratio"))
		c.kind = RATIO;
	if (!strcmp(c.name, "p999") || !strcmp(c.name, "p9999"))
		snprintf(c.name, sizeof(c.name), len > 6 ? "p99.99" : "p99.9");
	for (char *at = c.name; *at; at++)
		if (*at == '_')
			*at = ' ';
	return c;
}

/*
 * Copies a field without its quotes; two quotes within it stand for one. The ' that keeps a
 * spreadsheet from running a name (table_put_text) is left out too.
 */
static void csv_table_text(char *copy, size_t size, const char *text, size_t len)
{
	bool has_quotes = len > 1 && text[0] == '"';
	size_t nr = 0;

	for (size_t i = has_quotes; i < len - has_quotes && nr < size - 1; i++) {
		copy[nr++] = text[i];
		i += has_quotes && text[i] == '"';
	}
	copy[nr] = '\0';
	if (copy[0] == '\'')
		memmove(copy, copy + 1, nr);
}

static void csv_table_cell(struct buf *out, const struct column *c, const char *text, size_t len,
			   bool utc)
{
	char copy[1024], *end;
	struct label l;
	double v;

	csv_table_text(copy, sizeof(copy), text, len);
	v = strtod(copy, &end);
	buf_printf(out, "<td>");
	if (!len)
		buf_printf(out, "–");
	else if (*end || c->kind == TEXT)
		page_escape(out, copy);
	else if (c->kind == DURATION)
		page_escape(out, label_duration(&l, v));
	else if (c->kind == INSTANT)
		page_escape(out, label_clock(&l, (uint64_t)(v * 1e9), 0, utc));
	else if (c->kind == BYTES || c->kind == BYTES_RATE)
		buf_printf(out, "%s%s", label_bytes(&l, v), c->kind == BYTES_RATE ? "/s" : "");
	else if (c->kind == RATIO)
		page_escape(out, label_percent(&l, v));
	else
		page_escape(out, label_count(&l, v));
	buf_printf(out, "</td>");
}

static size_t csv_table_header(struct buf *out, const char *line, size_t len,
			       struct column *columns)
{
	const char *end = line + len;
	size_t nr = 0;

	buf_printf(out, "<thead><tr>");
	while (line <= end && nr < COLUMNS_MAX) {
		const char *comma = memchr(line, ',', (size_t)(end - line));
		size_t width = (size_t)((comma ? comma : end) - line);

		columns[nr] = column_of(line, width);
		buf_printf(out, "<th scope=\"col\">");
		page_escape(out, columns[nr++].name);
		buf_printf(out, "</th>");
		line += width + 1;
	}
	buf_printf(out, "</tr></thead>\n");
	return nr;
}

/* Returns the end of the field that begins here: its comma, or the end of the line. */
static const char *csv_table_field(const char *at, const char *end)
{
	bool in_quotes = false;

	for (; at < end && (in_quotes || *at != ','); at++)
		in_quotes ^= *at == '"';
	return at;
}

static void csv_table_row(struct buf *out, const char *line, size_t len,
			  const struct column *columns, size_t nr, bool utc)
{
	const char *end = line + len;

	buf_printf(out, "<tr>");
	for (size_t i = 0; i < nr && line <= end; i++) {
		size_t width = (size_t)(csv_table_field(line, end) - line);

		csv_table_cell(out, &columns[i], line, width, utc);
		line += width + 1;
	}
	buf_printf(out, "</tr>\n");
}

void csv_table(struct buf *out, const struct buf *csv, bool utc)
{
	const char *at = (const char *)csv->data, *end = at + csv->len;
	struct column columns[COLUMNS_MAX];
	size_t nr = 0;

	buf_printf(out, "<div class=\"table\"><table>");
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);

		if (!nr)
			nr = csv_table_header(out, at, len, columns);
		else
			csv_table_row(out, at, len, columns, nr, utc);
		at += len + 1;
	}
	buf_printf(out, "</table></div>\n");
}

void csv_link(struct buf *out, const struct buf *csv, const char *name)
{
	buf_printf(out, "<a class=\"csv\" download=\"%s.csv\" href=\"data:text/csv;charset=utf-8,",
		   name);
	for (size_t i = 0; i < csv->len; i++) {
		unsigned char c = csv->data[i];

		if (c > 0x20 && c < 0x7f && !strchr("\"%#<>&'", c))
			buf_put_u8(out, c);
		else
			buf_printf(out, "%%%02X", c);
	}
	buf_printf(out, "\">Save the data as CSV</a>");
}
