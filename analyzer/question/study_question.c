// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/study_question.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/report/curve/study_draw.h"

const char *const study_verb_names[] = { "migrate", "consolidate", "interference" };

static void study_question_times_of(const struct profile *p, double s[2])
{
	s[0] = p->requests[OPERATION_READ] ? profile_mean_s(&p->read.response, STAGE_TOTAL) : NAN;
	s[1] = p->requests[OPERATION_WRITE] ? profile_mean_s(&p->write.response, STAGE_TOTAL) : NAN;
}

static int study_question_read_loads(struct study_question *q, struct err *err)
{
	struct study *s = &q->of.study;
	int ret = loads_read(&q->of.loads, &q->of.choice, q->of.teller, STUDY_LOADS_MAX, err);

	if (ret)
		return ret;
	study_take_loads(s, &q->of.loads);
	for (size_t i = 0; i < s->nr; i++) {
		study_question_times_of(&s->loads[i].group->whole, s->loads[i].base_s);
		study_points_measured(&s->loads[i].group->whole, s->loads[i].measured_s);
	}
	if (s->nr < 2 && q->verb != STUDY_MIGRATE)
		ret = err_set(err, EINVAL, "expected at least two loads, got %zu", s->nr);
	return ret;
}

/* Reads what was measured afterwards, in the order of the loads. */
static int study_question_truths(struct study_question *q, struct err *err)
{
	const struct selection sel = { 0 };
	size_t load = 0;
	int ret;

	for (size_t i = 0; i < STUDY_LOADS_MAX; i++)
		q->truth[i][0] = q->truth[i][1] = NAN;
	for (size_t i = 0; i < q->measured.nr; i++) {
		struct profile_set set;

		if (load >= q->of.study.nr)
			return err_set(err, EINVAL, "measured %s: there are %zu loads",
				       q->measured.items[i], q->of.study.nr);
		profile_set_init(&set);
		ret = profile_set_load(&set, q->measured.items[i], &sel, err);
		for (size_t g = 0; g < set.nr_groups && load < q->of.study.nr && !ret; g++)
			study_question_times_of(&set.groups[g].whole, q->truth[load++]);
		profile_set_release(&set);
		if (ret)
			return ret;
	}
	return 0;
}

/* Refuses models of other responses, which would otherwise be ignored without notice. */
static int study_question_check_models(const struct study_question *q, struct err *err)
{
	const struct predictor *p = &q->of.predictor;

	for (size_t i = 0; i < p->nr_models; i++) {
		const char *response = p->models[i].schema.response, *dot = strrchr(response, '.');

		if (!study_points_asks(dot ? dot + 1 : response))
			return err_set(
				err, EINVAL,
				"%s: expected models of read_s, write_s or flush_s, or of their "
				"p50, p95 or p99 (read_p95_s), this is of %s",
				q->of.by.models.items[i], response);
	}
	return 0;
}

static int study_question_open_models(struct study_question *q, struct err *err)
{
	int ret;

	q->of.study.predictor = &q->of.predictor;
	ret = predictor_open(&q->of.predictor, &q->of.by, q->of.teller, err);
	if (!ret && q->from) {
		q->old_by = (struct predictor_options){ .db = q->from,
							.set = q->of.by.set,
							.campaign = q->of.by.campaign,
							.target = q->from_target };
		q->of.study.from = &q->old;
		ret = predictor_open(&q->old, &q->old_by, q->of.teller, err);
	}
	return ret ? ret : study_question_check_models(q, err);
}

/* Opens the real target, of which the cases are known. */
static int study_question_open_target(struct study_question *q, struct err *err)
{
	q->target.study = &q->of.study;
	q->target.teller = q->of.teller;
	q->target.paths = q->of.loads.paths;
	q->target.cases = q->cases;
	q->target.nr_cases = q->nr_cases;
	return study_target_open(&q->target, err);
}

/* Reads the devices and the stored requests that are simulated. */
static int study_question_open_device(struct study_question *q, struct err *err)
{
	q->of.study.simulated = true;
	q->of.target = (struct study_device){ .teller = q->of.teller,
					      .study = &q->of.study,
					      .paths = q->of.loads.paths,
					      .measured = (const double(*)[2])q->truth,
					      .storage = q->of.storage,
					      .from = q->from,
					      .slo = &q->objectives,
					      .errors = q->intervals ? &q->errors : NULL };
	return study_device_open(&q->of.target, err);
}

static void study_question_add_case(struct study_question *q, const size_t *loads, size_t nr,
				    size_t baseline)
{
	struct study_case *c = &q->cases[q->nr_cases];

	memcpy(c->loads, loads, nr * sizeof(*loads));
	c->nr = nr;
	q->baseline[q->nr_cases] = baseline == SIZE_MAX ? q->nr_cases : baseline;
	q->nr_cases++;
}

/* Adds a case of the first load and a neighbour, each with its copies. */
static void study_question_add_neighbour(struct study_question *q, size_t neighbour)
{
	size_t both[STUDY_LOADS_MAX], nr = 0;

	for (size_t i = 0; i < q->of.study.nr; i++)
		if (!q->of.loads.copy_of[i] || q->of.loads.copy_of[i] == neighbour)
			both[nr++] = i;
	study_question_add_case(q, both, nr, 0);
}

/* Makes the cases: each load alone is case 0, 1, ..., followed by the combinations. */
static void study_question_make_cases(struct study_question *q)
{
	size_t all[STUDY_LOADS_MAX], nr = q->of.study.nr;

	for (size_t i = 0; i < nr; i++) {
		all[i] = i;
		study_question_add_case(q, &i, 1, SIZE_MAX);
	}
	if (q->verb == STUDY_CONSOLIDATE)
		study_question_add_case(q, all, nr, 0);
	for (size_t i = 1; i < nr && q->verb == STUDY_INTERFERENCE; i++)
		if (q->of.loads.copy_of[i] == i)
			study_question_add_neighbour(q, i);
}

static int study_question_solve(struct study_question *q, struct err *err)
{
	int ret = q->of.storage ? study_device_cases(&q->of.target, q->cases, q->nr_cases, err) : 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < q->nr_cases; i++) {
		struct study_case *c = &q->cases[i];

		if (!q->of.storage)
			ret = q->target.path ? study_target_run(&q->target, c, err)
					     : study_predict(&q->of.study, c, err);
		if (ret)
			return ret;
		if (q->intervals)
			application_errors_widen(&q->errors, &q->of.study, c);
		if (c->why[0])
			teller_note(q->of.teller, "%s: extrapolated", c->why);
	}
	return 0;
}

/* Makes the answer with its picture. */
static struct answer *study_question_draw(const struct study_question *q,
					  const struct study_result *r)
{
	struct answer *a = study_answer(r, q->of.teller->utc);
	struct buf svg;

	buf_init(&svg);
	answer_fail(a, study_draw_times(r, &svg));
	answer_picture(a, NULL, "The thin line is a 90 % interval.", &svg);
	if (!q->target.path)
		study_device_say_intervals(q->intervals ? &q->errors : NULL, q->of.study.simulated,
					   a);
	return a;
}

static struct answer *study_question_draw_space(const struct space_result *r)
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
	return a;
}

/* Computes the interference over the neighbour's sizes and mixes. */
static int study_question_explore(struct answer **out, struct study_question *q, struct err *err)
{
	const struct study_load *load = &q->of.study.loads[0], *neighbour = &q->of.study.loads[1];
	struct space_result r = { .space = q->space };
	int ret;

	if (q->of.study.nr != 2)
		return err_set(err, EINVAL,
			       "over sizes and mixes of a neighbour: expected two loads, got %zu",
			       q->of.study.nr);
	study_name(&q->of.study, 0, r.load);
	study_name(&q->of.study, 1, r.neighbour);
	memcpy(r.base_s, load->base_s, sizeof(r.base_s));
	ret = neighbour_space_solve(&r.space, &q->of.predictor, &load->facts, &neighbour->facts,
				    err);
	if (ret)
		return ret;
	if (r.space.outside)
		teller_note(q->of.teller,
			    "'%s' lies outside what the target's model knows: extrapolated",
			    r.space.outside);
	q->of.verdict = space_cannot_tell(&r) ? QUESTION_CANNOT_TELL : QUESTION_YES;
	*out = study_question_draw_space(&r);
	return 0;
}

static void study_question_judge(struct study_question *q, bool cannot_tell, bool overloaded,
				 enum study_slo_verdict slo)
{
	q->of.verdict = cannot_tell || slo == STUDY_SLO_UNKNOWN ? QUESTION_CANNOT_TELL
			: overloaded || slo == STUDY_SLO_BROKEN ? QUESTION_NO
								: QUESTION_YES;
}

/* Reads the loads, the objectives and what is compared with the answer. */
static int study_question_read(struct study_question *q, struct err *err)
{
	int ret = study_question_read_loads(q, err);

	if (!ret)
		ret = question_objectives(&q->of, &q->objectives, NULL, err);
	if (!ret && q->intervals)
		ret = application_errors_read(&q->errors, q->intervals, PREDICTOR_LEVEL, err);
	return ret ? ret : study_question_truths(q, err);
}

static const char *study_question_how(const struct study_question *q)
{
	return q->target.replays     ? "replay"
	       : q->target.path	     ? "run"
	       : q->of.storage	     ? "device"
	       : q->from	     ? "relative"
	       : q->of.predictor.net ? "net"
				     : "models";
}

/* Notes which values the profiles lack, where models answered. */
static void study_question_note(const struct study_question *q)
{
	for (size_t i = 0; i < q->of.study.nr && q->of.study.predictor; i++) {
		char name[128];

		study_name(&q->of.study, i, name);
		loads_note_missing(q->of.teller, name, q->of.study.loads[i].facts.missing);
	}
}

/* Solves the cases, and concludes from them. */
static int study_question_conclude(struct answer **out, struct study_question *q, struct err *err)
{
	struct study_result r = { .verb = study_verb_names[q->verb],
				  .how = study_question_how(q),
				  .study = &q->of.study,
				  .cases = q->cases,
				  .nr_cases = q->nr_cases,
				  .baseline = q->baseline,
				  .measured = (const double(*)[2])q->truth };
	enum study_slo_verdict slo;
	size_t used;
	int ret = study_question_solve(q, err);

	if (ret)
		return ret;
	if (q->verb == STUDY_CONSOLIDATE) {
		r.has_peak = study_peak(&q->of.study, &r.peak) == 0;
		if (!r.has_peak)
			teller_note(q->of.teller, "a load has no windows: when the peaks coincide "
						  "is unknown");
	}
	ret = study_conclude(&r);
	if (ret)
		goto out;
	used = strlen(r.conclusion);
	slo = study_slo_check(&q->objectives, &r, r.conclusion + used, STUDY_WORDS_BYTES - used);
	study_question_judge(q, r.cannot_tell, r.overloaded, slo);
	*out = study_question_draw(q, &r);
	study_question_note(q);
out:
	study_result_release(&r);
	return ret;
}

int study_question_answer(struct answer **out, struct study_question *q, struct err *err)
{
	int ret = study_question_read(q, err);

	if (ret)
		return ret;
	study_question_make_cases(q);
	ret = q->of.storage    ? study_question_open_device(q, err)
	      : q->target.path ? study_question_open_target(q, err)
			       : study_question_open_models(q, err);
	if (ret)
		return ret;
	if (q->is_space)
		return study_question_explore(out, q, err);
	if (!q->of.storage || q->verb != STUDY_MIGRATE)
		return study_question_conclude(out, q, err);
	ret = study_device_migrate(out, &q->of.target, err);
	study_question_judge(q, q->of.target.cannot_tell, q->of.target.overloaded,
			     q->of.target.slo_verdict);
	return ret;
}

void study_question_release(struct study_question *q)
{
	predictor_release(&q->old);
	study_target_release(&q->target);
	question_release(&q->of);
}
