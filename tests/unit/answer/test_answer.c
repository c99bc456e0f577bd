/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/answer.h"
#include "tests/support/sample.h"
#include "tests/support/tap.h"

static const struct answer_column columns[] = {
	{ .key = "load", .title = "load" },
	{ .key = "requests", .title = "requests", .unit = ANSWER_INTEGER },
	{ .key = "target_s", .title = "time", .unit = ANSWER_SECONDS, .interval = "ci" },
	{ .key = "change_ratio", .title = "change", .unit = ANSWER_CHANGE },
	{ .key = "why" },
};

static struct answer *sample(void)
{
	struct answer *a = answer_new("blkcast.sample/1", "A <sample>");
	struct answer_table *t;

	answer_fact_words(a, "by", NULL, "models");
	t = answer_table(a, "results", "Times", "One row per load.", columns, TAP_NR(columns));
	answer_words(t, "web \"1\", %s", "sda");
	answer_number(t, 12345678901.0);
	answer_interval(t, 0.0125, 0.011, 0.014);
	answer_number(t, 0.05);
	answer_words(t, "measured");
	answer_words(t, "<db>");
	answer_number(t, 3);
	answer_number(t, NAN);
	answer_number(t, -0.5);
	answer_words(t, "%s", "");
	answer_fact(a, "limit_per_s", "It carries", ANSWER_PER_S, 1500);
	answer_conclude(a, "The first %s is replaced.", "one");
	answer_conclude(a, "Reads become slower by %d %%.", 5);
	answer_note(a, "The load of <db> is unknown.");
	return a;
}

static char *rendered(const struct answer *a, enum answer_form form, int *ret)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	*ret = answer_print(a, form, out);
	fclose(out);
	return text;
}

static void as_text(void)
{
	struct answer *a = sample();
	int ret;
	char *text = rendered(a, ANSWER_TEXT, &ret);

	ok_int(ret, 0);
	ok_str(text, "load             requests     time   from     to   change\n"
		     "web \"1\", sda  12345678901  12.5 ms  11 ms  14 ms   +5.0 %\n"
		     "<db>                    3        -      -      -  -50.0 %\n"
		     "\n"
		     "It carries: 1.50 k/s\n"
		     "\n"
		     "Reads become slower by 5 %.\n"
		     "The load of <db> is unknown.\n");
	free(text);
	answer_free(a);
}

static void as_json(void)
{
	struct answer *a = sample();
	int ret;
	char *text;
	json_t *top, *row;

	answer_member(a, "extra", json_pack("[i,i]", 1, 2));
	text = rendered(a, ANSWER_JSON, &ret);
	ok_int(ret, 0);
	top = json_loads(text, 0, NULL);
	ok_str(json_string_value(json_object_get(top, "schema")), "blkcast.sample/1");
	ok_str(json_string_value(json_object_get(top, "by")), "models");
	ok_str(json_string_value(json_object_get(top, "conclusion")),
	       "Reads become slower by 5 %.");
	ok_eq(json_array_size(json_object_get(top, "notes")), 1);
	ok_eq(json_array_size(json_object_get(top, "extra")), 2);
	ok(json_real_value(json_object_get(top, "limit_per_s")) == 1500);
	ok_eq(json_array_size(json_object_get(top, "results")), 2);
	row = json_array_get(json_object_get(top, "results"), 0);
	ok_str(json_string_value(json_object_get(row, "load")), "web \"1\", sda");
	ok_int(json_integer_value(json_object_get(row, "requests")), 12345678901);
	ok(json_real_value(json_array_get(json_object_get(row, "ci"), 1)) == 0.014);
	row = json_array_get(json_object_get(top, "results"), 1);
	ok(json_is_null(json_object_get(row, "target_s")));
	ok(json_is_null(json_object_get(row, "ci")));
	json_decref(top);
	free(text);
	answer_free(a);
}

/* A file's name may have any bytes, and JSON holds UTF-8 alone: what is no UTF-8 is escaped. */
static void not_utf8(void)
{
	struct answer *a = sample();
	json_t *top, *row;
	int ret;
	char *text;

	answer_words(answer_table(a, "files", NULL, NULL, columns, 1), "%s", "a\xff");
	answer_fact_words(a, "model", NULL, "b\xff.json");
	answer_conclude(a, "Written to %s.", "c\xff");
	answer_note(a, "Read from %s.", "d\xff");
	text = rendered(a, ANSWER_JSON, &ret);
	ok_int(ret, 0);
	top = json_loads(text, 0, NULL);
	row = json_array_get(json_object_get(top, "files"), 0);
	ok_str(json_string_value(json_object_get(row, "load")), "a\\xff");
	ok_str(json_string_value(json_object_get(top, "model")), "b\\xff.json");
	ok_str(json_string_value(json_object_get(top, "conclusion")), "Written to c\\xff.");
	ok_str(json_string_value(json_array_get(json_object_get(top, "notes"), 1)),
	       "Read from d\\xff.");
	json_decref(top);
	free(text);
	answer_free(a);
}

static void as_csv(void)
{
	struct answer *a = sample();
	int ret;
	char *text = rendered(a, ANSWER_CSV, &ret);

	ok_int(ret, 0);
	ok_str(text, "load,requests,target_s,target_s_low,target_s_high,change_ratio,why\n"
		     "\"web \"\"1\"\", sda\",12345678901,0.012500000000000001,"
		     "0.010999999999999999,0.014,0.050000000000000003,measured\n"
		     "<db>,3,,,,-0.5,\n");
	free(text);
	answer_free(a);
}

static void texts_are_read_back_from_csv(void)
{
	static const char *const names[] = {
		"plain", "two \"quotes\"", "a,b", "line\nfeed", "cr\r\nlf", "\"", ",",
		"",	 " space ",	   "db'1"
	};
	/* Each gets a ' before it, so that no spreadsheet runs it. */
	static const char *const formulas[] = { "=1+1",
						"+1",
						"-1",
						"@SUM(A1)",
						"\t=1",
						"\n=1",
						"'=1",
						"\xef\xbc\x9d"
						"1" };
	static const char script[] =
		"import csv, json, sys; print(json.dumps([row[0] for row in "
		"csv.reader(open(sys.argv[1], newline='', encoding='utf-8'))]))";
	static const struct answer_column text[] = { { .key = "host" }, { .key = "n" } };
	struct answer *a = answer_new("blkcast.sample/1", "Names");
	struct answer_table *t = answer_table(a, "hosts", NULL, NULL, ANSWER_COLUMNS(text));
	const char *dir = sample_folder();
	char path[4096], command[8192], guarded[32];
	FILE *out, *in;
	json_t *read;
	size_t at = 1;

	snprintf(path, sizeof(path), "%s/names.csv", dir);
	out = fopen(path, "w");
	for (size_t i = 0; i < TAP_NR(names); i++) {
		answer_words(t, "%s", names[i]);
		answer_number(t, -1);
	}
	for (size_t i = 0; i < TAP_NR(formulas); i++) {
		answer_words(t, "%s", formulas[i]);
		answer_number(t, -1);
	}
	ok_int(answer_print(a, ANSWER_CSV, out), 0);
	fclose(out);
	answer_free(a);
	snprintf(command, sizeof(command), "python3 -c \"%s\" %s", script, path);
	in = popen(command, "r");
	read = json_loadf(in, 0, NULL);
	ok_int(pclose(in), 0);
	sample_remove(dir);
	ok_int((int)json_array_size(read), (int)(1 + TAP_NR(names) + TAP_NR(formulas)));
	for (size_t i = 0; i < TAP_NR(names); i++)
		ok_str(json_string_value(json_array_get(read, at++)), names[i]);
	for (size_t i = 0; i < TAP_NR(formulas); i++) {
		snprintf(guarded, sizeof(guarded), "'%s", formulas[i]);
		ok_str(json_string_value(json_array_get(read, at++)), guarded);
	}
	json_decref(read);
}

static void as_page(void)
{
	struct answer *a = sample();
	struct buf svg = { 0 }, out = { 0 };
	const char *page;

	buf_printf(&svg, "<svg id=\"drawn\"></svg>");
	answer_picture(a, "Times", "Two bars.", &svg);
	ok(svg.len == 0 && !svg.data);
	ok_int(answer_html(a, NULL, &out), 0);
	buf_put_u8(&out, 0);
	page = (const char *)out.data;
	ok(strstr(page, "<h1>A &lt;sample&gt;</h1>"));
	ok(strstr(page, "<p class=\"lead\">Reads become slower by 5 %.</p>"));
	ok(strstr(page, "<td class=\"words\">&lt;db&gt;</td>"));
	ok(strstr(page, "11 ms to 14 ms"));
	ok(strstr(page, "<svg id=\"drawn\"></svg>"));
	ok(!strstr(page, "<db>"));
	ok(!strstr(page, "<script"));
	buf_release(&out);
	answer_free(a);
}

/*
 * Titles that the user's data gives may hold any character; an interval of negative numbers has no
 * dash.
 */
static void titles_from_data(void)
{
	char title[] = "web|1 >db";
	const struct answer_column own[] = {
		{ .title = title },
		{ .title = "change", .unit = ANSWER_CHANGE, .interval = "ci" },
		{ .key = "machine_only" },
	};
	struct answer *a = answer_new("blkcast.sample/1", "Titles");
	struct answer_table *t = answer_table(a, "rows", NULL, NULL, own, TAP_NR(own));
	struct answer_table *hidden = answer_table(a, "hidden", "Hidden", NULL, own + 2, 1);
	struct buf out = { 0 };
	char *text;
	int ret;

	title[0] = 'X'; /* the answer has its own copy */
	answer_words(t, "a");
	answer_interval(t, -0.2, -0.3, -0.1);
	answer_words(t, "m");
	answer_words(hidden, "not for people");
	text = rendered(a, ANSWER_TEXT, &ret);
	ok_int(ret, 0);
	ok_str(text, "web|1 >db   change     from       to\n"
		     "a          -20.0 %  -30.0 %  -10.0 %\n");
	free(text);
	ok_int(answer_html(a, NULL, &out), 0);
	buf_put_u8(&out, 0);
	ok(strstr((const char *)out.data, "-30.0 % to -10.0 %"));
	ok(!strstr((const char *)out.data, "not for people"));
	buf_release(&out);
	answer_free(a);
}

static void an_empty_column_is_hidden(void)
{
	static const struct answer_column three[] = {
		{ .title = "load" },
		{ .title = "time", .unit = ANSWER_SECONDS },
		{ .title = "training" },
	};
	struct answer *a = answer_new("blkcast.sample/1", "A sample");
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, three, TAP_NR(three));
	char *text;
	int ret;

	for (int row = 0; row < 2; row++) {
		answer_words(t, "web");
		answer_number(t, NAN);
		answer_words(t, "%s", "");
	}
	answer_hide_empty(t);
	text = rendered(a, ANSWER_TEXT, &ret);
	ok_int(ret, 0);
	ok_str(text, "load  time\nweb      -\nweb      -\n");
	free(text);
	answer_free(a);
}

static void incomplete_row(void)
{
	struct answer *a = sample();
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, columns, 2);
	int ret;

	answer_words(t, "alone");
	free(rendered(a, ANSWER_TEXT, &ret));
	ok_int(ret, -EINVAL);
	answer_free(a);
}

static void without_memory(void)
{
	struct answer_table *t = answer_table(NULL, "results", NULL, NULL, columns, 1);
	int ret;

	answer_words(t, "lost");
	answer_conclude(NULL, "Nothing.");
	answer_member(NULL, "extra", json_array());
	free(rendered(NULL, ANSWER_JSON, &ret));
	ok_int(ret, -ENOMEM);
	answer_free(NULL);
}

static const struct tap_test tests[] = {
	{ "an answer is a table, facts, a conclusion and remarks as text", as_text },
	{ "an answer has every key of its columns, facts and members as JSON", as_json },
	{ "bytes that are no UTF-8 are escaped in JSON and lose nothing", not_utf8 },
	{ "an answer's first table is CSV with all digits", as_csv },
	{ "names are read back from CSV, and none is a formula", texts_are_read_back_from_csv },
	{ "an answer is a page with the conclusion first, and escapes what it shows", as_page },
	{ "titles may hold any character, and what has none is for machines", titles_from_data },
	{ "a column without words is hidden, one with unknown numbers is not",
	  an_empty_column_is_hidden },
	{ "a row with a missing cell is refused", incomplete_row },
	{ "an answer without memory says so when it is rendered", without_memory },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
