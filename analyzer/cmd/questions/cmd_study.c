// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/characterize/profile_set.h"
#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/questions/study_device.h"
#include "analyzer/cmd/questions/study_target.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/report/curve/study_draw.h"
#include "analyzer/whatif/headroom/study_slo.h"
#include "base/text/units.h"

#define RUN_SECONDS 5.0
#define CASES_MAX   (2 * STUDY_LOADS_MAX)

/* In the order of enum study_verb. Those without a function are cmd_study_perform()'s. */
static const struct cli_verb verbs[] = {
	{ "migrate", NULL },	  { "consolidate", NULL },
	{ "interference", NULL }, { "scenario", study_scenario },
	{ "cache", study_cache }, { "mix", study_mix },
	{ NULL, NULL },
};

struct job {
	struct cli *cli;
	enum study_verb verb;
	struct load_choice options;
	struct word_list slo;
	struct study_slo objectives;
	enum study_slo_verdict slo_verdict;
	struct predictor_options by, old; /* old: of --from */
	struct word_list measured, leave_out, sizes, reads;
	bool beside;
	const char *report, *from_db, *from_target;
	const char *storage;   /* a simulated device of the target, or NULL */
	const char *intervals; /* a table of recorded applications, or NULL */
	struct application_errors errors;
	struct study_device device;
	bool cannot_tell, overloaded;
	struct study study;
	struct study_target target;
	struct loads loads;
	struct predictor predictor, from;
	struct profile_set truths[STUDY_LOADS_MAX];
	size_t nr_truths;
	struct study_case cases[CASES_MAX];
	size_t nr_cases, baseline[CASES_MAX];
	double truth[STUDY_LOADS_MAX][2];
	struct err err;
};

static void times_of(const struct profile *p, double s[2])
{
	s[0] = p->requests[OPERATION_READ] ? profile_mean_s(&p->read.response, STAGE_TOTAL) : NAN;
	s[1] = p->requests[OPERATION_WRITE] ? profile_mean_s(&p->write.response, STAGE_TOTAL) : NAN;
}

static int read_loads(struct job *job)
{
	struct study *s = &job->study;
	int ret = loads_read(&job->loads, &job->options, &job->cli->teller, STUDY_LOADS_MAX,
			     &job->err);

	if (ret)
		return ret;
	study_take_loads(s, &job->loads);
	for (size_t i = 0; i < s->nr; i++) {
		times_of(&s->loads[i].group->whole, s->loads[i].base_s);
		study_points_measured(&s->loads[i].group->whole, s->loads[i].measured_s);
	}
	if (s->nr < 2 && job->verb != VERB_MIGRATE)
		ret = err_set(&job->err, EINVAL, "expected at least two loads, got %zu", s->nr);
	return ret;
}

/* Reads what was measured afterwards, in the order of the loads. */
static int read_truths(struct job *job)
{
	size_t load = 0;
	int ret = 0;

	for (size_t i = 0; i < STUDY_LOADS_MAX; i++)
		job->truth[i][0] = job->truth[i][1] = NAN;
	for (size_t i = 0; i < job->measured.nr; i++) {
		const struct selection sel = { 0 };
		struct profile_set *set = &job->truths[job->nr_truths];

		if (load >= job->study.nr)
			return err_set(&job->err, EINVAL, "--measured %s: there are %zu loads",
				       job->measured.items[i], job->study.nr);
		job->nr_truths++;
		profile_set_init(set);
		ret = profile_set_load(set, job->measured.items[i], &sel, &job->err);
		for (size_t g = 0; g < set->nr_groups && load < job->study.nr && !ret; g++)
			times_of(&set->groups[g].whole, job->truth[load++]);
		if (ret)
			return ret;
	}
	return 0;
}

/* Refuses models of other responses, which would otherwise be ignored without notice. */
static int check_models(const struct job *job, struct err *err)
{
	const struct predictor *p = &job->predictor;

	for (size_t i = 0; i < p->nr_models; i++) {
		const char *response = p->models[i].schema.response, *dot = strrchr(response, '.');

		if (!study_points_asks(dot ? dot + 1 : response))
			return err_set(
				err, EINVAL,
				"%s: expected models of read_s, write_s or flush_s, or of their "
				"p50, p95 or p99 (read_p95_s), this is of %s",
				job->by.models.items[i], response);
	}
	return 0;
}

static int read_target(struct job *job)
{
	int ret;

	if (job->storage) {
		job->study.simulated = true;
		return study_device_open(&job->device, &job->err);
	}
	job->target.study = &job->study;
	job->target.cli = job->cli;
	job->target.paths = job->loads.paths;
	job->target.cases = job->cases;
	job->target.nr_cases = job->nr_cases;
	if (job->target.path)
		return study_target_open(&job->target, &job->err);
	job->study.predictor = &job->predictor;
	ret = predictor_open(&job->predictor, &job->by, &job->cli->teller, &job->err);
	if (ret)
		return ret;
	if (job->from_db) {
		job->old = (struct predictor_options){ .db = job->from_db,
						       .set = job->by.set,
						       .campaign = job->by.campaign,
						       .target = job->from_target };
		job->study.from = &job->from;
		ret = predictor_open(&job->from, &job->old, &job->cli->teller, &job->err);
		if (ret)
			return ret;
	}
	return check_models(job, &job->err);
}

static void add_case(struct job *job, const size_t *loads, size_t nr, size_t baseline)
{
	struct study_case *c = &job->cases[job->nr_cases];

	memcpy(c->loads, loads, nr * sizeof(*loads));
	c->nr = nr;
	job->baseline[job->nr_cases] = baseline == SIZE_MAX ? job->nr_cases : baseline;
	job->nr_cases++;
}

/* Adds a case of the first load and a neighbour, each with its copies. */
static void add_neighbour(struct job *job, size_t neighbour)
{
	size_t both[STUDY_LOADS_MAX], nr = 0;

	for (size_t i = 0; i < job->study.nr; i++)
		if (!job->loads.copy_of[i] || job->loads.copy_of[i] == neighbour)
			both[nr++] = i;
	add_case(job, both, nr, 0);
}

/* Makes the cases: each load alone is case 0, 1, ..., followed by the combinations. */
static void make_cases(struct job *job)
{
	size_t all[STUDY_LOADS_MAX], nr = job->study.nr;

	for (size_t i = 0; i < nr; i++) {
		all[i] = i;
		add_case(job, &i, 1, SIZE_MAX);
	}
	if (job->verb == VERB_CONSOLIDATE)
		add_case(job, all, nr, 0);
	for (size_t i = 1; i < nr && job->verb == VERB_INTERFERENCE; i++)
		if (job->loads.copy_of[i] == i)
			add_neighbour(job, i);
}

static int cmd_study_solve(struct job *job)
{
	int ret = job->storage
			  ? study_device_cases(&job->device, job->cases, job->nr_cases, &job->err)
			  : 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < job->nr_cases; i++) {
		struct study_case *c = &job->cases[i];

		if (!job->storage)
			ret = job->target.path ? study_target_run(&job->target, c, &job->err)
					       : study_predict(&job->study, c, &job->err);
		if (ret)
			return ret;
		if (job->intervals)
			application_errors_widen(&job->errors, &job->study, c);
		if (c->why[0])
			cli_note(job->cli, "%s: extrapolated", c->why);
	}
	return 0;
}

/* Shows the answer with its picture, and frees it. */
static int cmd_study_show(struct job *job, const struct study_result *r)
{
	struct answer *a = study_answer(r, job->cli->teller.utc);
	struct buf svg;

	buf_init(&svg);
	answer_fail(a, study_draw_times(r, &svg));
	answer_picture(a, NULL, "The thin line is a 90 % interval.", &svg);
	if (!job->target.path)
		study_device_say_intervals(job->intervals ? &job->errors : NULL,
					   job->study.simulated, a);
	return cli_show(job->cli, a, job->report, &job->err);
}

/*
 * Parses the levels of --sizes and --reads: "4k,64k" and "10,50" percent. Empty lists keep the
 * defaults.
 */
static int cmd_study_levels(struct neighbour_space *s, const struct word_list *sizes,
			    const struct word_list *reads, struct err *err)
{
	if (sizes->nr > SPACE_LEVELS_MAX || reads->nr > SPACE_LEVELS_MAX)
		return err_set(err, EINVAL, "--sizes, --reads: expected up to %d levels of each",
			       SPACE_LEVELS_MAX);
	for (size_t i = 0; i < sizes->nr; i++) {
		uint64_t bytes;

		if (units_parse_bytes(sizes->items[i], &bytes, NULL) || !bytes)
			return err_set(err, EINVAL, "--sizes: expected a size as 64k, got '%.40s'",
				       sizes->items[i]);
		s->sizes[s->nr_sizes++] = (double)bytes;
	}
	for (size_t i = 0; i < reads->nr; i++) {
		char *end;
		double percent = strtod(reads->items[i], &end);

		if (end == reads->items[i] || *end || !(percent >= 0 && percent <= 100))
			return err_set(err, EINVAL,
				       "--reads: expected a percentage, 0 to 100, got '%.40s'",
				       reads->items[i]);
		s->reads[s->nr_reads++] = percent / 100;
	}
	return 0;
}

static int cmd_study_show_space(struct job *job, const struct space_result *r)
{
	struct answer *a = space_answer(r);

	for (int side = 0; side < 2; side++) {
		struct buf svg;

		if (isnan(r->space.worst[side]))
			continue;
		buf_init(&svg);
		answer_fail(a, study_draw_space(r, side, &svg));
		answer_picture(a, side ? "Writes" : "Reads", NULL, &svg);
	}
	return cli_show(job->cli, a, job->report, &job->err);
}

/* Computes the interference over the neighbour's sizes and mixes. */
static int cmd_study_explore(struct job *job)
{
	const struct study_load *load = &job->study.loads[0], *neighbour = &job->study.loads[1];
	struct space_result r = { .space.beside = job->beside };
	int ret;

	if (job->study.nr != 2)
		return err_set(&job->err, EINVAL, "--sizes, --reads: expected two loads, got %zu",
			       job->study.nr);
	study_name(&job->study, 0, r.load);
	study_name(&job->study, 1, r.neighbour);
	memcpy(r.base_s, load->base_s, sizeof(r.base_s));
	ret = cmd_study_levels(&r.space, &job->sizes, &job->reads, &job->err);
	if (!ret)
		ret = neighbour_space_solve(&r.space, &job->predictor, &load->facts,
					    &neighbour->facts, &job->err);
	if (ret)
		return ret;
	if (r.space.outside)
		cli_note(job->cli, "'%s' lies outside what the target's model knows: extrapolated",
			 r.space.outside);
	job->cannot_tell = space_cannot_tell(&r);
	return cmd_study_show_space(job, &r);
}

/* Predicts a migration by replaying stored requests on a simulated device. */
static int cmd_study_device(struct job *job)
{
	int ret = study_device_open(&job->device, &job->err);

	ret = ret ? ret : study_device_migrate(&job->device, &job->err);
	job->cannot_tell = job->device.cannot_tell;
	job->overloaded = job->device.overloaded;
	job->slo_verdict = job->device.slo_verdict;
	return ret;
}

/* Adds to the conclusion whether the objectives are met. */
static void cmd_study_judge(struct job *job, struct study_result *r)
{
	size_t used = strlen(r->conclusion);

	job->slo_verdict = study_slo_check(&job->objectives, r, r->conclusion + used,
					   STUDY_WORDS_BYTES - used);
	job->cannot_tell |= job->slo_verdict == STUDY_SLO_UNKNOWN;
}

/* Reads the loads, the objectives and what is compared with the answer. */
static int cmd_study_read(struct job *job)
{
	int ret = read_loads(job);

	for (size_t i = 0; i < job->slo.nr && !ret; i++)
		ret = study_slo_add(&job->objectives, job->slo.items[i], &job->err);
	if (!ret && job->intervals)
		ret = application_errors_read(&job->errors, job->intervals, PREDICTOR_LEVEL,
					      &job->err);
	if (!ret)
		ret = read_truths(job);
	if (ret)
		return ret;
	job->device = (struct study_device){ .cli = job->cli,
					     .study = &job->study,
					     .paths = job->loads.paths,
					     .measured = (const double(*)[2])job->truth,
					     .storage = job->storage,
					     .from = job->from_db,
					     .report = job->report,
					     .slo = &job->objectives,
					     .errors = job->intervals ? &job->errors : NULL };
	return 0;
}

static int cmd_study_work(struct job *job)
{
	struct study_result r = { .verb = verbs[job->verb].name,
				  .how = "models",
				  .study = &job->study,
				  .cases = job->cases,
				  .baseline = job->baseline,
				  .measured = (const double(*)[2])job->truth };
	int ret = cmd_study_read(job);

	if (ret)
		return ret;
	if (job->storage && job->verb == VERB_MIGRATE)
		return cmd_study_device(job);
	make_cases(job);
	ret = read_target(job);
	if (ret)
		return ret;
	if (job->sizes.nr || job->reads.nr || job->beside)
		return cmd_study_explore(job);
	r.how = job->target.replays  ? "replay"
		: job->target.path   ? "run"
		: job->from_db	     ? "relative"
		: job->storage	     ? "device"
		: job->predictor.net ? "net"
				     : "models";
	r.nr_cases = job->nr_cases;
	ret = cmd_study_solve(job);
	if (ret)
		return ret;
	if (job->verb == VERB_CONSOLIDATE) {
		r.has_peak = study_peak(&job->study, &r.peak) == 0;
		if (!r.has_peak)
			cli_note(job->cli, "a load has no windows: when the peaks coincide is "
					   "unknown");
	}
	ret = study_conclude(&r);
	job->cannot_tell = r.cannot_tell;
	job->overloaded = r.overloaded;
	if (ret)
		goto out;
	cmd_study_judge(job, &r);
	ret = cmd_study_show(job, &r);
	for (size_t i = 0; i < job->study.nr && !ret && job->study.predictor; i++) {
		char name[128];

		study_name(&job->study, i, name);
		loads_note_missing(&job->cli->teller, name, job->study.loads[i].facts.missing);
	}
out:
	study_result_release(&r);
	return ret;
}

static void cmd_study_release(struct job *job)
{
	loads_release(&job->loads);
	for (size_t i = 0; i < job->nr_truths; i++)
		profile_set_release(&job->truths[i]);
	load_options_release(&job->options);
	predictor_release(&job->predictor);
	predictor_release(&job->from);
	study_target_release(&job->target);
	study_device_release(&job->device);
	free(job);
}

/* Checks the combination of options. Returns 0, or the exit status for what was refused. */
static int check_options(struct job *job, int verb)
{
	struct cli *cli = job->cli;
	const char *bad;
	int ret;

	if (!cli->argc || cli->argc > STUDY_LOADS_MAX)
		return cli_usage(cli, "expected 1 to %d profiles, stores or segments",
				 STUDY_LOADS_MAX);
	ret = predictor_options_take(&job->by, &job->storage, cli);
	if (ret)
		return ret;
	if ((job->target.path != NULL) + (job->storage != NULL) +
		    predictor_options_given(&job->by) !=
	    1)
		return cli_usage(cli, "expected one of --model, --storage, --db and --run");
	if ((job->target.path || job->storage) &&
	    (job->options.sel.begin_real_ns || job->options.sel.end_real_ns))
		return cli_usage(
			cli, "--begin, --end: of answers by --model or --db; --duration says how "
			     "much is replayed or simulated");
	if (job->storage && (job->sizes.nr || job->reads.nr || job->beside))
		return cli_usage(cli, "--sizes, --reads, --beside: not of a simulated device; "
				      "expected --model or --db");
	if (job->intervals && (job->target.path || job->sizes.nr || job->reads.nr || job->beside))
		return cli_usage(cli, "--intervals: of what is predicted for given loads");
	if (!(job->study.run.duration_s > 0) && !job->storage)
		job->study.run.duration_s = RUN_SECONDS;
	bad = study_target_bad(&job->target);
	if (bad)
		return cli_usage(cli, "%s", bad);
	if ((job->sizes.nr || job->reads.nr || job->beside) &&
	    (verb != VERB_INTERFERENCE || job->target.path))
		return cli_usage(cli, "--sizes, --reads, --beside: of interference, by --model or "
				      "--db");
	if (job->slo.nr && (job->sizes.nr || job->reads.nr || job->beside))
		return cli_usage(cli, "--slo: of given loads, not beside --sizes, --reads or "
				      "--beside");
	if (job->measured.nr > STUDY_LOADS_MAX)
		return cli_usage(cli, "--measured: expected up to %d", STUDY_LOADS_MAX);
	for (size_t i = 0; i < job->leave_out.nr; i++)
		if (!mimic_leave_out(&job->study.run.leave_out, job->leave_out.items[i]))
			return cli_usage(cli, "--leave-out: expected discards, bursts or locality");
	if (job->from_db && (verb != VERB_MIGRATE || job->target.path))
		return cli_usage(cli, "--from: of migrate, beside --model, --storage or --db");
	if (job->from_target && !job->from_db)
		return cli_usage(cli, "--from-target: expected --from beside it");
	return 0;
}

static int cmd_study_perform(struct job *job, int verb)
{
	struct cli *cli = job->cli;
	const struct cli_option options[] = {
		LOAD_OPTIONS(&job->options),
		PREDICTOR_OPTIONS(&job->by),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &job->slo,
			 "exit status 1 where a load breaks it: read.p95=20ms, write.mean=5ms, "
			 "..."),
		CLI_STRING("storage", 0, "FILE", &job->storage,
			   "or simulate what is stored on this device (blkcast storage calibrate)"),
		CLI_STRING("intervals", 0, "TABLE.csv", &job->intervals,
			   "widen by these applications: application, type, point, predicted, "
			   "measured"),
		CLI_STRING(
			"run", 0, "PATH", &job->target.path,
			"or replay what is stored, or run mimics of profiles, on this free device, "
			"new file or folder, or mimics in HOST:/FOLDER, over ssh"),
		CLI_STRING("ssh-config", 0, "FILE", &job->target.ssh_config,
			   "--run HOST:/FOLDER: the configuration of ssh (ssh -F)"),
		CLI_STRING("overwrite", 0, "PATH", &job->target.overwrite,
			   "the path of --run a second time: what it carries may be destroyed"),
		CLI_FLAG("by-profile", 0, &job->target.by_profile,
			 "--run: mimics of the profiles of stores and segments, too"),
		CLI_DURATION("duration", 0, "TIME", &job->study.run.duration_s,
			     "of each run, default 5s; of what is simulated, default all"),
		CLI_LIST("leave-out", 0, "WHAT,...", &job->leave_out, "bursts, discards, locality"),
		CLI_STRING("from", 0, "FILE", &job->from_db,
			   "migrate: a measurement store (with --storage: a device) of the old "
			   "storage; what was measured there, times new / old"),
		CLI_STRING("from-target", 0, "NAME", &job->from_target,
			   "of --from, where there are several"),
		CLI_LIST("measured", 0, "PROFILE.json,...", &job->measured,
			 "what was measured there, in the order of the loads: for delta RT"),
		CLI_LIST("sizes", 0, "SIZE,...", &job->sizes,
			 "interference: over these request sizes of the neighbour"),
		CLI_LIST("reads", 0, "PERCENT,...", &job->reads, "and these shares of reads"),
		CLI_FLAG("beside", 0, &job->beside,
			 "the model was measured beside the load, and knows the neighbour alone"),
		CLI_STRING("report", 0, "FILE", &job->report, "an HTML page"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options) || !load_options_take(&job->options, cli))
		return cli->status;
	ret = check_options(job, verb);
	if (ret)
		return ret;
	/* A real target is measured once, however many processes were started. */
	if (job->target.path && !cli_works_alone())
		return CLI_DONE;
	lsq_single_thread();
	job->verb = (enum study_verb)verb;
	ret = cmd_study_work(job);
	return cli_finish(cli, ret, &job->err,
			  job->cannot_tell ? CLI_CANNOT_TELL
			  : job->overloaded || job->slo_verdict == STUDY_SLO_BROKEN ? CLI_FAILED
										    : CLI_DONE);
}

static int cmd_study_run(struct cli *cli)
{
	struct job *job;
	int verb = cli_verb(cli, verbs), ret;

	if (verb < 0)
		return cli->status;
	cli->command = &study_helps[verb];
	if (verbs[verb].run)
		return verbs[verb].run(cli);
	job = calloc(1, sizeof(*job));
	if (!job)
		return cli_fail(cli, &(struct err){ ENOMEM, "out of memory" });
	job->cli = cli;
	job->study.run.seed = 1;
	job->study.time_limit_s = 60;
	ret = cmd_study_perform(job, verb);
	cmd_study_release(job);
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
