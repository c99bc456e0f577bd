// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/answer/grid.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/option_value.h"
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
	ok_int(when_parse("2026-01-31T14:05:00 UTC", &ns), -EINVAL);
	ok_int(when_parse("2026-01-31T14:05:00+1", &ns), -EINVAL);
	ok_int(when_parse("1969-12-31T23:59:59Z", &ns), -EINVAL);
	ok_eq(ns, 7);
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
	ok(cli->json && cli->quiet && !cli->utc);
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
	{ "the nearest name is suggested, no far one", nearest },
	{ "bad input and failed work have exit codes of their own", statuses },
	{ "options may stand anywhere, be joined, repeated and parted by commas", parses },
	{ "columns are as wide as their widest cell in characters", grids },
};

int main(void)
{
	return tap_run(tests, TAP_NR(tests));
}
