// SPDX-License-Identifier: Apache-2.0
/* study: its verbs migrate, consolidate and interference, and the help of all. */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/cmd/questions/question_commands.h"
#include "analyzer/models/num/ranks.h"
#include "analyzer/question/question_words.h"
#include "analyzer/question/study_question.h"

#define RUN_SECONDS 5.0

/* This struct holds the texts that are parsed after the options. */
struct study_words {
	struct word_list leave_out, sizes, reads;
};

/* Checks where the target is, which the table of options cannot say. */
static int cmd_study_check_target(struct cli *cli, const struct study_question *s)
{
	const struct question *q = &s->of;

	if ((s->target.path || q->storage) &&
	    (q->choice.sel.begin_real_ns || q->choice.sel.end_real_ns))
		return cli_usage(
			cli, "--begin, --end: of answers by --model or --db; --duration says how "
			     "much is replayed or simulated");
	if (q->storage && s->is_space)
		return cli_usage(cli, "--sizes, --reads, --beside: not of a simulated device; "
				      "expected --model or --db");
	if (s->intervals && (s->target.path || s->is_space))
		return cli_usage(cli, "--intervals: of what is predicted for given loads");
	if (s->target.ssh_config && !study_remote_is(s->target.path))
		return cli_usage(cli, "--ssh-config: expected with --run HOST:/FOLDER");
	if (s->target.overwrite && study_remote_is(s->target.path))
		return cli_usage(cli, "--overwrite: not beside a folder of another machine, in "
				      "which only new files are made");
	if (s->is_space && (s->verb != STUDY_INTERFERENCE || s->target.path))
		return cli_usage(cli, "--sizes, --reads, --beside: of interference, by --model or "
				      "--db");
	if (q->slo.nr && s->is_space)
		return cli_usage(cli, "--slo: of given loads, not beside --sizes, --reads or "
				      "--beside");
	if (s->from && (s->verb != STUDY_MIGRATE || s->target.path))
		return cli_usage(cli, "--from: of migrate, beside --model, --storage or --db");
	return question_overwrite_check(cli, s->target.overwrite, s->target.path);
}

/* Checks the combination of options. Returns 0, or the exit status for what was refused. */
static int cmd_study_check(struct cli *cli, struct study_question *s, const struct study_words *w)
{
	struct mimic_options *run = &s->of.study.run;

	s->is_space = w->sizes.nr || w->reads.nr || s->space.beside;
	if (!(run->duration_s > 0) && !s->of.storage)
		run->duration_s = RUN_SECONDS;
	if (s->measured.nr > STUDY_LOADS_MAX)
		return cli_usage(cli, "--measured: expected up to %d", STUDY_LOADS_MAX);
	for (size_t i = 0; i < w->leave_out.nr; i++)
		if (!mimic_leave_out(&run->leave_out, w->leave_out.items[i]))
			return cli_usage(cli, "--leave-out: expected discards, bursts or locality");
	return cmd_study_check_target(cli, s);
}

/* Adds the options that help to an answer. Returns ret as a command has to take it. */
static int cmd_study_hint(struct cli *cli, const struct study_question *s, int ret, struct err *err)
{
	bool unknown = !ret && s->of.verdict == QUESTION_CANNOT_TELL && !s->target.path;

	if (unknown && !answer_is_for_page())
		cli_note(cli, "--run makes the loads run on the target");
	return question_run_hint(ret, s->target.path, err);
}

static int cmd_study_ask(struct cli *cli, struct study_question *s, struct study_words *w)
{
	struct question *q = &s->of;
	const char *report = NULL;
	struct answer *a = NULL;
	struct err err = { 0 };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&q->choice),
		PREDICTOR_OPTIONS(&q->by),
		SLO_OPTION(&q->slo,
			   "exit status 1 where a load breaks it: read.p95=20ms, write.mean=5ms, "
			   "..."),
		DEVICE_OPTION(q, "simulate what is stored on this"),
		CLI_STRING("intervals", 0, "TABLE.csv", &s->intervals,
			   "widen by these applications: application, type, point, predicted, "
			   "measured"),
		CLI_STRING(
			"run", 0, "PATH", &s->target.path,
			"or replay what is stored, or run mimics of profiles, on this free device, "
			"new file or folder, or mimics in HOST:/FOLDER, over ssh"),
		CLI_STRING("ssh-config", 0, "FILE", &s->target.ssh_config,
			   "--run HOST:/FOLDER: the configuration of ssh (ssh -F)", .with = "run"),
		CLI_STRING("overwrite", 0, "PATH", &s->target.overwrite,
			   "the path of --run a second time: what it carries may be destroyed",
			   .with = "run"),
		CLI_FLAG("by-profile", 0, &s->target.by_profile,
			 "--run: mimics of the profiles of stores and segments, too"),
		CLI_DURATION("duration", 0, "TIME", &q->study.run.duration_s,
			     "of each run, default 5s; of what is simulated, default all"),
		CLI_LIST("leave-out", 0, "WHAT,...", &w->leave_out, "bursts, discards, locality"),
		CLI_STRING("from", 0, "FILE", &s->from,
			   "migrate: a measurement store (with --storage: a device) of the old "
			   "storage; what was measured there, times new / old"),
		CLI_STRING("from-target", 0, "NAME", &s->from_target,
			   "of --from, where there are several", .with = "from"),
		CLI_LIST("measured", 0, "PROFILE.json,...", &s->measured,
			 "what was measured there, in the order of the loads: for delta RT"),
		CLI_LIST("sizes", 0, "SIZE,...", &w->sizes,
			 "interference: over these request sizes of the neighbour"),
		CLI_LIST("reads", 0, "PERCENT,...", &w->reads, "and these shares of reads"),
		CLI_FLAG("beside", 0, &s->space.beside,
			 "the model was measured beside the load, and knows the neighbour alone"),
		REPORT_OPTION(&report, "an HTML page"),
		CLI_CHOICE(1, 1, "model storage db run"),
		CLI_END,
	};
	int ret;

	if (!question_parse(cli, q, options, 1, STUDY_LOADS_MAX))
		return cli->status;
	ret = cmd_study_check(cli, s, w);
	if (ret)
		return ret;
	/* A real target is measured once, however many processes were started. */
	if (s->target.path && !ranks_works_alone())
		return CLI_DONE;
	ret = question_words_levels(&s->space, &w->sizes, &w->reads, &err);
	if (!ret)
		ret = cmd_study_hint(cli, s, study_question_answer(&a, s, &err), &err);
	return question_end(cli, q, ret, a, report, &err);
}

#define STUDY_PREDICTED                                                                                        \
	"It is predicted by models of read_s and write_s (blkcast fit), by a calibrated net (blkcast qpn\n"    \
	"calibrate), or from a measurement store; with --run stored requests are replayed on the target, or\n" \
	"mimics of profiles are run there. A device in use is refused, and one that carries something or a\n"  \
	"file that exists is taken only where --overwrite names it again."
#define STUDY_SIMULATED                                                                                     \
	"With --storage the stored requests are simulated, by what each had waited for, on a device that\n" \
	"blkcast storage calibrate has made of a campaign; percentiles and flushes are answered, too.\n"
#define STUDY_BY "(--storage DEVICE.json | --model M.json,... | --db FILE | --run PATH)"

/*
 * The verbs, with their help. All have the name "study", because messages begin with it. They
 * stand in the order of cmd_study_verbs.
 */
static const struct command study_helps[] = {
	{ .name = "study",
	  .summary = "migrate: response times of loads on another target",
	  .usage = "migrate PROFILE... " STUDY_BY,
	  .example = "blkcast study migrate before.json --db new.sqlite --report "
		     "migration.html",
	  .details = "Each load alone on the target, beside its response times where it "
		     "was characterized.\n" STUDY_SIMULATED STUDY_PREDICTED },
	{ .name = "study",
	  .summary = "consolidate: response times of loads that share a target",
	  .usage = "consolidate PROFILE PROFILE... " STUDY_BY,
	  .example = "blkcast study consolidate a.json b.json --run /mnt/new",
	  .details = "All of the loads at once, beside each alone there, and when "
		     "their peaks coincided.\n" STUDY_SIMULATED STUDY_PREDICTED },
	{ .name = "study",
	  .summary = "interference: what neighbours do to the first load",
	  .usage = "interference PROFILE NEIGHBOUR... " STUDY_BY,
	  .example = "blkcast study interference a.json b.json --model m.json "
		     "--sizes 4k,64k --reads 0,100",
	  .details = "The first load alone there, and beside each of the others, or "
		     "over the sizes and mixes of one.\n" STUDY_SIMULATED STUDY_PREDICTED },
	{ .name = "study",
	  .summary = "scenario: files that change what is, side by side",
	  .usage = "scenario SCENARIO.yaml... [--storage [NAME=]DEVICE.json,...] "
		   "[--report FILE.html]",
	  .example = "blkcast study scenario docs/examples/scenarios/today.yaml "
		     "docs/examples/scenarios/growth.yaml",
	  .details =
		  "Scenarios (docs/scenario.schema.json) add, scale, migrate, swap, "
		  "cache and remove loads and targets.\nThe first one is the baseline. A storage is "
		  "models, a measurement store, or a simulated device, on\nwhich stored requests "
		  "are run; exit status 1 where such a device serves less than its VMs offer." },
	{ .name = "study",
	  .summary = "cache: what a cache in front of the target is worth",
	  .usage = "cache PROFILE... [--size SIZE] [--hits PERCENT] [--hit-time TIME]\n"
		   "cache PROFILE... --hit-time TIME (--model M.json,... | --db FILE | "
		   "--storage DEVICE.json) [--slo OBJECTIVE,...]",
	  .example = "blkcast study cache docs/examples/demo.seg --hit-time 10us",
	  .details = "By the miss-ratio curve of each load." },
	{ .name = "study",
	  .summary = "mix: how many of these loads fit together",
	  .usage = "mix PROFILE[=COUNT]... [--slo OBJECTIVE,... --db FILE] [--measure "
		   "SIZE:read=N,...]\n"
		   "mix RECORDING[=COUNT]... --slo OBJECTIVE,... --storage DEVICE.json",
	  .example = "blkcast study mix docs/examples/demo.seg --measure "
		     "4k:read=20000,write=5000 --measure 64k:read=4000,write=1600",
	  .details = "Every load must also get the requests that it offers. Exit status "
		     "1 where nothing fits; 3 where by\nmodels nothing fits because the "
		     "target cannot carry the loads, where the mix that fits lies\noutside "
		     "what the model knows, or where the mix has more stored requests than "
		     "are simulated." },
};

/* The first verbs are those of enum study_verb. cmd_study_ask() runs those without a function. */
static const struct cli_verb cmd_study_verbs[] = {
	{ "migrate", NULL },	  { "consolidate", NULL },
	{ "interference", NULL }, { "scenario", study_scenario },
	{ "cache", study_cache }, { "mix", study_mix },
	{ NULL, NULL },
};

static int cmd_study_run(struct cli *cli)
{
	struct study_words words = { .sizes = { .nr = 0 } };
	struct study_question *q;
	int verb = cli_verb(cli, cmd_study_verbs), ret;

	if (verb < 0)
		return cli->status;
	cli->command = &study_helps[verb];
	if (cmd_study_verbs[verb].run)
		return cmd_study_verbs[verb].run(cli);
	q = calloc(1, sizeof(*q));
	if (!q)
		return cli_no_memory(cli);
	q->verb = (enum study_verb)verb;
	q->of.study.run.seed = 1;
	q->of.study.time_limit_s = 60;
	ret = cmd_study_ask(cli, q, &words);
	load_options_release(&q->of.choice);
	study_question_release(q);
	free(q);
	return ret;
}

const struct command command_study = {
	.name = "study",
	.summary = "what happens when loads move, or share a target",
	.usage = "migrate PROFILE... (--model M.json,... | --db FILE [--from OLD] | --run PATH)\n"
		 "migrate STORE... --storage DEVICE.json [--from OLD.json]\n"
		 "consolidate PROFILE PROFILE... (--model M.json,... | --db FILE | --run PATH)\n"
		 "interference PROFILE NEIGHBOUR... (--model M.json,... | --db FILE | --run PATH)\n"
		 "(consolidate|interference) STORE... --storage DEVICE.json\n"
		 "scenario SCENARIO.yaml... [--storage [NAME=]DEVICE.json,...]\n"
		 "cache PROFILE... [--size SIZE] [--hits PERCENT] [--hit-time TIME]\n"
		 "mix PROFILE[=COUNT]... [--slo OBJECTIVE,... --db FILE] [--measure "
		 "SIZE:read=N,...]",
	.example = "blkcast study migrate before.json --db new.sqlite --report migration.html\n"
		   "blkcast study consolidate a.json b.json --run /mnt/new\n"
		   "blkcast study scenario docs/examples/scenarios/today.yaml "
		   "docs/examples/scenarios/growth.yaml\n"
		   "blkcast study cache docs/examples/demo.seg --hit-time 10us\n"
		   "blkcast study mix docs/examples/demo.seg --measure "
		   "4k:read=20000,write=5000 --measure 64k:read=4000,write=1600",
	.details =
		"migrate: each load on the target, beside its response times where it was "
		"characterized. consolidate:\nall of them there at once, beside each alone there, "
		"and when their peaks coincided. interference:\nthe first load alone there, and "
		"beside each of the others, or over the sizes and mixes of one.\nscenario: files "
		"that change what is (add, scale, migrate, swap, cache, remove), side by side.\n"
		"cache: what a cache is worth, by the miss-ratio curve. mix: how many fit "
		"together.\nWith --run stored requests are replayed on the target, or mimics of "
		"profiles run; else it is predicted: by\nmodels of read_s and write_s (blkcast "
		"fit), by a calibrated net (blkcast qpn calibrate), or from a\nmeasurement store. "
		"--help behind a verb lists its options.",
	.run = cmd_study_run,
	.rank_verbs = " migrate consolidate interference cache mix ",
};
