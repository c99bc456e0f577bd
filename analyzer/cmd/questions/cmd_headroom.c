// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/cli.h"
#include "analyzer/cmd/cli/commands.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/questions/study_device.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/whatif/headroom/headroom_answer.h"
#include "analyzer/whatif/headroom/headroom_device.h"

/*
 * headroom_storage: --storage of blkcast headroom: stored requests, multiplied, are simulated on a
 * device (headroom_device.h).
 *
 *	ret = headroom_storage_open(&storage, cli, &load_options, &err);
 *	... headroom_find_device(&found, &storage.device, &objective, &err) ...
 *	headroom_storage_release(&storage);
 */

struct headroom_storage {
	const char *path, *intervals; /* options; NULL: not given */
	double duration_s;	      /* of the recordings, only the beginning; 0: all */
	/* The members below are set by headroom_storage_open(). */
	struct headroom_device device;
	struct study_device target;
	struct study study;
	struct application_errors errors;
	struct loads loads;
};

/* Reads the loads, their requests and the device. Release s whatever this returns. */
static int headroom_storage_open(struct headroom_storage *s, const struct cli *cli,
				 const struct load_choice *options, struct err *err)
{
	int ret = loads_read(&s->loads, options, &cli->teller, STUDY_LOADS_MAX, err);

	if (!ret && s->intervals)
		ret = application_errors_read(&s->errors, s->intervals, PREDICTOR_LEVEL, err);
	if (ret)
		return ret;
	study_take_loads(&s->study, &s->loads);
	s->study.simulated = true;
	s->study.run.duration_s = s->duration_s;
	s->target = (struct study_device){ .cli = cli,
					   .study = &s->study,
					   .paths = s->loads.paths,
					   .storage = s->path,
					   .errors = s->intervals ? &s->errors : NULL };
	ret = study_device_open(&s->target, err);
	if (ret)
		return ret;
	s->device = (struct headroom_device){ .target = &s->target.target,
					      .study = &s->study,
					      .replay = s->target.replay,
					      .seed = s->target.sim.seed };
	return 0;
}

static void headroom_storage_release(struct headroom_storage *s)
{
	headroom_device_release(&s->device);
	study_device_release(&s->target);
	loads_release(&s->loads);
}

struct job {
	const struct cli *cli;
	struct load_choice options;
	struct word_list slo;
	struct predictor_options by;
	struct headroom_storage *storage; /* --storage */
	const char *load, *report;
	struct predictor predictor;
	struct headroom_objective objectives[WORD_LIST_MAX];
	struct load_facts *loads; /* owned */
	size_t nr_loads;
	unsigned int missing;	/* enum load_missing, of any */
	struct headroom *found; /* owned: one per objective */
	struct load_rows rows[WORD_LIST_MAX];
	struct load_own own[WORD_LIST_MAX];
	struct busy_curves busy[WORD_LIST_MAX];
	struct headroom_result results[WORD_LIST_MAX];
	size_t tightest;
	struct err err;
};

static bool cmd_headroom_thinks(const struct job *job)
{
	for (size_t i = 0; i < job->nr_loads; i++)
		if (load_away_s(&job->loads[i]) > 0)
			return true;
	return false;
}

/*
 * Solves by clients that think, where the load has such clients and models exist. Returns 1 where
 * it did, otherwise 0.
 */
static int solve_busy(struct job *job, size_t i, const struct model *m)
{
	const struct headroom_objective *o = &job->objectives[i];
	struct predictor_ask ask = { .point = o->point };
	struct busy_curves *c = &job->busy[i];
	bool by_think = job->load && !strcmp(job->load, "think");
	int clients = load_model_is_busy(m) ? load_model_clients(m) : -1, ret;

	if (by_think || (clients >= 0 && cmd_headroom_thinks(job) &&
			 (!job->load || !strcmp(job->load, m->schema.variables[clients].name)))) {
		ask.sides[o->side] = true;
		ret = busy_curves_make(c, &job->predictor, &ask, job->loads, job->nr_loads,
				       &job->err);
		if (ret)
			return ret;
		if (busy_curves_has(c, o->side))
			ret = headroom_find_busy(&job->found[i], c, m, &job->own[i], job->loads,
						 job->nr_loads, o, by_think);
		else if (by_think)
			return err_set(&job->err, EINVAL,
				       "--load think: expected clients that think, and models of "
				       "read_s and write_s that know clients alone");
		else
			cli_note(job->cli,
				 "%s: no models of read_s and write_s to tell how clients "
				 "think: taken to think never",
				 job->slo.items[i]);
		return ret ? ret : busy_curves_has(c, o->side);
	}
	return 0;
}

/* Solves by a model of the response time, which scales its own load variable. */
static int solve_model(struct job *job, size_t i)
{
	const struct headroom_objective *o = &job->objectives[i];
	const struct model *m;
	struct load_facts joined;
	int ret = predictor_model(&job->predictor, o->response, &m, &job->err);

	if (!ret && !m)
		ret = err_set(&job->err, EINVAL, "--slo %s: no --model of %s is given",
			      job->slo.items[i], o->response);
	if (ret)
		return ret;
	load_facts_join(job->loads, job->nr_loads, &joined);
	ret = load_rows_make(&job->rows[i], m, &joined, o->side, false, job->by.set.items,
			     job->by.set.nr, &job->err);
	if (!ret)
		ret = load_model_own(&job->own[i], m, &joined, &joined, o->side, job->by.set.items,
				     job->by.set.nr, &job->err);
	if (!ret)
		ret = solve_busy(job, i, m);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = load_model_scaled(m, job->load, &job->err);
	if (ret < 0)
		return ret;
	return headroom_find(&job->found[i], &job->rows[i], &job->own[i], ret, o->limit_s,
			     &job->err);
}

static int cmd_headroom_solve(struct job *job, size_t i)
{
	struct headroom_objective *o = &job->objectives[i];
	int ret = headroom_read_objective(job->slo.items[i], o, &job->err);

	if (ret)
		return ret;
	if (job->storage->path)
		return headroom_find_device(&job->found[i], &job->storage->device, o, &job->err);
	if (!job->predictor.net)
		return solve_model(job, i);
	if (job->load)
		return err_set(&job->err, EINVAL, "--load %.40s: a net knows clients alone",
			       job->load);
	return headroom_find_net(&job->found[i], &job->predictor, job->loads, job->nr_loads, o,
				 &job->err);
}

/* Shows the answer with a knee curve per objective, and frees it. */
static int cmd_headroom_show(struct job *job)
{
	struct answer *a = headroom_answer(job->results, job->slo.nr, job->tightest);

	for (size_t i = 0; i < job->slo.nr; i++) {
		char lead[HEADROOM_WORDS_BYTES], id[32];
		struct buf svg;

		buf_init(&svg);
		snprintf(id, sizeof(id), "knee-%zu", i);
		answer_fail(a, headroom_draw(&job->found[i], &job->objectives[i], &job->rows[i], id,
					     &svg));
		headroom_conclude(&job->results[i], lead);
		answer_picture(a, job->slo.items[i], lead, &svg);
	}
	if (job->storage->path)
		study_device_say_intervals(job->storage->target.errors, true, a);
	return cli_show(job->cli, a, job->report, &job->err);
}

/* Reads the operands, and keeps of their profiles only the facts that a model takes. */
static int cmd_headroom_read_loads(struct job *job)
{
	struct loads read = { 0 };
	int ret = loads_read(&read, &job->options, &job->cli->teller, SIZE_MAX, &job->err);

	if (ret)
		goto out;
	job->loads = calloc(read.nr + 1, sizeof(*job->loads));
	if (!job->loads) {
		ret = -ENOMEM;
		goto out;
	}
	for (; job->nr_loads < read.nr; job->nr_loads++) {
		struct load_facts *f = &job->loads[job->nr_loads];

		load_facts_of_group(read.groups[job->nr_loads], f);
		job->missing |= f->missing;
	}
out:
	loads_release(&read);
	return ret;
}

/* Reads the loads, and opens the device or the models that predict the target. */
static int cmd_headroom_open(struct job *job)
{
	int ret;

	if (job->storage->path)
		return headroom_storage_open(job->storage, job->cli, &job->options, &job->err);
	ret = cmd_headroom_read_loads(job);
	return ret ? ret : predictor_open(&job->predictor, &job->by, &job->cli->teller, &job->err);
}

static int cmd_headroom_work(struct job *job)
{
	int ret = cmd_headroom_open(job);

	if (ret)
		return ret;
	for (size_t i = 0; i < job->slo.nr; i++) {
		const struct headroom *found = &job->found[i];

		ret = cmd_headroom_solve(job, i);
		if (ret)
			return ret;
		job->results[i] = (struct headroom_result){ .text = job->slo.items[i],
							    .objective = &job->objectives[i],
							    .found = found };
		if (job->storage->path)
			headroom_device_rates(&job->results[i], &job->storage->device);
		else
			headroom_find_rates(&job->results[i], &job->predictor, job->loads,
					    job->nr_loads);
		if (found->at.factor < job->found[job->tightest].at.factor)
			job->tightest = i;
		if (found->why[0])
			cli_note(job->cli, "%s: %s: extrapolated", job->slo.items[i], found->why);
		else if (headroom_is_outside(found))
			cli_note(job->cli,
				 "%s: today's load lies outside what the model was "
				 "trained on: extrapolated",
				 job->slo.items[i]);
	}
	ret = cmd_headroom_show(job);
	if (!ret)
		loads_note_missing(&job->cli->teller, "the load", job->missing);
	return ret;
}

/* Checks the combination of options. Returns 0, or the exit status for what was refused. */
static int cmd_headroom_check(struct job *job, struct cli *cli)
{
	struct headroom_storage *s = job->storage;
	int ret = predictor_options_take(&job->by, &s->path, cli);

	if (ret)
		return ret;
	if (!cli->argc || !job->slo.nr || predictor_options_given(&job->by) + !!s->path != 1)
		return cli_usage(cli, "expected --slo, either --model, --db or --storage, and a "
				      "load: profiles, or --store");
	if (s->path && job->load)
		return cli_usage(cli, "--load: not of a simulated device, where the stored "
				      "requests say whether clients or the rate can grow");
	if (s->path && (job->options.sel.begin_real_ns || job->options.sel.end_real_ns))
		return cli_usage(cli, "--begin, --end: of answers by --model or --db; --duration "
				      "says how much is simulated");
	if (!s->path && (s->intervals || s->duration_s > 0))
		return cli_usage(cli, "--intervals, --duration: expected with --storage");
	return 0;
}

static int cmd_headroom_perform(struct cli *cli, struct headroom_storage *storage)
{
	struct job job = { .cli = cli, .storage = storage };
	const struct cli_option options[] = {
		LOAD_OPTIONS(&job.options),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &job.slo, "read.p95=20ms, write.mean=5ms, ..."),
		PREDICTOR_OPTIONS(&job.by),
		CLI_STRING("storage", 0, "FILE", &storage->path,
			   "or simulate what is stored on this device (blkcast storage calibrate)"),
		CLI_DURATION("duration", 0, "TIME", &storage->duration_s,
			     "--storage: simulate only the beginning, default all"),
		CLI_STRING("intervals", 0, "TABLE.csv", &storage->intervals,
			   "--storage: widen by these applications, as study does"),
		CLI_STRING("load", 0, "NAME", &job.load,
			   "the variable to scale; default clients, rate or depth"),
		CLI_STRING("report", 0, "FILE", &job.report, "the knee curve, an HTML page"),
		CLI_END,
	};
	bool broken = false, outside = false;
	int ret;

	if (!cli_parse(cli, options) || !load_options_take(&job.options, cli))
		return cli->status;
	ret = cmd_headroom_check(&job, cli);
	if (ret)
		return ret;
	lsq_single_thread();
	job.found = calloc(job.slo.nr, sizeof(*job.found));
	ret = job.found ? cmd_headroom_work(&job) : -ENOMEM;
	for (size_t i = 0; i < job.slo.nr && !ret; i++) {
		broken |= job.found[i].broken || headroom_is_overloaded(&job.results[i]);
		outside |= headroom_is_outside(&job.found[i]);
	}
	for (size_t i = 0; i < job.slo.nr; i++) {
		busy_curves_release(&job.busy[i]);
		load_rows_release(&job.rows[i]);
	}
	load_options_release(&job.options);
	predictor_release(&job.predictor);
	free(job.loads);
	free(job.found);
	return cli_finish(cli, ret, &job.err,
			  outside  ? CLI_CANNOT_TELL
			  : broken ? CLI_FAILED
				   : CLI_DONE);
}

static int cmd_headroom_run(struct cli *cli)
{
	struct headroom_storage *storage = calloc(1, sizeof(*storage));
	int status;

	if (!storage)
		return cli_fail(cli, &(struct err){ ENOMEM, "out of memory" });
	status = cmd_headroom_perform(cli, storage);
	headroom_storage_release(storage);
	free(storage);
	return status;
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
