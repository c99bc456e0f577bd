/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli: what every command of blkcast shares: options, help, errors, how it shows its answer, exit
 * codes.
 *
 * A command is a `const struct command command_<name>` and one line in cmd/cli/commands.h. It
 * stands in the file of cmd/ that has its name: cmd_fit_predict.c holds fit and predict. Its run()
 * declares its options in a table and parses them, and ends with its answer:
 *
 *	static int run(struct cli *cli)
 *	{
 *		const char *dir = NULL;
 *		const struct cli_option options[] = {
 *			CLI_STRING("store", 's', "DIR", &dir, "the store to read"),
 *			CLI_END,
 *		};
 *
 *		if (!cli_parse(cli, options))
 *			return cli->status;
 *		...
 *		ret = cli_show(cli, listing_answer(&listing), NULL, &err);
 *		return cli_finish(cli, ret, &err, CLI_DONE);
 *	}
 *
 * --help, --json, --quiet and --utc are every command's. Results go to standard output, words to
 * standard error. The table is the only place that knows an option: cli_parse() sets its default,
 * checks its range and what must stand beside it, and prints all of that in the help:
 *
 *	CLI_U64("folds", 0, "K", &folds, "of the cross-validation", .standard = "10",
 *		.from = "2", .to = "1000000"),
 *	CLI_STRING("campaign", 0, "NAME", &campaign, "of --db", .with = "db"),
 *	CLI_CHOICE(1, 1, "model db"),
 *	CLI_OPERANDS(1, 1, "one table"),
 */
#ifndef ANALYZER_CLI_H
#define ANALYZER_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/answer/answer.h"
#include "analyzer/answer/teller.h"
#include "base/text/err.h"
#include "base/text/word_list.h"

/* These are the exit codes. */
enum cli_status {
	CLI_DONE = 0,
	CLI_FAILED = 1,	     /* the work failed, or a requested check did */
	CLI_BAD_INPUT = 2,   /* wrong usage, or invalid input */
	CLI_CANNOT_TELL = 3, /* done, but the question lies outside of what is known */
};

struct cli;

struct command {
	const char *name;
	const char *summary; /* one line without a full stop, for the list of commands */
	/* what follows "blkcast NAME ", one line per form: "--store DIR [FILE...]" */
	const char *usage;
	const char *details;	     /* one or more paragraphs after the options; may be NULL */
	const char *example;	     /* complete, working command lines, one per line */
	int (*run)(struct cli *cli); /* returns an exit code */
	/*
	 * All threads take memory from one heap. Heaps of their own keep tens of MiB that nobody
	 * uses; threads that seldom allocate, such as the estimators', do not need them.
	 */
	bool has_one_heap;
	/*
	 * The text lists the verbs whose work several processes share (ranks.h), with a blank
	 * before and behind each. "" means that the whole command is shared, and NULL that rank 0
	 * does everything alone. See also ranks_works_alone().
	 */
	const char *rank_verbs;
};

enum cli_kind {
	CLI_KIND_END,
	CLI_KIND_FLAG,	 /* bool */
	CLI_KIND_STRING, /* const char *, borrowed from argv */
	CLI_KIND_WORD,	 /* one of words, as its index: an enum */
	/* struct word_list: the option is repeated, or its values are separated by commas */
	CLI_KIND_LIST,
	CLI_KIND_UINT,	   /* unsigned int */
	CLI_KIND_U64,	   /* uint64_t */
	CLI_KIND_DOUBLE,   /* double, finite */
	CLI_KIND_SIZE,	   /* uint64_t, in bytes: "4k", "16MiB" */
	CLI_KIND_DURATION, /* double, in seconds: "10ms", "1s", "5m" */
	CLI_KIND_AGE,  /* double, in seconds, always with a unit (a wrong one destroys): "30d" */
	CLI_KIND_TIME, /* uint64_t, CLOCK_REALTIME in ns: ISO 8601, or @seconds */
	CLI_KIND_OPERANDS, /* no option: least to most operands are expected, which help names */
	CLI_KIND_CHOICE,   /* no option: least to most of the options in help must be given */
};

struct cli_option {
	const char *name; /* without dashes */
	char letter;	  /* short form, or 0 for none */
	uint8_t kind;
	const char *arg; /* placeholder in the help; NULL for flags */
	void *out;	 /* receives the value; unchanged if the option is not given */
	const char *help;
	/*
	 * The members below may be left out. A value is text as a user writes it: "10ms". The
	 * default is stored before parsing; the bounds hold for what the user gives.
	 */
	const char *standard;
	const char *from, *to, *above, *below; /* bounds of a number */
	const char *const *words;	       /* CLI_KIND_WORD: ended by NULL */
	bool required;
	/*
	 * CLI_KIND_STRING: the value names a file that is written, or a file or store that is read,
	 * as all operands are. An output that is an input, or lies in one, is refused.
	 */
	bool is_output, is_input;
	/*
	 * These are names of options, separated by blanks: the option needs one of `with` and none
	 * of `without` beside it.
	 */
	const char *with, *without;
	size_t least, most; /* CLI_KIND_OPERANDS, CLI_KIND_CHOICE */
};

/*
 * Each of these macros makes one line of a table of options. Its arguments are name, letter, arg,
 * out and help of struct cli_option, and further members by name; a flag has no arg.
 */
#define CLI_OPTION(k, n, l, a, o, ...)                                            \
	{                                                                         \
		.name = n, .letter = l, .kind = CLI_KIND_##k, .arg = a, .out = o, \
		.help = __VA_ARGS__                                               \
	}
#define CLI_FLAG(name, letter, out, ...) CLI_OPTION(FLAG, name, letter, NULL, out, __VA_ARGS__)
#define CLI_STRING(...)			 CLI_OPTION(STRING, __VA_ARGS__)
#define CLI_WORD(...)			 CLI_OPTION(WORD, __VA_ARGS__)
#define CLI_LIST(...)			 CLI_OPTION(LIST, __VA_ARGS__)
#define CLI_UINT(...)			 CLI_OPTION(UINT, __VA_ARGS__)
#define CLI_U64(...)			 CLI_OPTION(U64, __VA_ARGS__)
#define CLI_DOUBLE(...)			 CLI_OPTION(DOUBLE, __VA_ARGS__)
#define CLI_SIZE(...)			 CLI_OPTION(SIZE, __VA_ARGS__)
#define CLI_DURATION(...)		 CLI_OPTION(DURATION, __VA_ARGS__)
#define CLI_AGE(...)			 CLI_OPTION(AGE, __VA_ARGS__)
#define CLI_TIME(...)			 CLI_OPTION(TIME, __VA_ARGS__)
#define CLI_END				 CLI_OPTION(END, NULL, 0, NULL, NULL, NULL)
/*
 * These are rules of a table: they say how many operands there are ("one net"), and how many of the
 * options.
 */
#define CLI_ANY				 SIZE_MAX
#define CLI_OPERANDS(least, most, help)	 CLI_RULE(OPERANDS, least, most, help)
#define CLI_CHOICE(least, most, options) CLI_RULE(CHOICE, least, most, options)
#define CLI_RULE(k, from, to, text)                                           \
	{                                                                     \
		.kind = CLI_KIND_##k, .help = text, .least = from, .most = to \
	}

struct cli {
	const struct command *command;
	/* number of operands; before cli_parse() of everything after the command's name */
	int argc;
	char **argv; /* argv[0..argc-1], without a program name in front */
	bool json;
	struct teller teller; /* for library code; its maker names this command line */
	int status;	      /* exit code to return where cli_parse() returned false */
};

/*
 * Parses cli->argv by the table, which ends with CLI_END. Returns true to continue; the operands
 * are then in argc and argv. Returns false where help was printed, or where the usage was wrong and
 * a line said so; the command then returns cli->status.
 */
bool cli_parse(struct cli *cli, const struct cli_option *options);

struct cli_verb {
	const char *name;	     /* NULL ends a table */
	int (*run)(struct cli *cli); /* as that of a command */
};

/*
 * For commands with verbs (`qpn solve`): removes the first operand from argv if it is in the table
 * and returns its index. Otherwise says what was expected and returns -1 with status set. --help in
 * its place prints the command's help. To be called before cli_parse(). A table has at most 16
 * verbs.
 */
int cli_verb(struct cli *cli, const struct cli_verb *verbs);
/*
 * Runs the verb that cli_verb() finds, and returns its exit code; otherwise the status that
 * cli_verb() has set.
 */
int cli_run_verb(struct cli *cli, const struct cli_verb *verbs);

/*
 * Returns 0, or an exit code after it said that the file output, which name stands for, is the
 * input or lies in it.
 */
int cli_check_output(const struct cli *cli, const char *name, const char *output,
		     const char *input);

/*
 * Print one line on standard error, "blkcast NAME: ...", and return the exit code: CLI_BAD_INPUT
 * for wrong usage; for an err by its code: CLI_BAD_INPUT for invalid or missing input, CLI_FAILED
 * otherwise.
 */
int cli_usage(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int cli_fail(const struct cli *cli, const struct err *err);
int cli_no_memory(const struct cli *cli);
/* Prints a sentence for a person, unless --quiet was given. */
void cli_note(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns the exit code for an errno, as cli_fail() chooses it. */
int cli_status_of(int code);

/*
 * Returns the name with the least edit distance to got, where it is near enough to suggest;
 * otherwise NULL.
 */
const char *cli_nearest(const char *got, const char *const *names, size_t nr);

/*
 * The functions below are the last steps of a command.
 */
/*
 * Writes the page of the answer to report_path (NULL: no page). Then it writes the answer to
 * standard output, as JSON where --json was given and as text otherwise. A NULL answer counts as
 * out of memory. The answer is freed in every case. Returns 0 or -errno.
 */
int cli_show(const struct cli *cli, struct answer *a, const char *report_path, struct err *err);
/*
 * Adds the member "provenance" to an answer that was made from recordings, models or campaigns, as
 * cli_show() does by itself. An answer within a page of serve has none: its readers are not told
 * the paths of the server.
 */
void cli_show_provenance(const struct cli *cli, struct answer *a);
/*
 * Prints a value, for results that are no answer, and gives its reference up. NULL counts as out of
 * memory. Returns 0, -ENOMEM or -EIO.
 */
int cli_show_json(json_t *value) __attribute__((warn_unused_result));
/*
 * Prints what draw() writes, in the language of graphviz, as SVG. Returns the exit status of the
 * command.
 */
int cli_show_drawing(const struct cli *cli, void (*draw)(const void *model, FILE *dot),
		     const void *model);
/* Writes a text to standard output and releases it. Returns 0, its kept failure, or -EIO. */
int cli_show_text(struct buf *text);

/*
 * What a command adds to the message of a library that failed by a code of its own: the option that
 * helps. The code 0 ends a table.
 */
struct cli_hint {
	int code; /* a positive errno */
	const char *text;
};

/*
 * Adds the text for ret to the message, if the table has one. Returns -EINVAL then, because what is
 * wrong is the input, and ret otherwise.
 */
int cli_hint(int ret, const struct cli_hint *hints, struct err *err);

/*
 * Returns the exit status of a command: status where ret is 0, otherwise that of the failure, which
 * is printed on standard error. ret is 0 or -errno. Where err has no message yet, the system's
 * message for ret is used.
 */
int cli_finish(const struct cli *cli, int ret, struct err *err, int status);

/* Runs the command of commands[0..nr-1] that argv names, or help. Returns main's exit code. */
int cli_main(int argc, char **argv, const struct command *const *commands, size_t nr);

#endif
