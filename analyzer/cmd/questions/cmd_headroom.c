// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/questions/question_end.h"
#include "analyzer/question/headroom_question.h"

static int cmd_headroom_ask(struct cli *cli, struct headroom_question *h)
{
	struct question *q = &h->of;
	const char *report = NULL;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&q->choice),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &q->slo, "read.p95=20ms, write.mean=5ms, ...",
			 .required = true),
		PREDICTOR_OPTIONS(&q->by),
		CLI_STRING("storage", 0, "FILE", &q->storage,
			   "or simulate what is stored on this device (blkcast storage calibrate)"),
		CLI_DURATION("duration", 0, "TIME", &q->study.run.duration_s,
			     "--storage: simulate only the beginning, default all"),
		CLI_STRING("intervals", 0, "TABLE.csv", &h->intervals,
			   "--storage: widen by these applications, as study does"),
		CLI_STRING("load", 0, "NAME", &h->load,
			   "the variable to scale; default clients, rate or depth"),
		CLI_STRING("report", 0, "FILE", &report, "the knee curve, an HTML page"),
		CLI_CHOICE(1, 1, "model db storage"),
		CLI_END,
	};
	int ret;

	if (!question_parse(cli, q, options, 1, 0))
		return cli->status;
	if (q->storage && h->load)
		return cli_usage(cli, "--load: not of a simulated device, where the stored "
				      "requests say whether clients or the rate can grow");
	if (q->storage && (q->choice.sel.begin_real_ns || q->choice.sel.end_real_ns))
		return cli_usage(cli, "--begin, --end: of answers by --model or --db; --duration "
				      "says how much is simulated");
	if (!q->storage && (h->intervals || q->study.run.duration_s > 0))
		return cli_usage(cli, "--intervals, --duration: expected with --storage");
	ret = headroom_question_answer(&a, h, &err);
	return question_end(cli, q, ret, a, report, &err);
}

static int cmd_headroom_run(struct cli *cli)
{
	struct headroom_question *q = calloc(1, sizeof(*q));
	int ret;

	if (!q)
		return cli_no_memory(cli);
	ret = cmd_headroom_ask(cli, q);
	load_options_release(&q->of.choice);
	headroom_question_release(q);
	free(q);
	return ret;
}

const struct command command_headroom = {
	.name = "headroom",
	.summary = "how many times today's load a target bears before an objective breaks",
	.usage = "PROFILE.json --slo OBJECTIVE,... (--model MODEL.json,... | --db FILE | --storage "
		 "DEVICE.json) [--report FILE.html]",
	.example = "blkcast headroom today.json --slo read.p95=20ms --db results.sqlite\n"
		   "blkcast fit --db results.sqlite --response read_p95_s -o p95.json\n"
		   "blkcast headroom today.json --slo read.p95=20ms --model p95.json --report "
		   "headroom.html",
	.details =
		"The model's load variable (clients, rate or depth) is multiplied until the "
		"prediction breaks the\nobjective, within the range that was measured; the "
		"interval is where the ends of the prediction's\n90 % interval break it. Clients "
		"that think do so as long as today, by the interactive response-time\nlaw (--load "
		"think: there are as many, and they think less); that needs models of read_s and "
		"write_s\nbeside the objective's. Several devices in the profile add up. With "
		"--storage the stored requests are\n"
		"multiplied and simulated on a device that blkcast storage calibrate has made: "
		"clients are copied,\n"
		"and requests that come by themselves come faster. Exit status 1 where an "
		"objective is\nbroken today or the target cannot carry the load, 3 where the load "
		"lies outside the model.",
	.run = cmd_headroom_run,
};
