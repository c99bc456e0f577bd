// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/mix_question.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/curve/study_draw.h"

/* Parses a load: "a.json" is to be used once, and "b.json=2" twice. */
static int mix_question_load(struct mix_question *q, const char *text, struct err *err)
{
	struct mix_fit *m = &q->r.mix;
	struct mix_load *load = &m->loads[m->nr];
	const struct profile *p;
	size_t len, count;
	char *path;
	int ret = load_operand_count(text, 0, &len, &count, err);

	if (ret)
		return ret;
	path = strndup(text, len);
	ret = path ? loads_add(&q->of.loads, &q->of.choice, q->of.teller, path, SIZE_MAX, err)
		   : -ENOMEM;
	free(path);
	if (ret)
		return ret;
	if (q->of.loads.nr != m->nr + 1)
		return err_set(err, EINVAL, "%.*s: expected one device, got %zu", (int)len, text,
			       q->of.loads.nr - m->nr);
	p = &q->of.loads.groups[m->nr]->whole;
	if (!(p->requests[OPERATION_READ] + p->requests[OPERATION_WRITE]))
		return err_set(err, EINVAL, "%.*s: it has no reads or writes", (int)len, text);
	snprintf(load->name, sizeof(load->name), "%.60s %.60s", p->host, p->device_name);
	load_facts_of_group(q->of.loads.groups[m->nr], &load->facts);
	load->count = count;
	load->free = !text[len];
	m->nr++;
	return 0;
}

/* Opens the device with the requests of all loads. */
static int mix_question_device(struct mix_question *q, struct err *err)
{
	int ret = question_open_device(&q->of, NULL, err);

	if (ret)
		return ret;
	q->device = (struct mix_device){ .target = &q->of.target.target,
					 .study = &q->of.study,
					 .replay = q->of.target.replay,
					 .seed = q->of.target.sim.seed };
	q->r.mix.device = &q->device;
	return 0;
}

static int mix_question_read(struct mix_question *q, struct err *err)
{
	struct mix_fit *m = &q->r.mix;
	int ret = 0;

	for (size_t i = 0; i < q->of.choice.nr && !ret; i++)
		ret = mix_question_load(q, q->of.choice.operands[i], err);
	for (size_t i = 0; i < m->nr && !ret; i++)
		if (m->loads[i].free) {
			if (q->r.nr_free == 2)
				return err_set(err, EINVAL,
					       "%s: expected up to two loads without a count",
					       q->of.choice.operands[i]);
			q->r.free[q->r.nr_free++] = i;
		}
	for (size_t i = 0; i < q->of.slo.nr && !ret; i++) {
		ret = headroom_read_objective(q->of.slo.items[i], &m->objectives[i], err);
		m->objective_text[i] = q->of.slo.items[i];
		m->nr_objectives++;
	}
	if (!ret && q->of.storage)
		ret = mix_question_device(q, err);
	else if (!ret && q->of.slo.nr)
		ret = predictor_open(&q->of.predictor, &q->of.by, q->of.teller, err);
	m->predictor = &q->of.predictor;
	if (ret)
		return ret;
	if (!q->is_measured)
		return 0;
	m->capacity = &q->capacity;
	return capacity_finish(&q->capacity, err);
}

static int mix_question_solve(struct mix_question *q, struct err *err)
{
	struct mix_result *r = &q->r;
	struct mix_fit *m = &r->mix;
	size_t counts[MIX_LOADS_MAX];
	int ret = 0;

	for (size_t i = 0; i < m->nr; i++)
		counts[i] = m->loads[i].count;
	if (!r->nr_free)
		return mix_fits(m, counts, false, &r->fits, r->why, err);
	if (r->nr_free == 1) {
		ret = mix_largest(m, counts, r->free[0], true, &r->most_upper[0], &r->none_upper,
				  r->why, err);
		return ret ? ret
			   : mix_largest(m, counts, r->free[0], false, &r->most[0], &r->none,
					 r->why, err);
	}
	ret = mix_frontier(m, counts, r->free[0], r->free[1], true, r->most_upper, &r->nr_upper,
			   err);
	return ret ? ret
		   : mix_frontier(m, counts, r->free[0], r->free[1], false, r->most, &r->nr, err);
}

static struct answer *mix_question_draw(const struct mix_question *q)
{
	struct answer *a = mix_answer(&q->r);
	struct buf svg;

	if (q->r.nr_free != 2 || !q->r.nr)
		return a;
	buf_init(&svg);
	answer_fail(a, study_draw_mix(&q->r, &svg));
	answer_picture(a, "The frontier",
		       "Every pair of counts on or below the line keeps all objectives and the "
		       "capacity.",
		       &svg);
	return a;
}

int mix_question_answer(struct answer **out, struct mix_question *q, struct err *err)
{
	const struct mix_fit *m = &q->r.mix;
	int ret = mix_question_read(q, err);

	if (!ret)
		ret = mix_question_solve(q, err);
	if (ret)
		return ret;
	if (m->outside)
		teller_note(q->of.teller,
			    q->of.storage ? "%s: extrapolated"
					  : "'%s' lies outside what the target's model knows: "
					    "extrapolated",
			    m->outside);
	*out = mix_question_draw(q);
	for (size_t i = 0; i < m->nr; i++)
		loads_note_missing(q->of.teller, m->loads[i].name, m->loads[i].facts.missing);
	q->of.verdict = mix_cannot_tell(&q->r) ? QUESTION_CANNOT_TELL
			: mix_is_fit(&q->r)    ? QUESTION_YES
					       : QUESTION_NO;
	return 0;
}

void mix_question_release(struct mix_question *q)
{
	mix_device_release(&q->device);
	capacity_release(&q->capacity);
	question_release(&q->of);
}
