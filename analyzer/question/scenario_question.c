// SPDX-License-Identifier: Apache-2.0
#include "analyzer/question/scenario_question.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/curve/study_draw.h"

/* Makes the answer with its picture. */
static struct answer *scenario_question_draw(const struct scenario_result *r, bool utc)
{
	struct answer *a = scenario_answer(r, utc);
	struct buf svg;

	buf_init(&svg);
	answer_fail(a, study_draw_scenarios(r, &svg));
	answer_picture(a, "Response times",
		       "A bar for each scenario; the thin line is a 90 % interval.", &svg);
	return a;
}

static int scenario_question_same_names(const struct scenario_result *r, struct err *err)
{
	for (size_t i = 0; i < r->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(r->scenarios[i].name, r->scenarios[k].name))
				return err_set(err, EINVAL,
					       "%s: scenario: expected another name than %s of %s",
					       r->scenarios[i].path, r->scenarios[k].name,
					       r->scenarios[k].path);
	return 0;
}

/* Reads a scenario, and replaces the storages that --storage names. */
static int scenario_question_read(struct scenario *s, struct scenario_files *f, const char *path,
				  const struct scenario_question *q, struct err *err)
{
	int ret = scenario_read(s, f, path, err);

	for (size_t i = 0; i < q->storages.nr && !ret; i++) {
		const char *text = q->storages.items[i], *equals = strchr(text, '=');
		char name[SCENARIO_NAME_BYTES];

		if (equals && equals - text >= (ptrdiff_t)sizeof(name))
			return err_set(err, EINVAL, "storage %.80s: expected [NAME=]DEVICE.json",
				       text);
		snprintf(name, sizeof(name), "%.*s", equals ? (int)(equals - text) : 0, text);
		ret = scenario_simulate(s, equals ? name : NULL, equals ? equals + 1 : text, err);
		if (ret)
			err_prefix(err, "storage %.80s", text);
	}
	return ret;
}

/* Says once for each VM which of its requests are not simulated. */
static void scenario_question_note_left_out(const struct teller *t, const struct scenario_result *r,
					    size_t scenario, const struct scenario_vm *vm)
{
	for (size_t i = 0; i < scenario; i++) {
		const struct scenario_vm *before = scenario_vm_of(&r->scenarios[i], vm->name);

		if (before && before->nr_left_out)
			return;
	}
	if (vm->nr_left_out)
		teller_note(t,
			    "%s: %s: %" PRIu64
			    " requests are left out: they are no reads, writes or "
			    "flushes, or have no times",
			    vm->name, vm->path, vm->nr_left_out);
}

static void scenario_question_note(const struct teller *t, const struct scenario_result *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		const struct scenario *s = &r->scenarios[i];

		for (size_t k = 0; k < s->nr_storages; k++)
			if (s->storages[k].why[0])
				teller_note(t, "%s: %s: extrapolated", s->name, s->storages[k].why);
		for (size_t k = 0; k < s->nr_vms; k++)
			scenario_question_note_left_out(t, r, i, &s->vms[k]);
	}
}

static enum question_verdict scenario_question_verdict(const struct scenario_result *r)
{
	bool cannot_tell = r->slo_verdict == STUDY_SLO_UNKNOWN;
	bool overloaded = r->slo_verdict == STUDY_SLO_BROKEN;

	for (size_t i = 0; i < r->nr; i++) {
		cannot_tell |= scenario_cannot_tell(&r->scenarios[i]);
		overloaded |= scenario_overloaded(&r->scenarios[i]);
	}
	return cannot_tell ? QUESTION_CANNOT_TELL : overloaded ? QUESTION_NO : QUESTION_YES;
}

static int scenario_question_solve(struct scenario_question *q, struct scenario_result *r,
				   struct scenario_files *f, struct err *err)
{
	int ret = question_objectives(&q->of, &r->slo, "a scenario tells means", err);

	for (; r->nr < q->nr && !ret; r->nr++)
		ret = scenario_question_read(&r->scenarios[r->nr], f, q->paths[r->nr], q, err);
	if (!ret)
		ret = scenario_question_same_names(r, err);
	for (size_t i = 0; i < r->nr && !ret; i++)
		ret = scenario_solve(&r->scenarios[i], err);
	if (ret)
		return ret;
	scenario_judge(r);
	scenario_question_note(q->of.teller, r);
	q->of.verdict = scenario_question_verdict(r);
	return scenario_files_origins(f, q->of.teller->maker.origins, q->of.teller->utc, err);
}

int scenario_question_answer(struct answer **out, struct scenario_question *q, struct err *err)
{
	struct scenario_result r = { 0 };
	struct scenario_files *files = scenario_files_new();
	int ret = -ENOMEM;

	r.scenarios = calloc(SCENARIOS_MAX, sizeof(*r.scenarios));
	if (!files || !r.scenarios)
		goto out;
	ret = scenario_question_solve(q, &r, files, err);
	if (!ret)
		*out = scenario_question_draw(&r, q->of.teller->utc);
out:
	free(r.scenarios);
	scenario_files_free(files);
	return ret;
}
