/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/data/table.h"
#include "tests/support/tap.h"

static int parse(struct table *t, const char *text, struct err *err)
{
	return table_parse(t, "t.csv", text, strlen(text), err);
}

static void reads(void)
{
	struct table t;
	double v;

	ok_int(parse(&t, "a,\"b,c\"\r\n1,\"x \"\"y\"\"\nz\"\n\n2.5,\n", NULL), 0);
	ok_eq(t.nr_columns, 2);
	ok_eq(t.nr_rows, 2);
	ok_str(t.columns[1].name, "b,c");
	ok_str(t.columns[1].cells[0], "x \"y\"\nz");
	ok(table_missing(&t, 1, 1));
	ok_int(table_number(&t, 0, 1, &v, NULL), 0);
	ok_near(v, 2.5, 0);
	ok_eq(t.lines[1], 5);
	table_release(&t);
}

static void refuses(const char *text, const char *line)
{
	struct err err = { 0 };
	struct table t;

	ok(parse(&t, text, &err) < 0);
	ok_str(err.line, line);
	table_release(&t);
}

static void bad_shape(void)
{
	refuses("", "t.csv: empty: expected a header and rows");
	refuses("a,a\n", "t.csv:1: two columns are named 'a'");
	refuses("a,\n", "t.csv:1: column 2 has no name");
	refuses("a,b\n1,2\n1\n", "t.csv:3: row 2: expected 2 cells, got 1");
	refuses("a\n\"1", "t.csv:2: a quote is opened and never closed");
	refuses("a,b\n\"1\"2,3\n", "t.csv:2: expected a comma after a quote");
}

static void bad_cells(void)
{
	static const char *const cells[] = { "nan", "inf", "1e300", "1e999", "x", "1 2", "", "NA" };
	struct err err = { 0 };
	struct table t;
	char text[32];
	double v = 7;

	for (size_t i = 0; i < TAP_NR(cells); i++) {
		snprintf(text, sizeof(text), "a,b\n0,%s\n", cells[i]);
		ok_int(parse(&t, text, NULL), 0);
		ok(table_number(&t, 1, 0, &v, &err) < 0);
		ok(strstr(err.line, "t.csv:2: row 1, column 'b'") != NULL);
		ok_near(v, 7, 0);
		table_release(&t);
	}
}

static const struct tap_test tests[] = {
	{ "quotes, empty lines and both line ends are read", reads },
	{ "a table of the wrong shape is refused with its line", bad_shape },
	{ "a cell that is no finite number is refused with row and column", bad_cells },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
