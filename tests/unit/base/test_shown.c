/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/text/err.h"
#include "base/text/shown.h"
#include "tests/support/tap.h"

static void check(const char *text, const char *want)
{
	char out[256];

	ok_str(shown(text, out, sizeof(out)), want);
	ok_str(shown(want, out, sizeof(out)), want);
}

static void hides(void)
{
	check("sda", "sda");
	check("", "");
	check("größe 磁盤 😀", "größe 磁盤 😀");
	check("\x1b[2J\r\n\a", "\\x1b[2J\\x0d\\x0a\\x07");
	check("a\x7f", "a\\x7f");
	check("\xc2\x9b", "\\xc2\\x9b");	  /* CSI, a C1 control */
	check("\x9b", "\\x9b");			  /* the same as a byte */
	check("\xe2\x80\xae", "\\xe2\\x80\\xae"); /* right-to-left override */
	check("\xe2\x81\xa6", "\\xe2\\x81\\xa6"); /* an isolate */
	check("\xc0\x8a", "\\xc0\\x8a");	  /* a newline, longer than it need be */
	check("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	check("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	check("\xe2\x82", "\\xe2\\x82"); /* cut */
}

static void fits(void)
{
	char out[7];

	ok_str(shown("ab\x1b\x1b", out, sizeof(out)), "ab\\x1b");
	ok_str(shown("\xf0\x9f\x98\x80\xf0\x9f\x98\x80", out, sizeof(out)), "\xf0\x9f\x98\x80");
}

static void errors_are_shown(void)
{
	struct err err = { 0 };

	err_set(&err, 22, "%s: bad", "a\x1b[1m\nb");
	ok_str(err.line, "a\\x1b[1m\\x0ab: bad");
	err_prefix(&err, "%s", "\x07");
	ok_str(err.line, "\\x07: a\\x1b[1m\\x0ab: bad");
	err_suffix(&err, "; %s helps", "\x07");
	ok_str(err.line, "\\x07: a\\x1b[1m\\x0ab: bad; \\x07 helps");
	err.line[0] = 0;
	err_suffix(&err, "; nothing is added to nothing");
	ok_str(err.line, "");
}

static void json_stays_json(void)
{
	char *text = NULL;
	size_t nr = 0;
	FILE *out = open_memstream(&text, &nr);

	shown_print_json("{\"a\":\n\"\x1b\xc2\x9b\xff\"}", out);
	fclose(out);
	ok_str(text, "{\"a\": \"\\u001b\\u009b\\ufffd\"}");
	free(text);
}

/* Returns what shown_put_json() prints; free() it. */
static char *put_json(const char *json, size_t nr)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	shown_put_json(json, nr, out);
	fclose(out);
	return text;
}

static void json_keeps_its_lines(void)
{
	const char *const json = "{\n\"größe\": \"\x7f\x1b[1m\xc2\x9b\"\n}";
	char *text = put_json(json, strlen(json));

	ok_str(text, "{\n\"größe\": \"\\u007f\\u001b[1m\\u009b\"\n}");
	free(text);
	text = put_json(json, 0);
	ok_str(text, "");
	free(text);
}

static const struct tap_test tests[] = {
	{ "what moves a terminal is escaped, text is not", hides },
	{ "no character and no escape is cut in two", fits },
	{ "the line of an error is shown", errors_are_shown },
	{ "JSON stays JSON", json_stays_json },
	{ "JSON of several lines keeps them", json_keeps_its_lines },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
