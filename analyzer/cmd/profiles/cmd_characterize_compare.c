// SPDX-License-Identifier: Apache-2.0
/* characterize prints profiles of a trace, and compare judges two profiles or traces. */
#include <errno.h>
#include <math.h>

#include "analyzer/characterize/characterize.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/shared_options.h"
#include "analyzer/question/compare_question.h"

static int cmd_characterize_run(struct cli *cli)
{
	struct selection sel = { 0 };
	struct characterize q = { .teller = &cli->teller, .json = cli->json, .out = stdout };
	double window_s = 0, phi;
	bool together = false, who = false;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_DURATION("window", 'w', "TIME", &window_s,
			     "a profile per period of this length; default: one for all",
			     .from = "1ms", .to = "11574d"),
		CLI_DOUBLE("phi", 0, "PER_S", &phi, "samples of clients per second",
			   .standard = "1", .above = "0", .to = "1000"),
		CLI_UINT("subset", 0, "N", &q.config.window.subset_requests,
			 "requests per subset of the access pattern, default 4096", .to = "32768"),
		CLI_UINT("samples", 0, "N", &q.config.window.mrc_samples,
			 "of the miss-ratio curve; default: 65536, or what memory allows",
			 .from = "64", .to = "65536"),
		CLI_FLAG("idle", 0, &q.config.idle, "devices without a request too"),
		CLI_FLAG("together", 0, &together,
			 "only the sum over all hosts and devices, second by second",
			 .without = "window"),
		CLI_FLAG("who", 0, &who,
			 "only the processes and control groups that made the requests",
			 .without = "together window"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options) || !selection_take(cli, &sel))
		return cli->status;
	q.json = cli->json;
	q.form = who ? CHARACTERIZE_WHO : together ? CHARACTERIZE_TOGETHER : CHARACTERIZE_PROFILES;
	q.config.window_ns = (uint64_t)llround(window_s * 1e9);
	q.config.window.client_interval_ns = (uint64_t)llround(1e9 / phi);
	/* The lines of periods show only counts and times (profile_text_line()). */
	q.config.window.cheap = together || who || (q.config.window_ns && !cli->json);
	ret = characterize(&q, &sel, &err);
	ret = q.is_empty ? selection_end(cli, &sel) : cli_finish(cli, ret, &err, CLI_DONE);
	selection_release(&sel);
	return ret;
}

const struct command command_characterize = {
	.name = "characterize",
	.has_one_heap = true,
	.rank_verbs = "",
	.summary = "the workload profile of a trace or a part of it",
	.usage = "[SELECTION] (--store DIR | FILE...)",
	.example = "blkcast characterize --store traces --device loop0 --window 1s",
	.details =
		"One profile per host and device; with --json an array of blkcast.profile/1. A "
		"request belongs\nto the period in which it completed. Percentiles with fewer "
		"than ten requests beyond them\nare left blank. Of several devices the sum "
		"follows: its P95, P99 and maximum per second,\nwho made the maximum, and what "
		"adding up each one's own maximum would give;\nwith --together that alone, as JSON "
		"blkcast.together/1. --who prints the twenty\nprocesses and control groups with "
		"most requests, and their shares of all requests, bytes\nand response times, as "
		"JSON blkcast.issuers/1.",
	.run = cmd_characterize_run,
};

static int cmd_compare_run(struct cli *cli)
{
	struct compare_question q = { .teller = &cli->teller, .out = stdout };
	struct selection sel = { 0 };
	const char *report = NULL;
	bool fail_on_worse = false;
	const struct cli_option options[] = {
		SELECTION_OPTIONS(&sel),
		CLI_DOUBLE("tolerance", 0, "RATIO", &q.tolerance_ratio,
			   "differences of this share do not matter", .standard = "0.05",
			   .from = "0", .below = "1"),
		REPORT_OPTION(&report, "an HTML page of it"),
		CLI_FLAG("fail-on-worse", 0, &fail_on_worse, "exit 1 where any verdict is worse"),
		CLI_OPERANDS(2, 2, "two operands: profiles (JSON), stores or segment files"),
		CLI_END,
	};
	struct err err = { 0 };
	int ret = 0;

	if (!cli_parse(cli, options))
		return cli->status;
	if (sel.dir)
		return cli_usage(cli, "expected two operands: profiles (JSON), stores or "
				      "segment files");
	q.paths = cli->argv;
	q.json = cli->json;
	q.pairs = json_array();
	if (report) {
		q.page = answer_new("blkcast.compare/1", "Comparison");
		ret = q.page ? 0 : -ENOMEM;
	}
	if (ret == 0)
		ret = compare_question_ask(&q, &sel, &err);
	if (ret == 0 && q.answer)
		ret = cli_show_json(q.answer);
	if (ret == 0 && report)
		ret = compare_question_save(&q, report, &err);
	json_decref(q.pairs);
	answer_free(q.page);
	return cli_finish(cli, ret, &err,
			  fail_on_worse && q.verdicts[VERDICT_WORSE] ? CLI_FAILED : CLI_DONE);
}

const struct command command_compare = {
	.name = "compare",
	.has_one_heap = true,
	.summary = "two profiles or traces, dimension by dimension, with verdicts",
	.usage = "[SELECTION] A B [--report FILE.html]",
	.example = "blkcast compare before.json after.json --fail-on-worse\n"
		   "blkcast compare before.json after.json --report comparison.html",
	.details =
		"The text begins with what differs most: first whether the loads are alike (rates, "
		"mix, sizes),\nthen what became better or worse. Its rows are sorted by how much "
		"changed; --json has them all in\na fixed order.\n\n"
		"A and B are profiles (JSON, one or an array), stores or segment files. Intervals "
		"are of 95 %:\nby batch means where there are at least eight windows, else by "
		"approximations that take\nrequests as independent; --json names the method of "
		"each. `same` means that the whole\ninterval lies within the tolerance, better and "
		"worse that none of it does.",
	.run = cmd_compare_run,
};
