// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/selection_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/question/compare_question.h"

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
		CLI_STRING("report", 0, "FILE", &report, "an HTML page of it"),
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
