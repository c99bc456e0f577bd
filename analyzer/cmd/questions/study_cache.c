// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/cmd/cli/load_options.h"
#include "analyzer/cmd/cli/show.h"
#include "analyzer/cmd/questions/study_device.h"
#include "analyzer/cmd/questions/study_verbs.h"
#include "analyzer/models/num/lsq.h"
#include "analyzer/report/curve/miss_ratio.h"
#include "analyzer/report/curve/study_draw.h"

#define LOADS_MAX 64

struct job {
	struct cli *cli;
	struct load_choice options;
	uint64_t size_bytes;
	double hit_ratio, hit_s, miss_s;
	const char *report;
	const char *storage; /* a simulated device behind the cache, or NULL */
	struct predictor_options by;
	struct word_list slo;
	struct predictor predictor; /* of the storage behind the cache, where by says so */
	struct study study;	    /* the loads, for the device or the predictor */
	struct study_device target;
	bool cannot_tell;
	struct loads loads;
	struct cache_advice advice[LOADS_MAX];
	struct cache_stream streams[LOADS_MAX];
	double shared[LOADS_MAX], equal[LOADS_MAX], parted[LOADS_MAX];
	struct cache_times times[LOADS_MAX];
	enum study_slo_verdict slo_verdict;
	struct err err;
};

static int no_curve(struct job *job, const char *path, const struct profile_group *g)
{
	if (!g->has_whole)
		return err_set(&job->err, EINVAL,
			       "%s: the %zu windows of %s have a miss-ratio curve each, which "
			       "cannot be merged: characterize the trace as a whole",
			       path, g->nr_windows, g->whole.device_name);
	return err_set(
		&job->err, EINVAL,
		"%s: %s has no miss-ratio curve: too few requests, or a source that does not "
		"see them",
		path, g->whole.device_name);
}

/* Returns the mean time of a load's reads and writes that miss. */
static double study_cache_mean_s(const struct profile *p, const struct cache_times *t)
{
	double sum = 0, nr = 0;

	for (int side = 0; side < 2; side++) {
		double n = (double)p->requests[side ? OPERATION_WRITE : OPERATION_READ];

		sum += n > 0 ? n * t->miss_s[side] : 0;
		nr += n;
	}
	return sum / nr;
}

/* Refuses a load where the storage tells the times of one direction alone. */
static int no_time(struct job *job, size_t load)
{
	const char *side = isnan(job->times[load].miss_s[0]) &&
					   job->loads.groups[load]->whole.requests[OPERATION_READ]
				   ? "read"
				   : "write";

	return err_set(&job->err, EINVAL,
		       "%s: the storage tells no time of its %ss that miss: expected a model of "
		       "%s_s",
		       job->loads.paths[load], side, side);
}

/* Opens the storage behind the cache: a simulated device, or models. */
static int study_cache_open(struct job *job)
{
	if (!job->storage) {
		job->study.predictor = &job->predictor;
		return predictor_open(&job->predictor, &job->by, &job->cli->teller, &job->err);
	}
	job->study.simulated = true;
	job->target = (struct study_device){ .cli = job->cli,
					     .study = &job->study,
					     .paths = job->loads.paths,
					     .storage = job->storage };
	return study_device_open(&job->target, &job->err);
}

/* Takes the answer about a load alone as the time of its misses. */
static void study_cache_take(struct job *job, size_t i, const struct study_case *alone)
{
	const struct study_answer *a = &alone->answers[0];
	struct cache_times *t = &job->times[i];

	for (int side = 0; side < 2; side++) {
		t->miss_s[side] = a->s[side];
		t->miss_high_s[side] = isnan(a->high[side]) ? a->s[side] : a->high[side];
	}
	job->cannot_tell |= alone->why[0];
	if (alone->why[0])
		cli_note(job->cli, "%s: extrapolated", alone->why);
}

/* Asks about each load alone on the storage, as if no request hit: its mean is that of misses. */
static int study_cache_target(struct job *job, size_t nr)
{
	struct study_case *alone;
	int ret;

	if (nr > STUDY_LOADS_MAX)
		return err_set(&job->err, EINVAL,
			       "--storage, --model, --db: expected up to %d loads, got %zu",
			       STUDY_LOADS_MAX, nr);
	study_take_loads(&job->study, &job->loads);
	ret = study_cache_open(job);
	if (ret)
		return ret;
	alone = calloc(nr + 1, sizeof(*alone));
	if (!alone)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		alone[i] = (struct study_case){ .loads = { i }, .nr = 1 };
	if (job->storage)
		ret = study_device_cases(&job->target, alone, nr, &job->err);
	for (size_t i = 0; i < nr && !ret; i++) {
		if (!job->storage)
			ret = study_predict(&job->study, &alone[i], &job->err);
		if (!ret)
			study_cache_take(job, i, &alone[i]);
	}
	free(alone);
	return ret;
}

/* The times of misses where no storage is asked: as characterized, or as the caller says. */
static void study_cache_characterized(struct job *job, size_t i)
{
	const struct profile *p = &job->loads.groups[i]->whole;
	struct cache_times *t = &job->times[i];

	for (int side = 0; side < 2; side++)
		t->miss_s[side] = t->miss_high_s[side] =
			isnan(job->miss_s)
				? profile_mean_s(side ? &p->write.response : &p->read.response,
						 STAGE_TOTAL)
				: job->miss_s;
}

static int study_cache_advise(struct job *job, size_t nr)
{
	bool asks = job->storage || predictor_options_given(&job->by);
	int ret = asks ? study_cache_target(job, nr) : 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		const struct profile_group *group = job->loads.groups[i];
		double miss_s = job->miss_s;

		if (asks)
			miss_s = study_cache_mean_s(&group->whole, &job->times[i]);
		else
			study_cache_characterized(job, i);
		job->times[i].hit_s = job->hit_s;
		job->streams[i] = cache_stream_of(group);
		if (cache_advise(&job->advice[i], group, job->hit_s, miss_s, job->hit_ratio))
			ret = no_curve(job, job->loads.paths[i], group);
		else if (asks && isnan(miss_s))
			ret = no_time(job, i);
	}
	return ret;
}

/* Reads the objectives. Hits are known of reads and writes together, and so are means alone. */
static int study_cache_objectives(struct job *job, struct study_slo *slo)
{
	int ret = 0;

	for (size_t i = 0; i < job->slo.nr && !ret; i++) {
		ret = study_slo_add(slo, job->slo.items[i], &job->err);
		if (!ret && slo->objectives[i].point[0])
			ret = err_set(&job->err, EINVAL, "--slo %.60s: a cache tells means",
				      job->slo.items[i]);
	}
	return ret;
}

/* Without a given size, the sum of all knees is used. */
static int study_cache_share(struct job *job, struct cache_result *r)
{
	r->size_bytes = (double)job->size_bytes;
	for (size_t i = 0; i < r->nr && !job->size_bytes; i++)
		r->size_bytes += isfinite(job->advice[i].knee_bytes) ? job->advice[i].knee_bytes
								     : job->advice[i].most_bytes;
	for (size_t i = 0; i < r->nr; i++)
		job->equal[i] = r->size_bytes / (double)r->nr;
	cache_shared(job->streams, r->nr, r->size_bytes, job->shared);
	r->shared = job->shared;
	r->equal = job->equal;
	r->parted = job->parted;
	return cache_parted(job->streams, r->nr, r->size_bytes, job->parted);
}

/* Draws the curve of one load. A load without hits has no curve and gets a sentence instead. */
static void study_cache_draw_load(const struct cache_result *r, size_t i, struct answer *a)
{
	char name[128], id[32];
	struct view view = { .id = id };
	struct buf svg;
	int ret;

	buf_init(&svg);
	snprintf(id, sizeof(id), "curve-%zu", i);
	cache_load_name(r, i, name);
	ret = miss_ratio_draw(&r->loads[i]->whole, &view, &svg);
	if (ret == -ENODATA) {
		buf_release(&svg);
		answer_picture(a, name, "No request hits, whatever the size of the cache.", &svg);
		return;
	}
	answer_fail(a, ret);
	answer_picture(a, name, "Misses by the size of a cache of its own.", &svg);
}

static int study_cache_show(struct job *job, const struct cache_result *r)
{
	struct answer *a = cache_answer(r);
	struct buf svg;

	if (r->nr > 1) {
		buf_init(&svg);
		answer_fail(a, study_draw_cache(r, &svg));
		answer_picture(a, "One cache for all",
			       "Share of all references that hit, by the size of a cache that the "
			       "loads use together; the vertical line is the size asked about.",
			       &svg);
	}
	for (size_t i = 0; i < r->nr; i++)
		study_cache_draw_load(r, i, a);
	return cli_show(job->cli, a, job->report, &job->err);
}

static int study_cache_work(struct job *job)
{
	struct cache_result r = { .advice = job->advice,
				  .streams = job->streams,
				  .hit_ratio = job->hit_ratio,
				  .size_bytes = (double)job->size_bytes };
	int ret = study_cache_objectives(job, &r.slo);

	if (!ret)
		ret = loads_read(&job->loads, &job->options, &job->cli->teller, LOADS_MAX,
				 &job->err);

	r.loads = job->loads.groups;
	r.nr = job->loads.nr;
	if (!ret)
		ret = study_cache_advise(job, r.nr);
	if (!ret && r.nr > 1)
		ret = study_cache_share(job, &r);
	if (ret)
		return ret;
	cache_judge(&r, job->times);
	job->slo_verdict = r.slo_verdict;
	return study_cache_show(job, &r);
}

static int study_cache_ask(struct job *job)
{
	struct cli *cli = job->cli;
	double percent = NAN;
	const struct cli_option options[] = {
		LOAD_OPTIONS(&job->options),
		CLI_SIZE("size", 0, "SIZE", &job->size_bytes,
			 "of a cache for all loads; default the knees of all"),
		CLI_DOUBLE("hits", 0, "PERCENT", &percent, "how large for that share of hits"),
		CLI_DURATION("hit-time", 0, "TIME", &job->hit_s,
			     "of a request that hits: for response times"),
		CLI_DURATION("miss-time", 0, "TIME", &job->miss_s,
			     "of a request that misses; default as characterized"),
		PREDICTOR_OPTIONS(&job->by),
		CLI_STRING("storage", 0, "FILE", &job->storage,
			   "or simulate the misses on this device (blkcast storage calibrate)"),
		CLI_LIST("slo", 0, "OBJECTIVE,...", &job->slo,
			 "exit status 1 where a load breaks it: read.mean=20ms, write.mean=5ms"),
		CLI_STRING("report", 0, "FILE", &job->report, "an HTML page"),
		CLI_END,
	};
	int ret;

	if (!cli_parse(cli, options) || !load_options_take(&job->options, cli))
		return cli->status;
	if (!cli->argc || cli->argc > LOADS_MAX)
		return cli_usage(cli, "expected 1 to %d profiles, stores or segments", LOADS_MAX);
	if (isfinite(percent) && !(percent > 0 && percent <= 100))
		return cli_usage(cli, "--hits: expected a percentage above 0, up to 100");
	ret = predictor_options_take(&job->by, &job->storage, cli);
	if (ret)
		return ret;
	if ((job->storage != NULL) + isfinite(job->miss_s) + predictor_options_given(&job->by) > 1)
		return cli_usage(cli, "expected one of --miss-time, --model, --db and --storage");
	if (job->slo.nr && isnan(job->hit_s))
		return cli_usage(cli, "--slo: expected --hit-time beside it");
	if (job->storage && (job->options.sel.begin_real_ns || job->options.sel.end_real_ns))
		return cli_usage(cli, "--begin, --end: not beside --storage, which simulates all "
				      "stored requests");
	lsq_single_thread();
	job->hit_ratio = percent / 100;
	ret = study_cache_work(job);
	job->cannot_tell |= job->slo_verdict == STUDY_SLO_UNKNOWN;
	return cli_finish(cli, ret, &job->err,
			  job->cannot_tell			 ? CLI_CANNOT_TELL
			  : job->slo_verdict == STUDY_SLO_BROKEN ? CLI_FAILED
								 : CLI_DONE);
}

int study_cache(struct cli *cli)
{
	struct job *job = calloc(1, sizeof(*job));
	int ret;

	if (!job)
		return cli_fail(cli, &(struct err){ ENOMEM, "out of memory" });
	job->cli = cli;
	job->hit_ratio = job->hit_s = job->miss_s = NAN;
	ret = study_cache_ask(job);
	loads_release(&job->loads);
	load_options_release(&job->options);
	study_device_release(&job->target);
	predictor_release(&job->predictor);
	free(job);
	return ret;
}
