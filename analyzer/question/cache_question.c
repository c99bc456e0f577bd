// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/cache_question.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/report/curve/miss_ratio.h"
#include "analyzer/report/curve/study_draw.h"

static int cache_question_no_curve(const char *path, const struct profile_group *g, struct err *err)
{
	if (!g->has_whole)
		return err_set(err, EINVAL,
			       "%s: the %zu windows of %s have a miss-ratio curve each, which "
			       "cannot be merged: characterize the trace as a whole",
			       path, g->nr_windows, g->whole.device_name);
	return err_set(
		err, EINVAL,
		"%s: %s has no miss-ratio curve: too few requests, or a source that does not "
		"see them",
		path, g->whole.device_name);
}

/* Returns the mean time of a load's reads and writes that miss. */
static double cache_question_mean_s(const struct profile *p, const struct cache_times *t)
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
static int cache_question_no_time(const struct cache_question *q, size_t load, struct err *err)
{
	const char *side = isnan(q->times[load].miss_s[0]) &&
					   q->of.loads.groups[load]->whole.requests[OPERATION_READ]
				   ? "read"
				   : "write";

	return err_set(err, EINVAL,
		       "%s: the storage tells no time of its %ss that miss: expected a model of "
		       "%s_s",
		       q->of.loads.paths[load], side, side);
}

/* Opens the storage behind the cache: a simulated device, or models. */
static int cache_question_open(struct cache_question *q, struct err *err)
{
	if (q->of.storage)
		return question_open_device(&q->of, NULL, err);
	study_take_loads(&q->of.study, &q->of.loads);
	q->of.study.predictor = &q->of.predictor;
	return predictor_open(&q->of.predictor, &q->of.by, q->of.teller, err);
}

/* Takes the answer about a load alone as the time of its misses. */
static void cache_question_take(struct cache_question *q, size_t i, const struct study_case *alone)
{
	const struct study_answer *a = &alone->answers[0];
	struct cache_times *t = &q->times[i];

	for (int side = 0; side < 2; side++) {
		t->miss_s[side] = a->s[side];
		t->miss_high_s[side] = isnan(a->high[side]) ? a->s[side] : a->high[side];
	}
	q->is_outside |= alone->why[0];
	if (alone->why[0])
		teller_note(q->of.teller, "%s: extrapolated", alone->why);
}

/* Asks about each load alone on the storage, as if no request hit: its mean is that of misses. */
static int cache_question_target(struct cache_question *q, size_t nr, struct err *err)
{
	struct study_case *alone;
	int ret;

	if (nr > STUDY_LOADS_MAX)
		return err_set(err, EINVAL, "expected up to %d loads on one storage, got %zu",
			       STUDY_LOADS_MAX, nr);
	ret = cache_question_open(q, err);
	if (ret)
		return ret;
	alone = calloc(nr + 1, sizeof(*alone));
	if (!alone)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		alone[i] = (struct study_case){ .loads = { i }, .nr = 1 };
	if (q->of.storage)
		ret = study_device_cases(&q->of.target, alone, nr, err);
	for (size_t i = 0; i < nr && !ret; i++) {
		if (!q->of.storage)
			ret = study_predict(&q->of.study, &alone[i], err);
		if (!ret)
			cache_question_take(q, i, &alone[i]);
	}
	free(alone);
	return ret;
}

/* Sets the times of misses if no storage is asked: as characterized, or as the caller says. */
static void cache_question_characterized(struct cache_question *q, size_t i)
{
	const struct profile *p = &q->of.loads.groups[i]->whole;
	struct cache_times *t = &q->times[i];

	for (int side = 0; side < 2; side++)
		t->miss_s[side] = t->miss_high_s[side] =
			isnan(q->miss_s)
				? profile_mean_s(side ? &p->write.response : &p->read.response,
						 STAGE_TOTAL)
				: q->miss_s;
}

static int cache_question_advise(struct cache_question *q, size_t nr, struct err *err)
{
	bool asks = q->of.storage || (q->of.by.models.nr || q->of.by.db);
	int ret = asks ? cache_question_target(q, nr, err) : 0;

	for (size_t i = 0; i < nr && !ret; i++) {
		const struct profile_group *group = q->of.loads.groups[i];
		double miss_s = q->miss_s;

		if (asks)
			miss_s = cache_question_mean_s(&group->whole, &q->times[i]);
		else
			cache_question_characterized(q, i);
		q->times[i].hit_s = q->hit_s;
		q->streams[i] = cache_stream_of(group);
		if (cache_advise(&q->advice[i], group, q->hit_s, miss_s, q->hit_ratio))
			ret = cache_question_no_curve(q->of.loads.paths[i], group, err);
		else if (asks && isnan(miss_s))
			ret = cache_question_no_time(q, i, err);
	}
	return ret;
}

/* Without a given size, the sum of all knees is used. */
static int cache_question_share(struct cache_question *q, struct cache_result *r)
{
	r->size_bytes = (double)q->size_bytes;
	for (size_t i = 0; i < r->nr && !q->size_bytes; i++)
		r->size_bytes += isfinite(q->advice[i].knee_bytes) ? q->advice[i].knee_bytes
								   : q->advice[i].most_bytes;
	for (size_t i = 0; i < r->nr; i++)
		q->equal[i] = r->size_bytes / (double)r->nr;
	cache_shared(q->streams, r->nr, r->size_bytes, q->shared);
	r->shared = q->shared;
	r->equal = q->equal;
	r->parted = q->parted;
	return cache_parted(q->streams, r->nr, r->size_bytes, q->parted);
}

/* Draws the curve of one load. A load without hits has no curve and gets a sentence instead. */
static void cache_question_draw_load(const struct cache_result *r, size_t i, struct answer *a)
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

/* Makes the answer with its pictures. */
static struct answer *cache_question_draw(const struct cache_result *r)
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
		cache_question_draw_load(r, i, a);
	return a;
}

int cache_question_answer(struct answer **out, struct cache_question *q, struct err *err)
{
	struct cache_result r = { .advice = q->advice,
				  .streams = q->streams,
				  .hit_ratio = q->hit_ratio,
				  .size_bytes = (double)q->size_bytes };
	/* Hits are known of reads and writes together, and so are means alone. */
	int ret = question_objectives(&q->of, &r.slo, "a cache tells means", err);

	if (!ret)
		ret = loads_read(&q->of.loads, &q->of.choice, q->of.teller, CACHE_LOADS_MAX, err);
	if (ret)
		return ret;
	r.loads = q->of.loads.groups;
	r.nr = q->of.loads.nr;
	ret = cache_question_advise(q, r.nr, err);
	if (!ret && r.nr > 1)
		ret = cache_question_share(q, &r);
	if (ret)
		return ret;
	cache_judge(&r, q->times);
	q->of.verdict = q->is_outside || r.slo_verdict == STUDY_SLO_UNKNOWN ? QUESTION_CANNOT_TELL
			: r.slo_verdict == STUDY_SLO_BROKEN		    ? QUESTION_NO
									    : QUESTION_YES;
	*out = cache_question_draw(&r);
	return 0;
}
