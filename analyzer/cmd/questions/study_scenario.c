// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cmd/questions/question_end.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/question/scenario_question.h"

int study_scenario(struct cli *cli)
{
	struct scenario_question q = { .of.teller = &cli->teller };
	const char *report = NULL;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		CLI_LIST("storage", 0, "[NAME=]FILE,...", &q.storages,
			 "simulate what is stored on this device (blkcast storage calibrate) "
			 "instead of the files' storages, or of the one of that name"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &q.of.slo,
			 "exit status 1 where a VM breaks it: read.mean=20ms, write.mean=5ms, ..."),
		CLI_STRING("report", 0, "FILE", &report, "an HTML page"),
		CLI_OPERANDS(1, SCENARIOS_MAX, "the files of some scenarios"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	lsq_single_thread();
	q.paths = (const char *const *)cli->argv;
	q.nr = (size_t)cli->argc;
	ret = scenario_question_answer(&a, &q, &err);
	return question_end(cli, &q.of, ret, a, report, &err);
}
