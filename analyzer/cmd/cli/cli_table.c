// SPDX-License-Identifier: Apache-2.0
/* cli_table: tables of options: parsing by them, their rules, and the help that they print. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/option_value.h"
#include "base/memory/buf.h"
#include "base/system/output_file.h"

#define MAX_OPTIONS 64
#define MAX_VERBS   16
/* Names are shorter than this; a longer word is not a misspelling of one. */
#define NEAREST_LETTERS 32
#define HELP_COLUMN	28

/* Returns what stands behind the help of an option: its bounds and its default. */
static void help_range(const struct cli_option *o, struct buf *words)
{
	option_value_bounds(o, words);
	if (o->standard && *o->standard)
		buf_printf(words, "%s default %s", words->len ? "," : "", o->standard);
	buf_put_u8(words, 0);
}

static void help_option(const struct cli_option *o)
{
	struct buf left, range;

	buf_init(&left);
	buf_init(&range);
	if (o->letter)
		buf_printf(&left, "  -%c, --%s", o->letter, o->name);
	else
		buf_printf(&left, "      --%s", o->name);
	buf_printf(&left, "%s%s", o->arg ? " " : "", o->arg ? o->arg : "");
	buf_put_u8(&left, 0);
	help_range(o, &range);
	if (left.error || range.error)
		return;
	printf("%-*s", HELP_COLUMN, (const char *)left.data);
	if (left.len > HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	printf("%s", o->help);
	if (range.len > 1)
		printf(" (%s)", (const char *)range.data + 1);
	putchar('\n');
	buf_release(&left);
	buf_release(&range);
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
		if (options->name)
			help_option(options);
	if (command->details)
		printf("\n%s\n", command->details);
}

/* This struct holds the table of a command, joined with the options that every command has. */
struct cli_table {
	struct cli_option all[MAX_OPTIONS]; /* ended by CLI_END */
	bool given[MAX_OPTIONS];	    /* by option: whether the user gave it */
	size_t nr;
	bool help;
};

static bool table_join(struct cli *cli, struct cli_table *t, const struct cli_option *options)
{
	const struct cli_option shared[] = {
		CLI_FLAG("json", 0, &cli->json, "results as JSON"),
		CLI_FLAG("utc", 0, &cli->teller.utc, "times in UTC instead of local time"),
		CLI_FLAG("quiet", 'q', &cli->teller.quiet, "no progress, no remarks"),
		CLI_FLAG("help", 'h', &t->help, "this text"),
		CLI_END,
	};

	for (; options->kind != CLI_KIND_END && t->nr < MAX_OPTIONS; options++)
		t->all[t->nr++] = *options;
	if (t->nr + sizeof(shared) / sizeof(*shared) > MAX_OPTIONS) {
		cli->status = cli_usage(cli, "has more than %d options", MAX_OPTIONS);
		return false;
	}
	memcpy(t->all + t->nr, shared, sizeof(shared));
	t->nr += sizeof(shared) / sizeof(*shared) - 1;
	return true;
}

/* Converts the table to getopt's two forms. */
static void getopt_tables(const struct cli_option *all, struct option *longs, char *shorts)
{
	size_t nr = 0, at = 0;

	shorts[at++] = ':';
	for (size_t i = 0; all[i].kind != CLI_KIND_END; i++) {
		if (!all[i].name)
			continue; /* a rule is no option */
		longs[nr++] = (struct option){
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
	longs[nr] = (struct option){ 0 };
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
		names[nr] = all[nr].name ? all[nr].name : "";
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
	struct buf expected;
	int ret = 0;

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
		buf_init(&expected);
		if (!option_value_store(o, value, &expected))
			ret = cli_usage(cli, "--%s: expected %.*s, got '%s'", o->name,
					(int)expected.len, (const char *)expected.data, value);
		buf_release(&expected);
		return ret;
	}
}

/* Stores the defaults of the table. */
static void table_defaults(const struct cli_table *t)
{
	struct buf expected;

	buf_init(&expected);
	for (size_t i = 0; i < t->nr; i++) {
		const struct cli_option *o = &t->all[i];

		if (o->standard && o->kind == CLI_KIND_STRING)
			*(const char **)o->out = o->standard;
		else if (o->standard)
			option_value_store(o, o->standard, &expected);
	}
	buf_release(&expected);
}

/* Returns how many of the options, separated by blanks, the user gave. */
static size_t table_given(const struct cli_table *t, const char *options)
{
	size_t nr = 0;

	for (size_t len; *options; options += len + (options[len] == ' ')) {
		len = strcspn(options, " ");
		for (size_t i = 0; i < t->nr; i++)
			nr += t->given[i] && t->all[i].name && strlen(t->all[i].name) == len &&
			      !memcmp(t->all[i].name, options, len);
	}
	return nr;
}

/* Appends the options, separated by blanks, as "--a, --b and --c". */
static void table_words(struct buf *words, const char *options, const char *last)
{
	for (size_t len; *options; options += len + (options[len] == ' ')) {
		len = strcspn(options, " ");
		if (words->len)
			buf_printf(words, "%s", options[len] ? ", " : last);
		buf_printf(words, "--%.*s", (int)len, options);
	}
	buf_put_u8(words, 0);
}

static int rule_choice(const struct cli *cli, const struct cli_option *o)
{
	struct buf words;
	int ret;

	buf_init(&words);
	table_words(&words, o->help, o->least && o->most != 1 ? " or " : " and ");
	ret = cli_usage(cli, "expected %s%s",
			!o->least      ? "at most one of "
			: o->most == 1 ? "one of "
				       : "",
			words.error ? "an option" : (const char *)words.data);
	buf_release(&words);
	return ret;
}

static int rule_beside(const struct cli *cli, const struct cli_option *o, bool is_missing)
{
	struct buf words;
	int ret;

	buf_init(&words);
	table_words(&words, is_missing ? o->with : o->without, " or ");
	ret = cli_usage(cli, "--%s: expected %s%s%s", o->name, is_missing ? "" : "without ",
			words.error ? "another" : (const char *)words.data,
			is_missing ? " with it" : "");
	buf_release(&words);
	return ret;
}

int cli_check_output(const struct cli *cli, const char *name, const char *output, const char *input)
{
	return !output_file_hits(output, input)
		       ? 0
		       : cli_usage(cli,
				   "%s: expected a file apart from what is read: %s is %s or lies "
				   "in it",
				   name, output, input);
}

/* Checks an option that names an output against all inputs. Returns 0 or the exit code. */
static int table_check_output(const struct cli *cli, const struct cli_table *t, size_t i)
{
	const char *output = *(const char **)t->all[i].out;
	char name[64];
	int ret = 0;

	snprintf(name, sizeof(name), "--%s", t->all[i].name);
	for (int k = 0; k < cli->argc && !ret; k++)
		ret = cli_check_output(cli, name, output, cli->argv[k]);
	for (size_t k = 0; k < t->nr && !ret; k++)
		if (t->given[k] && t->all[k].is_input)
			ret = cli_check_output(cli, name, output, *(const char **)t->all[k].out);
	return ret;
}

/* Checks one line of the table. Returns 0, or the exit code after reporting what is wrong. */
static int table_check_line(const struct cli *cli, const struct cli_table *t, size_t i)
{
	const struct cli_option *o = &t->all[i];
	size_t nr;

	switch (o->kind) {
	case CLI_KIND_OPERANDS:
		nr = (size_t)cli->argc;
		if (nr < o->least || nr > o->most)
			return cli_usage(cli, "expected %s, got %zu operand%s", o->help, nr,
					 nr == 1 ? "" : "s");
		return 0;
	case CLI_KIND_CHOICE:
		nr = table_given(t, o->help);
		return nr < o->least || nr > o->most ? rule_choice(cli, o) : 0;
	default:
		if (!t->given[i])
			return !o->required ? 0
					    : cli_usage(cli, "--%s: expected %s", o->name, o->help);
		if (o->with && !table_given(t, o->with))
			return rule_beside(cli, o, true);
		if (o->without && table_given(t, o->without))
			return rule_beside(cli, o, false);
		return o->is_output ? table_check_output(cli, t, i) : 0;
	}
}

static int table_check(const struct cli *cli, const struct cli_table *t)
{
	int ret = 0;

	for (size_t i = 0; i < t->nr && !ret; i++)
		ret = table_check_line(cli, t, i);
	return ret;
}

/* Reads the options of argv. Returns false with cli->status set where the command ends here. */
static bool table_read(struct cli *cli, struct cli_table *t)
{
	struct option longs[MAX_OPTIONS];
	char shorts[2 * MAX_OPTIONS + 2];
	char **words = cli->argv - 1; /* getopt skips the command's name */
	int got;

	getopt_tables(t->all, longs, shorts);
	optind = 0;
	opterr = 0;
	while ((got = getopt_long(cli->argc + 1, words, shorts, longs, NULL)) != -1) {
		const struct cli_option *o;

		if (got == '?') {
			cli->status = unknown_option(cli, t->all, words[optind - 1]);
			return false;
		}
		o = option_of(t->all, got == ':' ? optopt : got);
		if (got == ':') {
			cli->status = cli_usage(cli, "--%s: expected %s after it", o->name, o->arg);
			return false;
		}
		cli->status = option_set(cli, o, optarg);
		if (cli->status)
			return false;
		t->given[o - t->all] = true;
		if (t->help) {
			help_print(cli->command, t->all);
			cli->status = CLI_DONE;
			return false;
		}
	}
	cli->argc -= optind - 1;
	cli->argv = words + optind;
	return true;
}

bool cli_parse(struct cli *cli, const struct cli_option *options)
{
	struct cli_table t = { .nr = 0 };

	if (!table_join(cli, &t, options))
		return false;
	table_defaults(&t);
	if (!table_read(cli, &t))
		return false;
	cli->status = table_check(cli, &t);
	return !cli->status;
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
