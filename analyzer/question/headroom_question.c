// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/headroom_question.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool headroom_question_thinks(const struct headroom_question *q)
{
	for (size_t i = 0; i < q->nr_facts; i++)
		if (load_away_s(&q->facts[i]) > 0)
			return true;
	return false;
}

/*
 * Solves by clients that think, where the load has such clients and models exist. Returns 1 where
 * it did, otherwise 0.
 */
static int headroom_question_busy(struct headroom_question *q, size_t i, const struct model *m,
				  struct err *err)
{
	const struct headroom_objective *o = &q->parts[i].objective;
	struct predictor_ask ask = { .point = o->point };
	struct busy_curves *c = &q->parts[i].busy;
	bool by_think = q->load && !strcmp(q->load, "think");
	int clients = load_model_is_busy(m) ? load_model_clients(m) : -1, ret;

	if (by_think || (clients >= 0 && headroom_question_thinks(q) &&
			 (!q->load || !strcmp(q->load, m->schema.variables[clients].name)))) {
		ask.sides[o->side] = true;
		ret = busy_curves_make(c, &q->of.predictor, &ask, q->facts, q->nr_facts, err);
		if (ret)
			return ret;
		if (busy_curves_has(c, o->side))
			ret = headroom_find_busy(&q->parts[i].found, c, m, &q->parts[i].own,
						 q->facts, q->nr_facts, o, by_think);
		else if (by_think)
			return err_set(err, EINVAL,
				       "load think: expected clients that think, and models of "
				       "read_s and write_s that know clients alone");
		else
			teller_note(q->of.teller,
				    "%s: no models of read_s and write_s to tell how clients "
				    "think: taken to think never",
				    q->of.slo.items[i]);
		return ret ? ret : busy_curves_has(c, o->side);
	}
	return 0;
}

/* Solves by a model of the response time, which scales its own load variable. */
static int headroom_question_model(struct headroom_question *q, size_t i, struct err *err)
{
	const struct headroom_objective *o = &q->parts[i].objective;
	const struct model *m;
	struct load_facts joined;
	int ret = predictor_model(&q->of.predictor, o->response, &m, err);

	if (!ret && !m)
		ret = err_set(err, EINVAL, "objective %s: no model of %s is given",
			      q->of.slo.items[i], o->response);
	if (ret)
		return ret;
	load_facts_join(q->facts, q->nr_facts, &joined);
	ret = load_rows_make(&q->parts[i].rows, m, &joined, o->side, false, q->of.by.set.items,
			     q->of.by.set.nr, err);
	if (!ret)
		ret = load_model_own(&q->parts[i].own, m, &joined, &joined, o->side,
				     q->of.by.set.items, q->of.by.set.nr, err);
	if (!ret)
		ret = headroom_question_busy(q, i, m, err);
	if (ret)
		return ret < 0 ? ret : 0;
	ret = load_model_scaled(m, q->load, err);
	if (ret < 0)
		return ret;
	return headroom_find(&q->parts[i].found, &q->parts[i].rows, &q->parts[i].own, ret,
			     o->limit_s, err);
}

static int headroom_question_solve(struct headroom_question *q, size_t i, struct err *err)
{
	struct headroom_objective *o = &q->parts[i].objective;
	int ret = headroom_read_objective(q->of.slo.items[i], o, err);

	if (ret)
		return ret;
	if (q->of.storage)
		return headroom_find_device(&q->parts[i].found, &q->device, o, err);
	if (!q->of.predictor.net)
		return headroom_question_model(q, i, err);
	if (q->load)
		return err_set(err, EINVAL, "load %.40s: a net knows clients alone", q->load);
	return headroom_find_net(&q->parts[i].found, &q->of.predictor, q->facts, q->nr_facts, o,
				 err);
}

/* Makes the answer with a knee curve per objective. */
static struct answer *headroom_question_draw(const struct headroom_question *q, size_t tightest)
{
	struct answer *a = headroom_answer(q->results, q->of.slo.nr, tightest);

	for (size_t i = 0; i < q->of.slo.nr; i++) {
		const struct headroom_part *p = &q->parts[i];
		char lead[HEADROOM_WORDS_BYTES], id[32];
		struct buf svg;

		buf_init(&svg);
		snprintf(id, sizeof(id), "knee-%zu", i);
		answer_fail(a, headroom_draw(&p->found, &p->objective, &p->rows, id, &svg));
		headroom_conclude(&q->results[i], lead);
		answer_picture(a, q->of.slo.items[i], lead, &svg);
	}
	if (q->of.storage)
		study_device_say_intervals(q->of.target.errors, true, a);
	return a;
}

/* Keeps of the profiles of the loads only the facts that a model takes. */
static int headroom_question_facts(struct headroom_question *q)
{
	struct loads *l = &q->of.loads;

	q->facts = calloc(l->nr + 1, sizeof(*q->facts));
	if (!q->facts)
		return -ENOMEM;
	for (; q->nr_facts < l->nr; q->nr_facts++) {
		load_facts_of_group(l->groups[q->nr_facts], &q->facts[q->nr_facts]);
		q->missing |= q->facts[q->nr_facts].missing;
	}
	return 0;
}

/* Opens the device with the requests of the loads. */
static int headroom_question_device(struct headroom_question *q, struct err *err)
{
	int ret = q->intervals
			  ? application_errors_read(&q->errors, q->intervals, PREDICTOR_LEVEL, err)
			  : 0;

	if (!ret)
		ret = question_open_device(&q->of, q->intervals ? &q->errors : NULL, err);
	if (ret)
		return ret;
	q->device = (struct headroom_device){ .target = &q->of.target.target,
					      .study = &q->of.study,
					      .replay = q->of.target.replay,
					      .seed = q->of.target.sim.seed };
	return 0;
}

/* Reads the loads, and opens the device or the models that predict the target. */
static int headroom_question_open(struct headroom_question *q, struct err *err)
{
	int ret = loads_read(&q->of.loads, &q->of.choice, q->of.teller,
			     q->of.storage ? STUDY_LOADS_MAX : SIZE_MAX, err);

	if (ret)
		return ret;
	if (q->of.storage)
		return headroom_question_device(q, err);
	ret = headroom_question_facts(q);
	loads_release(&q->of.loads);
	return ret ? ret : predictor_open(&q->of.predictor, &q->of.by, q->of.teller, err);
}

/* Says where the answer for an objective is extrapolated, and takes it into the verdict. */
static void headroom_question_judge(struct headroom_question *q, size_t i)
{
	const struct headroom *found = &q->parts[i].found;
	const char *text = q->of.slo.items[i];

	if (found->why[0])
		teller_note(q->of.teller, "%s: %s: extrapolated", text, found->why);
	else if (headroom_is_outside(found))
		teller_note(q->of.teller,
			    "%s: today's load lies outside what the model was trained on: "
			    "extrapolated",
			    text);
	if (headroom_is_outside(found))
		q->of.verdict = QUESTION_CANNOT_TELL;
	else if (q->of.verdict == QUESTION_YES &&
		 (found->broken || headroom_is_overloaded(&q->results[i])))
		q->of.verdict = QUESTION_NO;
}

int headroom_question_answer(struct answer **out, struct headroom_question *q, struct err *err)
{
	size_t tightest = 0;
	int ret = headroom_question_open(q, err);

	if (ret)
		return ret;
	q->parts = calloc(q->of.slo.nr, sizeof(*q->parts));
	if (!q->parts)
		return -ENOMEM;
	for (size_t i = 0; i < q->of.slo.nr; i++) {
		struct headroom_part *p = &q->parts[i];

		ret = headroom_question_solve(q, i, err);
		if (ret)
			return ret;
		q->results[i] = (struct headroom_result){ .text = q->of.slo.items[i],
							  .objective = &p->objective,
							  .found = &p->found };
		if (q->of.storage)
			headroom_device_rates(&q->results[i], &q->device);
		else
			headroom_find_rates(&q->results[i], &q->of.predictor, q->facts,
					    q->nr_facts);
		if (p->found.at.factor < q->parts[tightest].found.at.factor)
			tightest = i;
		headroom_question_judge(q, i);
	}
	*out = headroom_question_draw(q, tightest);
	loads_note_missing(q->of.teller, "the load", q->missing);
	return 0;
}

void headroom_question_release(struct headroom_question *q)
{
	for (size_t i = 0; i < q->of.slo.nr && q->parts; i++) {
		busy_curves_release(&q->parts[i].busy);
		load_rows_release(&q->parts[i].rows);
	}
	free(q->parts);
	free(q->facts);
	headroom_device_release(&q->device);
	question_release(&q->of);
}
