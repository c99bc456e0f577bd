/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text written as it is made, held against jansson's own dump of the same value. */
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/json_writer.h"
#include "tests/support/tap.h"

/* Returns whether jansson dumps the value as it was written, in several forms. */
static bool is_as_dumped(const json_t *value)
{
	static const struct {
		bool is_pretty;
		int digits;
	} forms[] = { { false, 0 }, { true, 0 }, { false, 16 }, { false, 10 }, { false, 1 } };
	bool is_same = true;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		int digits = forms[i].digits ? forms[i].digits : 17;
		char *dumped =
			json_dumps(value, (forms[i].is_pretty ? JSON_INDENT(2) : JSON_COMPACT) |
						  JSON_REAL_PRECISION(digits) | JSON_ENCODE_ANY);
		struct buf text;
		struct json_writer w = { .out = &text,
					 .digits = forms[i].digits,
					 .is_pretty = forms[i].is_pretty };

		buf_init(&text);
		json_writer_value(&w, value);
		is_same = is_same && text.len == strlen(dumped) &&
			  memcmp(text.data, dumped, text.len) == 0;
		if (!is_same)
			tap_note("%.*s is dumped as %s", (int)text.len, (const char *)text.data,
				 dumped);
		buf_release(&text);
		free(dumped);
	}
	return is_same;
}

static bool is_real_as_dumped(double value)
{
	json_t *real = json_real(value);
	bool is_same = is_as_dumped(real);

	json_decref(real);
	return is_same;
}

static void values(void)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"[{}, [], [[]], {\"a\": {}}]",
		"{\"a\": 1, \"b\": [1, 2.5, -3], \"c\": {\"d\": null, \"e\": true, \"f\": false}}",
		"[\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\ \\u001f\\u007f/\", \"h\\u00e9 \\ud83d\\ude00\"]",
		"{\"key \\n\\\" \\u00e9\": [9223372036854775807, -9223372036854775808, 0]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *value = json_loads(texts[i], 0, NULL);

		ok(value && is_as_dumped(value));
		json_decref(value);
	}
}

static void reals(void)
{
	static const double reals[] = { 0,	-0.0,	    1,		-1,
					0.1,	1.0 / 3,    1e15,	1e16,
					1e17,	123e20,	    1e22,	5e-324,
					1e-5,	1e-4,	    1e300,	-1e-300,
					0x1p53, 0x1p53 + 2, 0x1p53 - 1, 1700000000.125,
					2.5e-7, 1e100,	    -123456,	1.7976931348623157e308 };
	uint64_t state = 1;
	long nr_wrong = 0;

	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		nr_wrong += !is_real_as_dumped(reals[i]);
	for (int i = 0; i < 20000; i++) { /* all exponents; whole numbers among them */
		double value;

		state = state * 6364136223846793005u + 1442695040888963407u;
		memcpy(&value, &state, sizeof(value));
		if (isfinite(value))
			nr_wrong += !is_real_as_dumped(value) + !is_real_as_dumped(rint(value)) +
				    !is_real_as_dumped((double)(state >> 40));
	}
	ok_eq(nr_wrong, 0);
}

/* What JSON does not have: no number, a count beyond 63 bits, bytes that are not UTF-8. */
static void borders(void)
{
	struct buf text;
	struct json_writer w = { .out = &text };

	buf_init(&text);
	json_writer_open(&w, '[');
	json_writer_real(&w, NAN);
	json_writer_real(&w, -INFINITY);
	json_writer_whole(&w, UINT64_MAX);
	json_writer_text(&w, "a\xff\"\xc3");
	json_writer_value(&w, NULL);
	json_writer_close(&w, ']');
	buf_put(&text, "", 1);
	ok_str((const char *)text.data, "[null,null,9223372036854775807,\"a?\\\"?\",null]");
	buf_release(&text);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "values of every kind are written as jansson dumps them", values },
		{ "numbers are written as jansson dumps them", reals },
		{ "what JSON does not have is null, bounded or replaced", borders },
	};

	return tap_run(tests, TAP_NR(tests));
}
