// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/capacity_options.h"
#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/questions/study_device.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/report/curve/study_draw.h"

#define MOST 64

struct job {
	struct cli *cli;
	struct load_choice options;
	struct predictor_options by;
	struct word_list slo, measure;
	const char *report;
	struct predictor predictor;
	const char *storage; /* a simulated device of the target, or NULL */
	struct study study;  /* the loads, for the device */
	struct study_device target;
	struct mix_device device;
	struct capacity capacity;
	struct loads loads;
	struct mix_result r;
	struct err err;
};

/* Parses a load: "a.json" is to be used once, and "b.json=2" twice. */
static int read_load(struct job *job, const char *text)
{
	struct mix_fit *m = &job->r.mix;
	struct mix_load *load = &m->loads[m->nr];
	const struct profile *p;
	size_t len, count;
	char *path;
	int ret = load_operand_count(text, 0, &len, &count, &job->err);

	if (ret)
		return ret;
	path = strndup(text, len);
	ret = path ? loads_add(&job->loads, &job->options, &job->cli->teller, path, SIZE_MAX,
			       &job->err)
		   : -ENOMEM;
	free(path);
	if (ret)
		return ret;
	if (job->loads.nr != m->nr + 1)
		return err_set(&job->err, EINVAL, "%.*s: expected one device, got %zu", (int)len,
			       text, job->loads.nr - m->nr);
	p = &job->loads.groups[m->nr]->whole;
	if (!(p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE]))
		return err_set(&job->err, EINVAL, "%.*s: it has no reads or writes", (int)len,
			       text);
	snprintf(load->name, sizeof(load->name), "%.60s %.60s", p->host, p->device_name);
	load_facts_of_group(job->loads.groups[m->nr], &load->facts);
	load->count = count;
	load->free = !text[len];
	m->nr++;
	return 0;
}

/* Opens the device with the requests of all loads. */
static int study_mix_device(struct job *job)
{
	struct study *s = &job->study;
	int ret;

	study_take_loads(s, &job->loads);
	s->simulated = true;
	job->target = (struct study_device){
		.cli = job->cli, .study = s, .paths = job->loads.paths, .storage = job->storage
	};
	ret = study_device_open(&job->target, &job->err);
	if (ret)
		return ret;
	job->device = (struct mix_device){ .target = &job->target.target,
					   .study = s,
					   .replay = job->target.replay,
					   .seed = job->target.sim.seed };
	job->r.mix.device = &job->device;
	return 0;
}

static int read_all(struct job *job)
{
	struct mix_fit *m = &job->r.mix;
	int ret = 0;

	for (int i = 0; i < job->cli->argc && !ret; i++)
		ret = read_load(job, job->cli->argv[i]);
	for (size_t i = 0; i < m->nr && !ret; i++)
		if (m->loads[i].free) {
			if (job->r.nr_free == 2)
				return err_set(&job->err, EINVAL,
					       "%s: expected up to two loads without a count",
					       job->cli->argv[i]);
			job->r.free[job->r.nr_free++] = i;
		}
	for (size_t i = 0; i < job->slo.nr && !ret; i++) {
		ret = headroom_read_objective(job->slo.items[i], &m->objectives[i], &job->err);
		m->objective_text[i] = job->slo.items[i];
		m->nr_objectives++;
	}
	if (!ret && job->storage)
		ret = study_mix_device(job);
	else if (!ret && job->slo.nr)
		ret = predictor_open(&job->predictor, &job->by, &job->cli->teller, &job->err);
	m->predictor = &job->predictor;
	if (ret)
		return ret;
	if (job->measure.nr) {
		m->capacity = &job->capacity;
		ret = capacity_measured(&job->capacity, &job->measure, &job->err);
		if (!ret)
			ret = capacity_finish(&job->capacity, &job->err);
	}
	return ret;
}

static int study_mix_solve(struct job *job)
{
	struct mix_result *r = &job->r;
	struct mix_fit *m = &r->mix;
	size_t counts[MIX_LOADS_MAX];
	int ret = 0;

	for (size_t i = 0; i < m->nr; i++)
		counts[i] = m->loads[i].count;
	if (!r->nr_free)
		return mix_fits(m, counts, false, &r->fits, r->why, &job->err);
	if (r->nr_free == 1) {
		ret = mix_largest(m, counts, r->free[0], true, &r->most_upper[0], &r->none_upper,
				  r->why, &job->err);
		return ret ? ret
			   : mix_largest(m, counts, r->free[0], false, &r->most[0], &r->none,
					 r->why, &job->err);
	}
	ret = mix_frontier(m, counts, r->free[0], r->free[1], true, r->most_upper, &r->nr_upper,
			   &job->err);
	return ret ? ret
		   : mix_frontier(m, counts, r->free[0], r->free[1], false, r->most, &r->nr,
				  &job->err);
}

static int study_mix_show(struct job *job)
{
	struct answer *a = mix_answer(&job->r);
	struct buf svg;

	if (job->r.nr_free == 2 && job->r.nr) {
		buf_init(&svg);
		answer_fail(a, study_draw_mix(&job->r, &svg));
		answer_picture(a, "The frontier",
			       "Every pair of counts on or below the line keeps all objectives and "
			       "the capacity.",
			       &svg);
	}
	return cli_show(job->cli, a, job->report, &job->err);
}

static int study_mix_work(struct job *job)
{
	int ret = read_all(job);

	if (!ret)
		ret = study_mix_solve(job);
	if (ret)
		return ret;
	if (job->r.mix.outside)
		cli_note(job->cli,
			 job->storage
				 ? "%s: extrapolated"
				 : "'%s' lies outside what the target's model knows: extrapolated",
			 job->r.mix.outside);
	ret = study_mix_show(job);
	for (size_t i = 0; i < job->r.mix.nr && !ret; i++)
		loads_note_missing(&job->cli->teller, job->r.mix.loads[i].name,
				   job->r.mix.loads[i].facts.missing);
	return ret;
}

static int study_mix_ask(struct job *job)
{
	struct cli *cli = job->cli;
	uint64_t most = MOST;
	const struct cli_option options[] = {
		CLI_LIST("slo", 0, "OBJECTIVE,...", &job->slo,
			 "read.p95=20ms, write.mean=5ms, ..."),
		LOAD_OPTIONS(&job->options),
		PREDICTOR_OPTIONS(&job->by),
		CLI_STRING("storage", 0, "FILE", &job->storage,
			   "or simulate what is stored on this device (blkcast storage calibrate)"),
		CLI_LIST("measure", 0, "SIZE:read=N,write=N,...", &job->measure,
			 "measured requests per second: the capacity, as of blkcast capacity"),
		CLI_U64("most", 0, "N", &most, "of one load to look at, default 64"),
		CLI_STRING("report", 0, "FILE", &job->report, "an HTML page"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options) || !load_options_take(&job->options, cli))
		return cli->status;
	if (!cli->argc || cli->argc > MIX_LOADS_MAX)
		return cli_usage(cli, "expected 1 to %d profiles, each with =COUNT or without",
				 MIX_LOADS_MAX);
	if (!job->slo.nr && !job->measure.nr)
		return cli_usage(cli, "expected --slo, --measure or both");
	if (job->slo.nr > MIX_LOADS_MAX)
		return cli_usage(cli, "--slo: expected up to %d", MIX_LOADS_MAX);
	ret = predictor_options_take(&job->by, &job->storage, cli);
	if (ret)
		return ret;
	if (predictor_options_given(&job->by) + (job->storage != NULL) != (job->slo.nr > 0))
		return cli_usage(cli, "expected one of --model, --db and --storage beside --slo");
	if (job->storage && (job->options.sel.begin_real_ns || job->options.sel.end_real_ns))
		return cli_usage(cli, "--begin, --end: not beside --storage, which simulates all "
				      "stored requests");
	if (most < 1 || most > PREDICTOR_LOADS_MAX)
		return cli_usage(cli, "--most: expected 1 to %d", PREDICTOR_LOADS_MAX);
	job->r.mix.most = most;
	lsq_single_thread();
	ret = study_mix_work(job);
	return cli_finish(cli, ret, &job->err,
			  mix_cannot_tell(&job->r) ? CLI_CANNOT_TELL
			  : mix_is_fit(&job->r)	   ? CLI_DONE
						   : CLI_FAILED);
}

int study_mix(struct cli *cli)
{
	struct job *job = calloc(1, sizeof(*job));
	int ret;

	if (!job)
		return cli_fail(cli, &(struct err){ ENOMEM, "out of memory" });
	job->cli = cli;
	ret = study_mix_ask(job);
	loads_release(&job->loads);
	load_options_release(&job->options);
	predictor_release(&job->predictor);
	mix_device_release(&job->device);
	study_device_release(&job->target);
	capacity_release(&job->capacity);
	free(job);
	return ret;
}
