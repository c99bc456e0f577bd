/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/leaving.h"
#include "formats/profile/profile_json.h"
#include "formats/segment/segment_header.h"
#include "tests/support/tap.h"

/* What is printed for a command line, as one text. */
static char *printed(int argc, char *const *argv)
{
	char *text = NULL;
	size_t len = 0;
	struct config c;
	struct err err = { 0 };
	FILE *out = open_memstream(&text, &len);

	ok_int(config_parse(&c, argc, argv, &err), 0);
	ok_int(leaving_print(&c, out, &err), 0);
	config_release(&c);
	fclose(out);
	return text;
}

static char *plain(void)
{
	char *argv[] = { "blkcast-agent", "--show-what-leaves",
			 "--sink",	  "http://localhost:1",
			 "--host",	  "web1" };

	return printed(TAP_NR(argv), argv);
}

/* Whether a line begins with the field, or with one below it. */
static bool has_line(const char *text, const char *field)
{
	char line[160];
	const char *at;

	snprintf(line, sizeof(line), "\n  %s", field);
	at = strstr(text, line);
	while (at && at[strlen(line)] != ' ' && at[strlen(line)] != '.')
		at = strstr(at + 1, line);
	return at != NULL;
}

static void every_key_of_the_header(void)
{
	char *text = plain();
	unsigned int nr = 0;

	for (; segment_header_key(nr); nr++)
		if (!ok(has_line(text, segment_header_key(nr))))
			tap_note("%s", segment_header_key(nr));
	ok_eq(nr, 17);
	for (unsigned int i = 0; i < NR_SEGMENT_COLUMNS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "[\"%s\", ", segment_column_name(i));
		ok(strstr(text, name) != NULL);
	}
	ok(!strstr(text, " ?\n")); /* each with its words */
	free(text);
}

static void every_byte_of_a_request(void)
{
	uint8_t covered[sizeof(struct request)] = { 0 };
	char *text = plain();
	size_t at = offsetof(struct request, reserved);

	for (size_t i = 0; i < leaving_nr_request_fields; i++) {
		const struct leaving_field *f = &leaving_request_fields[i];

		ok(has_line(text, f->name));
		for (size_t b = 0; b < f->bytes; b++)
			covered[f->at + b]++;
	}
	for (size_t b = 0; b < sizeof(covered); b++)
		if (covered[b] != (b != at))
			ok_eq(b, at);
	free(text);
}

static void every_field_of_the_profile(void)
{
	char *text = plain();

	for (size_t i = 0; i < nr_profile_fields; i++)
		if (!ok(has_line(text, profile_fields[i].path)))
			tap_note("%s", profile_fields[i].path);
	free(text);
}

static void names_are_hidden_with_a_key(void)
{
	char path[] = "/tmp/blkcast-key.XXXXXX";
	char *argv[] = { "blkcast-agent", "--show-what-leaves", "--host",
			 "web1.secret",	  "--anonymize",	path };
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	char *open_text = plain(), *text;

	fputs("0123456789abcdef", f);
	fclose(f);
	text = printed(TAP_NR(argv), argv);
	ok(strstr(open_text, "\"web1\"") && strstr(open_text, "\"blkcast-agent\"]"));
	ok(strstr(text, "\"host-") != NULL);
	ok(!strstr(text, "secret") && !strstr(text, "blkcast-agent\"]"));
	unlink(path);
	free(text);
	free(open_text);
}

static const struct tap_test tests[] = {
	{ "every key and column that the decoder knows is listed", every_key_of_the_header },
	{ "every byte of a request is listed", every_byte_of_a_request },
	{ "every field of a profile is listed", every_field_of_the_profile },
	{ "with a key no name of this machine is printed", names_are_hidden_with_a_key },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
