// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/answer/grid.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/option_value.h"
#include "base/memory/buf.h"
#include "base/text/when.h"
#include "tests/support/tap.h"

static uint64_t when(const char *text)
{
	uint64_t ns = 1;

	ok_int(when_parse(text, &ns), 0);
	return ns;
}

static void times(void)
{
	uint64_t ns = 7;

	setenv("TZ", "UTC", 1);
	tzset();
	ok_eq(when("2026-01-31T14:05:00Z"), 1769868300000000000ull);
	ok_eq(when("2026-01-31T14:05:00+01:00"), 1769864700000000000ull);
	ok_eq(when("2026-01-31T14:05:00-0230"), 1769877300000000000ull);
	ok_eq(when("2026-01-31 14:05"), 1769868300000000000ull);
	ok_eq(when("2026-01-31"), 1769817600000000000ull);
	ok_eq(when("2026-01-31T14:05:00.25Z"), 1769868300250000000ull);
	ok_eq(when("@1769864700"), 1769864700000000000ull);
	ok_eq(when("@1769864700.000000001"), 1769864700000000001ull);
	ok_int(when_parse("", &ns), -EINVAL);
	ok_int(when_parse("now", &ns), -EINVAL);
	ok_int(when_parse("@", &ns), -EINVAL);
	ok_int(when_parse("@-1", &ns), -EINVAL);
	ok_int(when_parse("@99999999999999999999", &ns), -EINVAL);
	ok_int(when_parse("2026-13-01", &ns), -EINVAL);
	ok_int(when_parse("2026-02-29", &ns), -EINVAL);
	ok_int(when_parse("2026-02-30T12:00Z", &ns), -EINVAL);
	ok_int(when_parse("2026-04-31T23:59:59+01:00", &ns), -EINVAL);
	ok_int(when_parse("2026-00-01", &ns), -EINVAL);
	ok_int(when_parse("2026-01-00", &ns), -EINVAL);
	ok_int(when_parse("2026-01-31T11:59:60Z", &ns), -EINVAL);
	ok_int(when_parse("2026-01-31T11:59:61", &ns), -EINVAL);
	ok_int(when_parse("2026-01-31T14:05:00 UTC", &ns), -EINVAL);
	ok_int(when_parse("2026-01-31T14:05:00+1", &ns), -EINVAL);
	ok_int(when_parse("1969-12-31T23:59:59Z", &ns), -EINVAL);
	ok_eq(ns, 7);
	ok_eq(when("2028-02-29T12:00Z"), 1835438400000000000ull);
	setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
	tzset();
	/* Clocks there skip this half hour, which exists on the calendar even so. */
	ok_int(when_parse("2026-03-08T02:30", &ns), 0);
	ok_int(when_parse("2026-03-32", &ns), -EINVAL);
	ok_int(when_parse("2026-02-29", &ns), -EINVAL);
	setenv("TZ", "UTC", 1);
	tzset();
}

static void values(void)
{
	uint64_t n = 7;
	double x = 7;

	ok(option_value_parse(CLI_KIND_U64, "18446744073709551615", &n) == NULL);
	ok_eq(n, UINT64_MAX);
	ok_str(option_value_parse(CLI_KIND_U64, "18446744073709551616", &n), "a whole number");
	ok_str(option_value_parse(CLI_KIND_U64, "-1", &n), "a whole number");
	ok_str(option_value_parse(CLI_KIND_U64, " 1", &n), "a whole number");
	ok_str(option_value_parse(CLI_KIND_DOUBLE, "nan", &x), "a number");
	ok_str(option_value_parse(CLI_KIND_DOUBLE, "1e999", &x), "a number");
	ok(option_value_parse(CLI_KIND_DOUBLE, "-2.5e-3", &x) == NULL);
	ok_near(x, -2.5e-3, 0);
	ok(option_value_parse(CLI_KIND_DURATION, "250ms", &x) == NULL);
	ok_near(x, 0.25, 0);
	ok(option_value_parse(CLI_KIND_SIZE, "4k", &n) == NULL);
	ok_eq(n, 4096);
	ok(option_value_parse(CLI_KIND_DURATION, "soon", &x) != NULL);
	ok_near(x, 0.25, 0);
}

static const char *refused(struct cli_option o, const char *text)
{
	static char words[256];
	uint64_t value[2] = { 7, 7 };
	struct buf expected;

	o.out = value;
	buf_init(&expected);
	snprintf(words, sizeof(words), "%s", "");
	if (!option_value_store(&o, text, &expected)) {
		snprintf(words, sizeof(words), "%.*s", (int)expected.len,
			 (const char *)expected.data);
		ok_eq(value[0], 7);
	}
	buf_release(&expected);
	return words;
}

static void bounds(void)
{
	static const char *const words[] = { "red", "green", "blue", NULL };
	const struct cli_option folds = CLI_U64("folds", 0, "K", NULL, "", .from = "2", .to = "10");
	const struct cli_option share =
		CLI_DOUBLE("share", 0, "X", NULL, "", .above = "0", .below = "1");
	const struct cli_option reads =
		CLI_DOUBLE("reads", 0, "X", NULL, "", .above = "0", .to = "100");
	const struct cli_option time =
		CLI_DURATION("time", 0, "T", NULL, "", .from = "1ms", .to = "1h");
	const struct cli_option size = CLI_SIZE("size", 0, "S", NULL, "", .to = "2GiB");
	const struct cli_option colour = CLI_WORD("colour", 0, "C", NULL, "", .words = words);

	ok_str(refused(folds, "2"), "");
	ok_str(refused(folds, "10"), "");
	ok_str(refused(folds, "11"), "2 to 10");
	ok_str(refused(folds, "x"), "2 to 10");
	ok_str(refused(share, "0.5"), "");
	ok_str(refused(share, "0"), "a number above 0 and below 1");
	ok_str(refused(share, "1"), "a number above 0 and below 1");
	ok_str(refused(reads, "100"), "");
	ok_str(refused(reads, "101"), "a number above 0 and up to 100");
	ok_str(refused(time, "1ms"), "");
	ok_str(refused(time, "999us"), "1ms to 1h");
	ok_str(refused(size, "2GiB"), "");
	ok_str(refused(size, "3GiB"), "a size up to 2GiB");
	ok_str(refused(colour, "blue"), "");
	ok_str(refused(colour, "pink"), "red, green or blue");
}

static int run_rules(struct cli *cli)
{
	static const char *const words[] = { "red", "green", NULL };
	const char *a = NULL, *b = NULL, *c = NULL;
	unsigned int colour = 9;
	double share = 0;
	const struct cli_option options[] = {
		CLI_STRING("a", 'a', "A", &a, "an a"),
		CLI_STRING("b", 'b', "B", &b, "a b", .with = "a"),
		CLI_STRING("c", 'c', "C", &c, "a c", .standard = "sea"),
		CLI_FLAG("d", 'd', &(bool){ false }, "a d", .without = "c json"),
		CLI_WORD("colour", 0, "C", &colour, "a colour", .words = words,
			 .standard = "green"),
		CLI_DOUBLE("share", 0, "X", &share, "a share", .standard = "0.25"),
		CLI_CHOICE(1, 1, "a d"),
		CLI_OPERANDS(1, 2, "one or two files"),
		CLI_END,
	};

	if (!cli_parse(cli, options))
		return cli->status;
	ok_str(c, "sea");
	ok_int((int)colour, 1);
	ok_near(share, 0.25, 0);
	return CLI_DONE;
}

/* Runs the words as a command line of a command that has these rules. */
static int ruled(const char *line)
{
	static const struct command probe = {
		.name = "probe", .summary = "a probe", .usage = "", .run = run_rules
	};
	static const struct command *const commands[] = { &probe };
	char text[128], *argv[16], *save = NULL;
	int argc = 0;

	snprintf(text, sizeof(text), "blkcast probe %s", line);
	for (char *at = strtok_r(text, " ", &save); at; at = strtok_r(NULL, " ", &save))
		argv[argc++] = at;
	argv[argc] = NULL;
	return cli_main(argc, argv, commands, 1);
}

static void rules(void)
{
	ok_int(ruled("-a 1 file"), CLI_DONE);
	ok_int(ruled("-a 1 -b 2 one two"), CLI_DONE);
	ok_int(ruled("-d file"), CLI_DONE);
	ok_int(ruled("-a 1"), CLI_BAD_INPUT);
	ok_int(ruled("-a 1 one two three"), CLI_BAD_INPUT);
	ok_int(ruled("file"), CLI_BAD_INPUT);
	ok_int(ruled("-a 1 -d file"), CLI_BAD_INPUT);
	ok_int(ruled("-d -b 2 file"), CLI_BAD_INPUT);
	ok_int(ruled("-d -c x file"), CLI_BAD_INPUT);
	ok_int(ruled("-d --json file"), CLI_BAD_INPUT);
	ok_int(ruled("-a 1 --colour blue file"), CLI_BAD_INPUT);
	ok_int(ruled("-a 1 --colour green file"), CLI_DONE);
}

static void nearest(void)
{
	static const char *const names[] = { "serve", "compare", "ls" };

	ok_str(cli_nearest("serv", names, 3), "serve");
	ok_str(cli_nearest("comparre", names, 3), "compare");
	ok_str(cli_nearest("lss", names, 3), "ls");
	ok(cli_nearest("xyzzy", names, 3) == NULL);
	ok(cli_nearest("", names, 3) == NULL);
	ok(cli_nearest("averyveryveryverylongwordindeedthatmeansnothing", names, 3) == NULL);
}

static void statuses(void)
{
	ok_int(cli_status_of(0), CLI_DONE);
	ok_int(cli_status_of(-EBADMSG), CLI_BAD_INPUT);
	ok_int(cli_status_of(ENOENT), CLI_BAD_INPUT);
	ok_int(cli_status_of(-ENOMEM), CLI_FAILED);
	ok_int(cli_status_of(-EIO), CLI_FAILED);
}

static int run_probe(struct cli *cli)
{
	struct word_list list = { 0 };
	const char *name = NULL;
	uint64_t n = 5;
	bool flag = false;
	const struct cli_option options[] = {
		CLI_LIST("list", 'l', "A,...", &list, "a list"),
		CLI_STRING("name", 0, "NAME", &name, "a name"),
		CLI_U64("number", 'n', "N", &n, "a number"),
		CLI_FLAG("flag", 'f', &flag, "a flag"),
		CLI_END,
	};

	if (!cli_parse(cli, options))
		return cli->status;
	ok_eq(list.nr, 3);
	ok_str(list.items[0], "a");
	ok_str(list.items[2], "c");
	ok_str(name, "x");
	ok_eq(n, 9);
	ok(flag);
	ok(cli->json && cli->teller.quiet && !cli->teller.utc);
	ok_int(cli->argc, 2);
	ok_str(cli->argv[0], "one");
	ok_str(cli->argv[1], "--two");
	return CLI_FAILED;
}

static void parses(void)
{
	static const struct command probe = {
		.name = "probe", .summary = "a probe", .usage = "", .run = run_probe
	};
	static const struct command *const commands[] = { &probe };
	char words[][16] = { "blkcast", "probe",  "-la,b", "one",    "--name=x", "-n",	 "9",
			     "-fq",	"--list", "c",	   "--json", "--",	 "--two" };
	char *argv[TAP_NR(words) + 1] = { NULL };

	for (size_t i = 0; i < TAP_NR(words); i++)
		argv[i] = words[i];
	ok_int(cli_main(TAP_NR(words), argv, commands, 1), CLI_FAILED);
}

static void grids(void)
{
	char text[256] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	struct grid g;

	grid_init(&g, "name|>size|note");
	grid_cell(&g, "a");
	grid_cell(&g, "12.3 µs");
	grid_cell(&g, "x");
	grid_cell(&g, "longer");
	grid_cell(&g, "%d", 7);
	grid_cell(&g, "%s", "");
	ok_int(grid_print(&g, out), 0);
	fclose(out);
	grid_release(&g);
	ok_str(text, "name       size  note\na       12.3 µs  x\nlonger        7\n");
}

static const struct tap_test tests[] = {
	{ "instants are read with and without zone, and nothing else is", times },
	{ "values of options are whole, finite and in range", values },
	{ "bounds of values are kept, and named where a value is refused", bounds },
	{ "options have defaults, and rules on what stands beside them", rules },
	{ "the nearest name is suggested, no far one", nearest },
	{ "bad input and failed work have exit codes of their own", statuses },
	{ "options may stand anywhere, be joined, repeated and parted by commas", parses },
	{ "columns are as wide as their widest cell in characters", grids },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
