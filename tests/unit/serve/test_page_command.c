// SPDX-License-Identifier: Apache-2.0
/* A question of the live page becomes a command line, or is refused before anything starts. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/serve/question/page_command.h"
#include "tests/support/tap.h"

static int test_make(double begin_s, double end_s, struct page_command *c, struct err *err)
{
	const struct page_question_words w = {
		.ask = "cache", .host = "h", .size = "1g", .begin_s = begin_s, .end_s = end_s
	};

	*c = (struct page_command){ .nr = 0 };
	return page_command_make(c, &w, "/store", NULL, NULL, NULL, err);
}

/* A time that no calendar has was left out, so that the whole store was read instead. */
static void times_beyond_the_calendar_are_refused(void)
{
	static const double far[] = { 9.3e9, 1e300, INFINITY };
	struct page_command c;
	struct err err = { 0 };

	for (size_t i = 0; i < TAP_NR(far); i++) {
		ok_int(test_make(1.7e9, far[i], &c, &err), -EINVAL);
		ok(strstr(err.line, "at most 9.2e9"));
		page_command_release(&c);
		ok_int(test_make(far[i], NAN, &c, &err), -EINVAL);
		page_command_release(&c);
	}
}

static void times_are_words_of_the_command(void)
{
	struct page_command c;
	struct err err = { 0 };

	ok_int(test_make(1700000000, 1700000060, &c, &err), 0);
	ok(strstr(c.text, "--begin 2023-11-14T22:13:20Z --end 2023-11-14T22:14:20Z"));
	page_command_release(&c);
	ok_int(test_make(NAN, NAN, &c, &err), 0);
	ok(!strstr(c.text, "--begin"));
	page_command_release(&c);
}

int main(void)
{
	static const struct tap_test tests[] = {
		{ "times that no calendar has are refused", times_beyond_the_calendar_are_refused },
		{ "times become words of the command", times_are_words_of_the_command },
	};

	return tap_run(tests, TAP_NR(tests));
}
