// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/cli/cli.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer/progress.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/store/damage.h"
#include "base/system/clock.h"
#include "base/text/shell_word.h"
#include "base/text/shown.h"

#define CLI_DATE_LAST_S 16725225600ull /* 2500-01-01, which nanoseconds in 64 bits can hold */

#define MAX_COMMANDS	64
/* Names are shorter than this; a longer word is not a misspelling of one. */
#define NEAREST_LETTERS 32

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

	if (cli->teller.quiet)
		return;
	va_start(args, fmt);
	cli_say(cli, fmt, args);
	va_end(args);
}

static void cli_tell(void *ctx, const char *line)
{
	cli_usage(ctx, "%s", line);
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
	case EDOM:
	case ENOKEY:
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

int cli_no_memory(const struct cli *cli)
{
	return cli_fail(cli, &(struct err){ ENOMEM, "out of memory" });
}

const char *cli_nearest(const char *got, const char *const *names, size_t nr)
{
	size_t len = strlen(got);

	/* One letter in three may be wrong, and at least one. */
	return len > NEAREST_LETTERS ? NULL : word_list_within(got, names, nr, (len + 2) / 3);
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
	const char *names[MAX_COMMANDS];
	const char *near;

	for (size_t i = 0; i < nr && i < MAX_COMMANDS; i++)
		names[i] = commands[i]->name;
	near = cli_nearest(name, names, nr < MAX_COMMANDS ? nr : MAX_COMMANDS);
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
	cli->teller.maker =
		(struct page_maker){ .command = line.error ? NULL : (const char *)line.data,
				     .made_s = cli_date_s(),
				     .origins = &origins };
	cli->teller.note = cli_tell;
	cli->teller.ctx = cli;
	cli->teller.work = cli->command->name;
	ret = output_close(cli->command->run(cli));
	cli->teller.maker = (struct page_maker){ .command = NULL };
	page_origins_release(&origins);
	buf_release(&line);
	if (damage_count() == 0)
		return ret;
	damage_print(cli->command->name, stderr);
	fprintf(stderr, "blkcast %s: the result is without them", cli->command->name);
	if (damage_has_damaged())
		fprintf(stderr, "; blkcast check --store %s --repair sets damaged ones aside",
			damage_store());
	fputc('\n', stderr);
	return ret == CLI_DONE ? CLI_FAILED : ret;
}

/*
 * Does what cli_run() does; if the program was started as one of several processes, it takes part
 * as one of them.
 */
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
	if (!cli_spreads(cli) && !ranks_works_alone())
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
