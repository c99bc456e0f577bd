// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "analyzer/cmd/cli/capacity_options.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/questions/question_end.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/question/mix_question.h"

static int study_mix_ask(struct cli *cli, struct mix_question *m)
{
	struct question *q = &m->of;
	struct word_list measure = { .nr = 0 };
	const char *report = NULL;
	uint64_t most;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		CLI_LIST("slo", 0, "OBJECTIVE,...", &q->slo, "read.p95=20ms, write.mean=5ms, ..."),
		LOAD_OPTIONS(&q->choice),
		PREDICTOR_OPTIONS(&q->by),
		CLI_STRING("storage", 0, "FILE", &q->storage,
			   "or simulate what is stored on this device (blkcast storage calibrate)"),
		CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", &measure,
			 "measured requests per second: the capacity, as of blkcast capacity"),
		CLI_U64("most", 0, "N", &most, "of one load to look at", .standard = "64",
			.from = "1", .to = "256"),
		CLI_STRING("report", 0, "FILE", &report, "an HTML page"),
		CLI_CHOICE(1, CLI_ANY, "slo measure"),
		CLI_END,
	};
	int ret;

	if (!question_parse(cli, q, options, 1, MIX_LOADS_MAX))
		return cli->status;
	if (q->slo.nr > MIX_LOADS_MAX)
		return cli_usage(cli, "--slo: expected up to %d", MIX_LOADS_MAX);
	if (predictor_options_given(&q->by) + (q->storage != NULL) != (q->slo.nr > 0))
		return cli_usage(cli, "expected one of --model, --db and --storage beside --slo");
	ret = question_all_is_simulated(cli, q);
	if (ret)
		return ret;
	m->r.mix.most = most;
	m->is_measured = measure.nr;
	ret = m->is_measured ? capacity_measured(&m->capacity, &measure, &err) : 0;
	if (!ret)
		ret = mix_question_answer(&a, m, &err);
	return question_end(cli, q, ret, a, report, &err);
}

int study_mix(struct cli *cli)
{
	struct mix_question *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return cli_no_memory(cli);
	ret = study_mix_ask(cli, q);
	load_options_release(&q->of.choice);
	mix_question_release(q);
	free(q);
	return ret;
}
