// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/report/collect/report_reading.h"
#include "analyzer/report/fleet/fleet_reading.h"
#include "analyzer/report/page/report_output.h"
#include "base/text/shell_word.h"
#include "base/text/units.h"

/* How the page or picture is made, and what it is judged by. */
struct report_options {
	struct report_output output;
	const char *figure, *objectives_file;
	struct word_list slo;
	struct time_objectives objectives;
	bool together;
};

static void list_words(struct buf *out, const char *option, const struct word_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		shell_word(out, option);
		shell_word(out, list->items[i]);
	}
}

static void time_words(struct buf *out, const char *option, uint64_t real_ns)
{
	char when[UNITS_BYTES];

	if (!real_ns)
		return;
	units_instant(real_ns, true, 9, when);
	shell_word(out, option);
	shell_word(out, when);
}

/*
 * Writes the options that choose the same data again, as words of a shell. If `with` is set, these
 * include hosts and devices.
 */
static void selection_words(struct buf *out, const struct selection *sel, const struct cli *cli,
			    bool with)
{
	if (with) {
		list_words(out, "--host", &sel->hosts);
		list_words(out, "--device", &sel->devices);
	}
	list_words(out, "--cgroup", &sel->cgroups);
	list_words(out, "--process", &sel->processes);
	list_words(out, "--operation", &sel->operations);
	time_words(out, "--begin", sel->begin_real_ns);
	time_words(out, "--end", sel->end_real_ns);
	if (sel->leave_out_own)
		shell_word(out, "--leave-out-own");
	if (sel->dir) {
		shell_word(out, "--store");
		shell_word(out, sel->dir);
	}
	for (int i = 0; i < cli->argc; i++)
		shell_word(out, cli->argv[i]);
	buf_put_u8(out, 0);
}

/*
 * Prints the verdicts on the objectives: beside a page that is written to a file on standard
 * output, otherwise on standard error.
 */
static int cmd_report_print_objectives(const struct report *r, const struct report_options *o)
{
	struct answer *a = slo_answer(r);
	int ret = a ? answer_print(a, ANSWER_TEXT, o->output.path ? stdout : stderr) : -ENOMEM;

	answer_free(a);
	return ret;
}

/* An objective that is broken anywhere counts more than one that cannot be judged. */
static int cmd_report_verdict(const struct report *r)
{
	if (r->slo.nr_broken)
		return CLI_FAILED;
	return r->slo.nr_untold ? CLI_CANNOT_TELL : CLI_DONE;
}

/* Reads --objectives and --slo, which has the form of headroom's. */
static int cmd_report_objectives(struct report_options *o, struct err *err)
{
	int ret = o->objectives_file ? time_objectives_read(&o->objectives, o->objectives_file, err)
				     : 0;

	for (size_t i = 0; i < o->slo.nr && !ret; i++) {
		ret = slo_objective_add(&o->objectives, o->slo.items[i], err);
		if (ret == -EDOM)
			ret = err_set(err, EINVAL,
				      "--slo %s: a report judges .p50 to .p9999, not the mean",
				      o->slo.items[i]);
	}
	return ret;
}

/* Writes the page or picture, and prints what belongs beside it. */
static int cmd_report_put(struct cli *cli, const struct report *r, struct report_options *o,
			  struct err *err)
{
	const struct figure *f = o->output.figure;
	int ret = report_output_save(&o->output, r, err);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_show_json(report_output_json(&o->output, r));
	else if (r->collect->objectives)
		ret = cmd_report_print_objectives(r, o);
	if (!ret && f && f->per_device && r->collect->nr_devices > 1)
		cli_note(cli, "of %s, the busiest of %zu devices; --device chooses another",
			 r->collect->devices[r->busiest[0]]->label, r->collect->nr_devices);
	return ret;
}

static int cmd_report_perform(struct cli *cli, struct selection *sel, struct report_options *o)
{
	struct report_reading reading = { .scan = NULL };
	struct buf source, selection;
	struct err err = { 0 };
	struct report *r = NULL;
	bool is_empty = false, is_done = false;
	int ret, verdict = CLI_DONE;

	buf_init(&source);
	buf_init(&selection);
	selection_words(&source, sel, cli, false);
	selection_words(&selection, sel, cli, true);
	ret = source.error ? source.error : selection.error;
	if (ret)
		goto out;
	ret = report_reading_open(&reading, &cli->teller, sel, &o->objectives, &is_done, &err);
	if (ret || is_done)
		goto out;
	ret = report_reading_report(&r, &reading, &cli->teller, &is_empty, &err);
	if (ret)
		goto out;
	r->source = (const char *)source.data;
	r->selection = (const char *)selection.data;
	ret = cmd_report_put(cli, r, o, &err);
	verdict = cmd_report_verdict(r);
out:
	report_free(r);
	report_reading_release(&reading);
	buf_release(&source);
	buf_release(&selection);
	if (ret == -E2BIG)
		err_suffix(&err, ": choose some by --host and --device");
	if (ret && is_empty)
		return selection_end(cli, sel) == CLI_DONE ? CLI_FAILED : CLI_BAD_INPUT;
	return cli_finish(cli, ret, &err, verdict);
}

/* All hosts and devices at once, as a page beside the answer, or one table of it as CSV. */
static int cmd_report_together(struct cli *cli, struct selection *sel,
			       const struct report_options *o)
{
	enum fleet_table first = o->figure ? fleet_table_named(o->figure) : FLEET_DEVICES;
	struct fleet_reading g = { .fleet = NULL };
	struct err err = { 0 };
	struct answer *a;
	bool is_empty, is_done = false;
	int ret;

	if (o->figure && !o->output.csv)
		return cli_usage(cli, "--figure: with --together expected --csv with it");
	if (o->output.csv && (o->output.path || cli->json))
		return cli_usage(cli, "--csv: with --together it goes to standard output");
	if (first == NR_FLEET_TABLES)
		return cli_usage(
			cli, "--figure: with --together expected devices, hosts or week; got '%s'",
			o->figure);
	ret = fleet_reading_open(&g, &cli->teller, sel, &is_done, &err);
	is_empty = !ret && !is_done && fleet_is_empty(g.fleet);
	if (ret || is_done || is_empty)
		goto out;
	a = fleet_reading_answer(&g, first, cli->teller.utc);
	if (o->output.csv) {
		ret = answer_print(a, ANSWER_CSV, stdout);
		answer_free(a);
	} else {
		ret = cli_show(cli, a, o->output.path, &err);
	}
out:
	fleet_reading_release(&g);
	return is_empty ? selection_end(cli, sel) : cli_finish(cli, ret, &err, CLI_DONE);
}

/* Finds the figure, and checks what a page or picture needs beside it. Returns 0 or the status. */
static int cmd_report_check(const struct cli *cli, struct report_options *o)
{
	struct report_output *output = &o->output;
	struct buf names;

	output->figure = o->figure ? figure_find(o->figure) : NULL;
	if (o->figure && !output->figure) {
		buf_init(&names);
		figure_names(&names);
		buf_put_u8(&names, 0);
		cli_usage(cli, "--figure: expected one of %s; got '%s'",
			  names.error ? "the figures" : (const char *)names.data, o->figure);
		buf_release(&names);
		return CLI_BAD_INPUT;
	}
	if (output->figure && !output->figure->draw && !output->csv)
		return cli_usage(cli, "--figure %s: expected --csv with it, because it is a table",
				 o->figure);
	if (output->csv && !output->figure)
		return cli_usage(cli, "--csv: expected --figure NAME with it");
	if (!output->path && !output->figure && isatty(STDOUT_FILENO))
		return cli_usage(cli, "expected -o FILE: a page is not for a terminal");
	if (cli->json && !output->path)
		return cli_usage(cli, "--json: expected -o FILE for the page beside it");
	return 0;
}

static int cmd_report_run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct report_options o = { .figure = NULL };
	struct err err = { 0 };
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_STRING("output", 'o', "FILE", &o.output.path, "the page to write",
			   .is_output = true),
		CLI_STRING("figure", 0, "NAME", &o.figure, "one picture alone, as SVG"),
		CLI_FLAG("csv", 0, &o.output.csv, "with --figure: its data as CSV"),
		CLI_FLAG("together", 0, &o.together, "all hosts and devices at once: the fleet",
			 .without = "slo objectives"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &o.slo,
			 "judge read.p95=20ms, write.p99=50ms, ..."),
		CLI_STRING("objectives", 0, "FILE", &o.objectives_file,
			   "judge the objectives of a file, as serve does"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options) || !selection_take(cli, &sel))
		return cli->status;
	if (o.together) {
		ret = cmd_report_together(cli, &sel, &o);
		goto out;
	}
	ret = cmd_report_check(cli, &o);
	if (ret)
		goto out;
	ret = cmd_report_objectives(&o, &err);
	ret = ret ? cli_finish(cli, ret, &err, CLI_DONE) : cmd_report_perform(cli, &sel, &o);
out:
	selection_release(&sel);
	return ret;
}

const struct command command_report = {
	.name = "report",
	.has_one_heap = true,
	.rank_verbs = "",
	.summary = "a self-contained HTML page with pictures",
	.usage = "[SELECTION] (--store DIR | FILE...) -o report.html\n"
		 "[SELECTION] (--store DIR | FILE...) --figure NAME [--csv] [-o FILE]\n"
		 "[SELECTION] (--store DIR | FILE...) --together [-o fleet.html]\n"
		 "[SELECTION] (--store DIR | FILE...) --together --csv "
		 "[--figure devices|hosts|week]",
	.example =
		"blkcast report --store traces --device loop0 -o report.html\n"
		"blkcast report --store traces --slo read.p95=20ms,write.p99=50ms -o report.html\n"
		"blkcast report --store traces --together -o fleet.html",
	.details =
		"The page needs nothing but itself: it opens without a network, in light and dark, "
		"and prints.\nUnder every picture stands the command that writes its data.\n"
		"Objectives are judged over the period, on each device that they name; exit status "
		"1\nwhere one is broken, 3 where one cannot be judged for want of requests.\n\n"
		"Figures: heatmap requests throughput devices in-flight tail size-latency sizes\n"
		"sizes-bytes sequential seek outstanding interarrival flush who access "
		"miss-ratio regions\n\n"
		"who is a table alone, of processes and control groups; --json has it as well.",
	.run = cmd_report_run,
};
