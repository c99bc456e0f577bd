// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "analyzer/cmd/questions/question_commands.h"
#include "analyzer/question/mimic_question.h"
#include "analyzer/question/replay_question.h"

/* Sends the requests here and now, and shows how long they took. */
static int cmd_mimic_send(const struct cli *cli, const struct mimic_question *q,
			  const char *overwrite, struct err *err)
{
	struct replay_question r = { .teller = q->teller,
				     .sel = q->sel,
				     .target = q->target,
				     .overwrite = overwrite,
				     .duration_s = q->options.duration_s };
	int ret;

	if (q->options.directory)
		return err_set(err, EISDIR, "%s: expected a device or a file", q->target);
	ret = replay_question_run(&r, err);
	if (!ret && cli->json)
		ret = cli_show_json(replay_question_json(&r));
	else if (!ret)
		replay_question_print(&r, stdout);
	replay_question_release(&r);
	return ret;
}

/* Takes the selection of a replay, or the profile. Returns false with cli->status set. */
static bool cmd_mimic_take(struct cli *cli, struct mimic_question *q, bool replay, bool run)
{
	cli->status = 0;
	if (replay && !run && !q->output)
		cli->status = cli_usage(cli, "--replay: expected -o JOB.fio or --run");
	else if (!replay && (cli->argc != 1 || q->sel->dir))
		cli->status = cli_usage(
			cli, "expected one operand: a profile (JSON), a store or a segment");
	else if (replay)
		return selection_take(cli, q->sel);
	return !cli->status;
}

static int cmd_mimic_run(struct cli *cli)
{
	/* These names stand in the order of enum mimic_intensity. */
	static const char *const kinds[] = { "auto", "closed", "open", NULL };
	struct selection sel = { 0 };
	struct mimic_question q = { .teller = &cli->teller, .sel = &sel };
	struct word_list leave_out = { .nr = 0 };
	const char *overwrite = NULL;
	bool replay = false, run = false;
	const struct cli_option options[] = {
		CLI_STRING("target", 't', "PATH", &q.target,
			   "the device, file or folder that the job shall use", .required = true),
		CLI_STRING("overwrite", 0, "PATH", &overwrite,
			   "with --run: the target's path a second time: what it carries may be "
			   "destroyed",
			   .with = "run"),
		CLI_STRING("output", 'o', "JOB.fio", &q.output, "instead of standard output",
			   .is_output = true),
		CLI_WORD("intensity", 0, "KIND", &q.options.intensity,
			 "closed, open, or auto: what the profile looks like", .words = kinds),
		CLI_DURATION("duration", 0, "TIME", &q.options.duration_s,
			     "default: as long as the profile"),
		CLI_LIST("leave-out", 0, "WHAT,...", &leave_out,
			 "discards, bursts, locality: what may differ instead of being refused"),
		CLI_LIST("corrected-by", 0, "RUN.json,...", &q.runs,
			 "profiles of this job's own runs, each corrected by those before it"),
		CLI_U64("seed", 0, "N", &q.options.seed, "of fio's random numbers",
			.standard = "1"),
		CLI_FLAG("replay", 0, &replay,
			 "the selected requests as they were: JOB.fio and its log JOB.fio.log"),
		CLI_FLAG("run", 0, &run,
			 "with --replay: send them here and now, each when what it waited for has "
			 "completed",
			 .with = "replay", .without = "output"),
		SELECTION_OPTIONS(&sel),
		CLI_END,
	};
	struct err err = { 0 };
	int ret;

	if (!cli_parse(cli, options))
		return cli->status;
	if (!cmd_mimic_take(cli, &q, replay, run))
		return cli->status;
	if (question_overwrite_check(cli, overwrite, q.target))
		return CLI_BAD_INPUT;
	q.as_json = cli->json;
	buf_init(&q.text);
	ret = mimic_question_options(&q, &leave_out, &err);
	if (!ret)
		ret = run      ? cmd_mimic_send(cli, &q, overwrite, &err)
		      : replay ? mimic_question_replay(&q, &err)
			       : mimic_question_job(&q, cli->argv[0], &err);
	ret = question_run_hint(ret, q.target, &err);
	if (!ret && q.json)
		ret = cli_show_json(q.json);
	selection_release(&sel);
	buf_release(&q.text);
	return cli_finish(cli, ret, &err, CLI_DONE);
}

const struct command command_mimic = {
	.name = "mimic",
	.summary = "a job of fio that gives a profile back",
	.usage = "PROFILE.json --target PATH [-o JOB.fio]\n"
		 "--replay --run [SELECTION] (--store DIR | FILE...) --target PATH\n"
		 "--replay [SELECTION] (--store DIR | FILE...) --target PATH -o JOB.fio",
	.example = "blkcast mimic before.json --target /dev/vdb -o mimic.fio\nfio mimic.fio\n"
		   "blkcast mimic --replay --run --store traces --device vda --target /dev/vdb",
	.details =
		"Closed loads keep clients, think time and queue depth; open ones their rate, as "
		"Poisson or evenly\nspaced arrivals, or in bursts, which are a log beside the job "
		"(JOB.fio.log). Sizes, mix, sequential ratio per direction, "
		"address range, access distribution and,\nin a folder, the file set follow the "
		"profile. What fio cannot do is refused by name.\n"
		"--replay --run needs no fio: it sends the stored requests, each thread's from a "
		"thread, when those\nthat it had waited for have completed and as much time has "
		"passed as had then, so that a slower\n"
		"target slows the load down as it would the application.\n"
		"Where there are writes, a device in use is refused, and one that carries "
		"something or a file that\n"
		"exists is only taken where --overwrite names it again. fio itself takes no such "
		"care.",
	.run = cmd_mimic_run,
};
