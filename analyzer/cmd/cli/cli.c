// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/cmd/cli/option_value.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/store/damage.h"
#include "base/system/clock.h"
#include "base/text/shell_word.h"
#include "base/text/shown.h"

#define CLI_DATE_LAST_S 16725225600ull /* 2500-01-01, which nanoseconds in 64 bits can hold */

#define MAX_OPTIONS	64
#define MAX_VERBS	16
/* Names are shorter than this; a longer word is not a misspelling of one. */
#define NEAREST_LETTERS 32
#define HELP_COLUMN	28

struct common {
	bool help;
};

/*
 * The line goes to the kernel in one piece, so that a reader of the file never sees half of it and
 * lines of several threads do not mix. Standard error has no buffer, so each call on it is a write.
 */
static void cli_say(const struct cli *cli, const char *fmt, va_list args)
{
	char text[4096], line[4 * sizeof(text)];

	vsnprintf(text, sizeof(text), fmt, args);
	shown(text, line, sizeof(line));
	fprintf(stderr, "blkcast %s: %s\n", cli->command->name, line);
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	cli_say(cli, fmt, args);
	va_end(args);
	return CLI_BAD_INPUT;
}

void cli_note(const struct cli *cli, const char *fmt, ...)
{
	va_list args;

	if (cli->quiet)
		return;
	va_start(args, fmt);
	cli_say(cli, fmt, args);
	va_end(args);
}

int cli_status_of(int code)
{
	switch (code < 0 ? -code : code) {
	case 0:
		return CLI_DONE;
	case EINVAL:
	case EBADMSG:
	case EPROTONOSUPPORT:
	case EFBIG:
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EACCES:
	case ERANGE:
		return CLI_BAD_INPUT;
	default:
		return CLI_FAILED;
	}
}

int cli_fail(const struct cli *cli, const struct err *err)
{
	if (ferror(stdout)) /* the reason is reported at the end */
		return CLI_FAILED;
	fprintf(stderr, "blkcast %s: %s\n", cli->command->name,
		err->line[0] ? err->line : strerror(err->code));
	return cli_status_of(err->code);
}

const char *cli_nearest(const char *got, const char *const *names, size_t nr)
{
	size_t len = strlen(got);

	/* One letter in three may be wrong, and at least one. */
	return len > NEAREST_LETTERS ? NULL : word_list_within(got, names, nr, (len + 2) / 3);
}

static size_t count_options(const struct cli_option *options)
{
	size_t nr = 0;

	while (options[nr].kind != CLI_KIND_END)
		nr++;
	return nr;
}

static void help_option(const struct cli_option *o)
{
	char left[80];
	int len;

	if (o->letter)
		len = snprintf(left, sizeof(left), "  -%c, --%s%s%s", o->letter, o->name,
			       o->arg ? " " : "", o->arg ? o->arg : "");
	else
		len = snprintf(left, sizeof(left), "      --%s%s%s", o->name, o->arg ? " " : "",
			       o->arg ? o->arg : "");
	if (len >= HELP_COLUMN)
		printf("%s\n%*s%s\n", left, HELP_COLUMN, "", o->help);
	else
		printf("%-*s%s\n", HELP_COLUMN, left, o->help);
}

/* Prints each line of text behind a prefix. */
static void help_lines(const char *prefix, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		printf("%s%.*s\n", prefix, (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void help_print(const struct command *command, const struct cli_option *options)
{
	char prefix[64];

	printf("blkcast %s: %s\n\nusage:\n", command->name, command->summary);
	snprintf(prefix, sizeof(prefix), "  blkcast %s ", command->name);
	help_lines(prefix, command->usage);
	if (command->example) {
		printf("\nexample:\n");
		help_lines("  ", command->example);
	}
	if (options->kind == CLI_KIND_END)
		printf("\noptions: `blkcast %s VERB --help` lists those of a verb.\n",
		       command->name);
	else
		printf("\noptions:\n");
	for (; options->kind != CLI_KIND_END; options++)
		help_option(options);
	if (command->details)
		printf("\n%s\n", command->details);
}

/* Joins the command's table with the options that every command has. */
static bool join_options(struct cli *cli, struct common *common, const struct cli_option *options,
			 struct cli_option all[static MAX_OPTIONS])
{
	const struct cli_option shared[] = {
		CLI_FLAG("json", 0, &cli->json, "results as JSON"),
		CLI_FLAG("utc", 0, &cli->utc, "times in UTC instead of local time"),
		CLI_FLAG("quiet", 'q', &cli->quiet, "no progress, no remarks"),
		CLI_FLAG("help", 'h', &common->help, "this text"),
		CLI_END,
	};
	size_t nr = count_options(options), nr_shared = count_options(shared) + 1;

	if (nr + nr_shared > MAX_OPTIONS) {
		cli->status = cli_usage(cli, "has more than %d options", MAX_OPTIONS);
		return false;
	}
	memcpy(all, options, nr * sizeof(*all));
	memcpy(all + nr, shared, nr_shared * sizeof(*all));
	return true;
}

/* Converts the table to getopt's two forms. */
static void getopt_tables(const struct cli_option *all, struct option *longs, char *shorts)
{
	size_t i, at = 0;

	shorts[at++] = ':';
	for (i = 0; all[i].kind != CLI_KIND_END; i++) {
		longs[i] = (struct option){
			.name = all[i].name,
			.has_arg = all[i].kind == CLI_KIND_FLAG ? no_argument : required_argument,
			.val = 256 + (int)i,
		};
		if (!all[i].letter)
			continue;
		shorts[at++] = all[i].letter;
		if (all[i].kind != CLI_KIND_FLAG)
			shorts[at++] = ':';
	}
	longs[i] = (struct option){ 0 };
	shorts[at] = '\0';
}

static const struct cli_option *option_of(const struct cli_option *all, int got)
{
	if (got >= 256)
		return &all[got - 256];
	for (; all->kind != CLI_KIND_END; all++)
		if (all->letter == got)
			return all;
	return NULL;
}

static int unknown_option(const struct cli *cli, const struct cli_option *all, const char *word)
{
	const char *names[MAX_OPTIONS];
	const char *near = NULL;
	char given[NEAREST_LETTERS + 1];
	size_t nr;

	if (strncmp(word, "--", 2) != 0)
		return cli_usage(cli, "-%c: no such option; --help lists them", optopt);
	for (nr = 0; all[nr].kind != CLI_KIND_END; nr++)
		names[nr] = all[nr].name;
	snprintf(given, sizeof(given), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	near = cli_nearest(given, names, nr);
	if (near)
		return cli_usage(cli, "--%s: no such option; did you mean --%s?", given, near);
	return cli_usage(cli, "--%s: no such option; --help lists them", given);
}

/*
 * Adds the comma-separated parts of value, which is split in place, because the strings of argv may
 * be changed.
 */
static int list_add(const struct cli *cli, const struct cli_option *o, char *value)
{
	struct word_list *list = o->out;
	char *save = NULL;

	/* A list without a value would select everything. */
	if (!value[strspn(value, ",")])
		return cli_usage(cli, "--%s: expected at least one value", o->name);
	for (char *part = strtok_r(value, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
		if (list->nr == WORD_LIST_MAX)
			return cli_usage(cli, "--%s: expected at most %d values", o->name,
					 WORD_LIST_MAX);
		list->items[list->nr++] = part;
	}
	return 0;
}

/* Returns 0, or the exit code after reporting what is wrong. */
static int option_set(const struct cli *cli, const struct cli_option *o, char *value)
{
	const char *expected;

	switch (o->kind) {
	case CLI_KIND_FLAG:
		*(bool *)o->out = true;
		return 0;
	case CLI_KIND_STRING:
		*(const char **)o->out = value;
		return 0;
	case CLI_KIND_LIST:
		return list_add(cli, o, value);
	default:
		expected = option_value_parse(o->kind, value, o->out);
		if (expected)
			return cli_usage(cli, "--%s: expected %s, got '%s'", o->name, expected,
					 value);
		return 0;
	}
}

bool cli_parse(struct cli *cli, const struct cli_option *options)
{
	struct cli_option all[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS];
	char shorts[2 * MAX_OPTIONS + 2];
	struct common common = { 0 };
	char **words = cli->argv - 1; /* getopt skips the command's name */
	int got;

	if (!join_options(cli, &common, options, all))
		return false;
	getopt_tables(all, longs, shorts);
	optind = 0;
	opterr = 0;
	while ((got = getopt_long(cli->argc + 1, words, shorts, longs, NULL)) != -1) {
		const struct cli_option *o;

		if (got == '?') {
			cli->status = unknown_option(cli, all, words[optind - 1]);
			return false;
		}
		o = option_of(all, got == ':' ? optopt : got);
		if (got == ':') {
			cli->status = cli_usage(cli, "--%s: expected %s after it", o->name, o->arg);
			return false;
		}
		cli->status = option_set(cli, o, optarg);
		if (cli->status)
			return false;
		if (common.help) {
			help_print(cli->command, all);
			cli->status = CLI_DONE;
			return false;
		}
	}
	cli->argc -= optind - 1;
	cli->argv = words + optind;
	return true;
}

int cli_verb(struct cli *cli, const struct cli_verb *verbs)
{
	static const struct cli_option none[] = { CLI_END };
	const char *word = cli->argc > 0 ? cli->argv[0] : NULL;
	const char *near, *names[MAX_VERBS];
	size_t nr;

	for (nr = 0; verbs[nr].name && nr < MAX_VERBS; nr++) {
		names[nr] = verbs[nr].name;
		if (!word || strcmp(word, names[nr]) != 0)
			continue;
		cli->argc--;
		cli->argv++;
		return (int)nr;
	}
	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
		help_print(cli->command, none);
		cli->status = CLI_DONE;
		return -1;
	}
	near = word ? cli_nearest(word, names, nr) : NULL;
	if (near)
		cli->status = cli_usage(cli, "%s: no such verb; did you mean %s?", word, near);
	else
		cli->status = cli_usage(cli, "expected a verb, got %s; --help lists them",
					word ? word : "nothing");
	return -1;
}

int cli_run_verb(struct cli *cli, const struct cli_verb *verbs)
{
	int verb = cli_verb(cli, verbs);

	return verb < 0 ? cli->status : verbs[verb].run(cli);
}

static void help_commands(const struct command *const *commands, size_t nr)
{
	printf("blkcast: measure, characterize and predict the block I/O of live guests\n\n"
	       "usage: blkcast COMMAND [OPTION]... [OPERAND]...\n\ncommands:\n");
	for (size_t i = 0; i < nr; i++)
		printf("  %-14s%s\n", commands[i]->name, commands[i]->summary);
	printf("\n`blkcast COMMAND --help` describes one; `blkcast --version` names this one.\n"
	       "Files named docs/..., formats/... are in the source tree and, installed, in "
	       "share/blkcast\n"
	       "beside the program's bin: /usr/share/blkcast.\n");
}

static const struct command *command_find(const char *name, const struct command *const *commands,
					  size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static int command_unknown(const char *name, const struct command *const *commands, size_t nr)
{
	const char *names[MAX_OPTIONS];
	const char *near;

	for (size_t i = 0; i < nr && i < MAX_OPTIONS; i++)
		names[i] = commands[i]->name;
	near = cli_nearest(name, names, nr < MAX_OPTIONS ? nr : MAX_OPTIONS);
	fprintf(stderr, "blkcast: ");
	shown_print(name, stderr);
	fprintf(stderr, ": no such command");
	if (near)
		fprintf(stderr, "; did you mean %s?\n", near);
	else
		fprintf(stderr, "; --help lists them\n");
	return CLI_BAD_INPUT;
}

/* A full disk or a closed pipe behind standard output must not look like success. */
static int output_close(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno != EPIPE)
		fprintf(stderr, "blkcast: standard output: %s\n", strerror(errno));
	return status == CLI_DONE ? CLI_FAILED : status;
}

/* Returns whether ranks share the work of this command line. */
static bool cli_spreads(const struct cli *cli)
{
	char verb[64];

	if (!cli->command->rank_verbs || !cli->command->rank_verbs[0])
		return cli->command->rank_verbs;
	snprintf(verb, sizeof(verb), " %s ", cli->argc > 0 ? cli->argv[0] : "");
	return strstr(cli->command->rank_verbs, verb);
}

/*
 * Returns the time that pages and answers are dated by: that of the environment variable
 * SOURCE_DATE_EPOCH, in seconds, so that a build can repeat them byte by byte, otherwise now.
 */
static uint64_t cli_date_s(void)
{
	const char *given = getenv("SOURCE_DATE_EPOCH");
	char *end;
	unsigned long long date_s;

	if (given && *given >= '0' && *given <= '9') {
		date_s = strtoull(given, &end, 10);
		if (!*end && date_s <= CLI_DATE_LAST_S)
			return date_s;
	}
	return clock_real_ns() / 1000000000u;
}

/* Writes the whole command line, before the options are parsed, which changes their order. */
static void cli_line(const struct cli *cli, struct buf *line)
{
	shell_word(line, "blkcast");
	shell_word(line, cli->command->name);
	for (int i = 0; i < cli->argc; i++)
		shell_word(line, cli->argv[i]);
	buf_put_u8(line, 0);
}

static int cli_run(struct cli *cli)
{
	struct page_origins origins = { .nr = 0 };
	struct buf line;
	int ret;

	if (cli->command->has_one_heap)
		mallopt(M_ARENA_MAX, 1);
	buf_init(&line);
	cli_line(cli, &line);
	cli->maker = (struct page_maker){ .command = line.error ? NULL : (const char *)line.data,
					  .made_s = cli_date_s(),
					  .origins = &origins };
	ret = output_close(cli->command->run(cli));
	cli->maker = (struct page_maker){ .command = NULL };
	page_origins_release(&origins);
	buf_release(&line);
	if (damage_count() == 0)
		return ret;
	damage_print(cli->command->name, stderr);
	return ret == CLI_DONE ? CLI_FAILED : ret;
}

bool cli_works_alone(void)
{
	if (!ranks_own())
		ranks_alone();
	return !ranks_own();
}

/* As cli_run(), as one of several processes where it was started so. */
static int cli_run_ranks(struct cli *cli)
{
	struct err err = { 0 };

	if (ranks_begin(&err) || ranks_quiet(&err)) {
		if (!ranks_own())
			fprintf(stderr, "blkcast: %s\n", err.line);
		return CLI_BAD_INPUT;
	}
	if (ranks_nr() > 1)
		progress_as_lines();
	if (!cli_spreads(cli) && !cli_works_alone())
		return ranks_end(CLI_DONE);
	return ranks_end(cli_run(cli));
}

int cli_main(int argc, char **argv, const struct command *const *commands, size_t nr)
{
	static char help_word[] = "--help";
	char *help_argv[] = { argv[0], help_word, NULL };
	struct cli cli = { .argc = argc - 2, .argv = argv + 2 };
	const char *name = argc > 1 ? argv[1] : "help";

	if (strcmp(name, "--version") == 0) {
		printf("blkcast %s\n", BLKCAST_VERSION);
		return output_close(CLI_DONE);
	}
	if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		if (argc < 3) {
			help_commands(commands, nr);
			return output_close(CLI_DONE);
		}
		name = argv[2];
		cli.argc = 1;
		cli.argv = help_argv + 1;
	}
	cli.command = command_find(name, commands, nr);
	if (!cli.command)
		return command_unknown(name, commands, nr);
	return cli_run_ranks(&cli);
}
