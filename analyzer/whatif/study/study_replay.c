// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/study/study_replay.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/replay/causal_load.h"
#include "analyzer/replay/causal_run.h"
#include "analyzer/store/scan/selection.h"
#include "analyzer/store/store.h"

#define PATH_BYTES 4096

/*
 * By how much |ln(measured / replayed)| of applications was larger than chance explains, so that
 * nine in ten values of one more application lie within, from docs/studies/replay/replay.csv
 * (scripts/study-applications-coverage.sh).
 */
static const double replay_excess[STUDY_POINTS] = { 0.17, 0.16, 0.29, 0.35 };

static bool is_trace(const char *path)
{
	size_t len = strlen(path);
	struct stat st;

	return !store_is_folder(path) || (len > 4 && !strcmp(path + len - 4, ".seg")) ||
	       (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

int study_replay_plan(struct causal_plan *plan, const struct profile *p, const char *path,
		      double duration_s, struct err *err)
{
	struct selection sel = { .hosts = { { p->host }, 1 },
				 .devices = { { p->device }, 1 },
				 .leave_out_own = true };
	struct scan *scan = NULL;
	int ret;

	if (!is_trace(path))
		return err_set(err, ENODATA, "%s: is a profile, not the requests themselves", path);
	ret = selection_open_path(&sel, path, &scan, NULL, err);
	if (ret)
		goto out;
	ret = causal_load(plan, scan, duration_s, err);
	if (ret)
		err_prefix(err, "%s", path);
out:
	scan_close(scan);
	selection_release(&sel);
	return ret;
}

int study_replay_load(struct study_replay *r, const struct study *s, const char *const *paths,
		      struct err *err)
{
	int ret = 0;

	memset(r, 0, sizeof(*r));
	for (; r->nr < s->nr && !ret; r->nr++)
		ret = study_replay_plan(&r->plans[r->nr], &s->loads[r->nr].group->whole,
					paths[r->nr], s->run.duration_s, err);
	return ret;
}

uint64_t study_replay_written(const struct causal_plan *plan)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan->nr_lanes; i++)
		for (size_t k = 0; k < plan->lanes[i].nr; k++)
			if (plan->lanes[i].requests[k].operation == OPERATION_WRITE)
				bytes += plan->lanes[i].requests[k].bytes;
	return bytes;
}

int study_replay_files(const struct study_replay *r, struct replay_parts parts[STUDY_LOADS_MAX],
		       bool is_shared)
{
	int ret = 0;

	for (size_t i = 0; i < r->nr; i++)
		parts[i] = (struct replay_parts){ 0 };
	if (is_shared)
		return replay_parts_make(&parts[0], r->plans, r->nr);
	for (size_t i = 0; i < r->nr && ret == 0; i++)
		ret = replay_parts_make(&parts[i], &r->plans[i], 1);
	return ret;
}

/* Fills the new file that is the target wherever a request of any load reaches. */
static int replay_target(struct study_replay *r, const struct study *s, struct err *err)
{
	const struct replay_write how = { r->quiet, s->stop };
	struct replay_parts parts;
	int ret;

	if (r->laid_out || !s->target.made)
		return 0;
	ret = replay_parts_make(&parts, r->plans, r->nr);
	if (ret == 0)
		ret = replay_file_write(s->run.target, 0, &parts, &how, err);
	r->laid_out = ret == 0;
	replay_parts_release(&parts);
	return ret;
}

/* Makes the file of one load in the folder that is the target. */
static int replay_new_file(const struct study_replay *r, const struct study *s, const char *path,
			   const struct causal_plan *plan, struct err *err)
{
	const struct replay_write how = { r->quiet, s->stop };
	struct replay_parts parts;
	int ret = replay_parts_make(&parts, plan, 1);

	if (ret == 0)
		ret = replay_file_write(path, O_CREAT | O_EXCL, &parts, &how, err);
	replay_parts_release(&parts);
	return ret;
}

void study_replay_recorded(const struct causal_plan *plan, struct device_times *out)
{
	*out = (struct device_times){ .elapsed_s = plan->window_s };
	for (int type = 0; type < DEVICE_NR_TYPES; type++) {
		out->response[type] = plan->response[type];
		out->nr[type] = plan->response[type].nr;
	}
}

void study_replay_compare(const struct study_replay *r, struct study *s)
{
	for (size_t i = 0; i < r->nr; i++) {
		struct study_load *l = &s->loads[i];
		struct device_times was;

		study_replay_recorded(&r->plans[i], &was);
		for (unsigned int type = 0; type < STUDY_TYPES; type++)
			for (unsigned int point = 0; point < STUDY_POINTS; point++)
				l->measured_s[type][point] =
					study_points_knows(was.nr[type], point)
						? device_times_at(&was, (enum device_type)type,
								  (enum device_point)point)
						: NAN;
		for (unsigned int type = 0; type < STUDY_FLUSH; type++)
			l->base_s[type] = l->measured_s[type][STUDY_MEAN];
	}
}

void study_set_device_time(struct study_answer *a, const struct device_times *times,
			   unsigned int type, unsigned int point, double half)
{
	double s = device_times_at(times, (enum device_type)type, (enum device_point)point);
	double wide = hypot(half, device_times_chance(times, (enum device_type)type,
						      (enum device_point)point));

	if (study_points_knows(times->nr[type], point))
		study_set_time(a, type, point,
			       &(struct study_time){ s, s * exp(-wide), s * exp(wide),
						     STUDY_BY_MODEL });
}

/*
 * The throughput is that of the load, times the rate of the requests that were sent over their
 * recorded rate. Clients that wait for the storage alone give a throughput that is off by as much
 * as the mean times, and all others one that is off by less: the interval is that of a mean.
 */
static void study_replay_answer(const struct load_facts *f, const struct causal_plan *plan,
				const struct causal_result *r, struct study_answer *a)
{
	double ratio =
		(double)causal_result_nr(r) / r->elapsed_s * plan->window_s / (double)plan->nr;
	double off = exp(replay_excess[STUDY_MEAN]);

	*a = (struct study_answer){ .s = { NAN, NAN },
				    .low = { NAN, NAN },
				    .high = { NAN, NAN },
				    .rate_per_s = f->rate_per_s * ratio,
				    .rate_low_per_s = f->rate_per_s * ratio / off,
				    .rate_high_per_s = f->rate_per_s * ratio * off };
	for (unsigned int type = 0; type < STUDY_TYPES; type++)
		for (unsigned int point = 0; point < STUDY_POINTS; point++)
			study_set_device_time(a, &r->times, type, point, replay_excess[point]);
}

int study_by_replay(struct study_replay *r, const struct study *s, struct study_case *c,
		    struct err *err)
{
	char(*files)[PATH_BYTES] = calloc(c->nr, PATH_BYTES), file[PATH_BYTES];
	struct causal_run runs[STUDY_LOADS_MAX];
	struct causal_result results[STUDY_LOADS_MAX];
	size_t nr_run = 0;
	int ret = files ? replay_target(r, s, err) : -ENOMEM;

	for (size_t i = 0; i < c->nr && !ret; i++) {
		const struct causal_plan *plan = &r->plans[c->loads[i]];

		runs[i] = (struct causal_run){ plan, s->run.target, s->run.duration_s, s->stop };
		if (!s->run.directory)
			continue;
		snprintf(file, sizeof(file), "%.3900s/blkcast-study-%ld-%zu", s->run.target,
			 (long)getpid(), i);
		ret = replay_new_file(r, s, file, plan, err);
		if (!ret) /* From here on this function must remove the file. */
			memcpy(files[i], file, sizeof(file));
		runs[i].target = files[i];
	}
	if (ret)
		goto out;
	ret = causal_runs(runs, c->nr, results, err);
	nr_run = c->nr;
	if (ret)
		goto out;
	for (size_t i = 0; i < c->nr; i++)
		study_replay_answer(&s->loads[c->loads[i]].facts, runs[i].plan, &results[i],
				    &c->answers[i]);
out:
	for (size_t i = 0; i < nr_run; i++)
		causal_result_release(&results[i]);
	for (size_t i = 0; i < c->nr && files; i++)
		if (files[i][0])
			unlink(files[i]);
	free(files);
	return ret;
}

void study_replay_release(struct study_replay *r)
{
	for (size_t i = 0; i < r->nr; i++)
		causal_release(&r->plans[i]);
	r->nr = 0;
}
