// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/arch/ask/arch_ask.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "analyzer/models/arch/arch_answer.h"

int arch_ask_open(const struct arch_ask *q, size_t point, struct arch_model *m, struct err *err)
{
	struct arch_settings settings = { .without_failures = q->without_failures,
					  .storages = q->storages };
	int ret = arch_settings_read(&settings, &q->set, err);

	if (!ret)
		ret = arch_sweep_set(&q->sweeps, point, &settings);
	if (!ret)
		ret = arch_open(m, q->path, &settings, err);
	arch_settings_release(&settings);
	return ret;
}

/* Opens a model and solves it. The caller releases m and s. */
static int arch_ask_one(struct arch_ask *q, size_t point, struct arch_model *m,
			struct arch_solution *s, double *seconds, struct err *err)
{
	int ret = arch_ask_open(q, point, m, err);

	if (ret)
		return ret;
	ret = arch_run(s, seconds, m, &q->run, &q->record, point, q->teller, err);
	q->overloaded |= !ret && s->overloaded;
	return ret;
}

/* Opens the checkpoint of a sweep. Its question is the model with its files, and the options. */
static int arch_ask_record(struct arch_ask *q, struct err *err)
{
	struct sweep_record *r = &q->record;
	struct arch_model m = { 0 };
	int ret = sweep_record_open(r, q->checkpoint, "arch solve", err);

	if (ret || !q->checkpoint)
		return ret;
	ret = arch_ask_open(q, 0, &m, err);
	for (uint32_t i = 0; i < m.nr_files && !ret; i++)
		ret = sweep_record_file(r, m.files[i], err);
	for (uint32_t i = 0; i < m.nr_sources && !ret; i++)
		ret = sweep_record_file(r, m.sources[i], err);
	arch_release(&m);
	if (ret)
		return ret;
	sweep_record_words(r, &q->set);
	sweep_record_words(r, &q->sweep);
	sweep_record_run(r, &q->run);
	sweep_record_bytes(r, &q->without_failures, sizeof(q->without_failures));
	return sweep_record_ask(r, err);
}

static void arch_ask_busiest(struct answer_table *t, const struct arch_model *m,
			     const struct arch_solution *s)
{
	uint32_t best = ARCH_NONE, container;

	for (uint32_t i = 0; i < m->nr_resources; i++)
		if (m->resources[i].policy != ARCH_DELAY && isfinite(s->resources[i].utilization) &&
		    (best == ARCH_NONE ||
		     s->resources[i].utilization > s->resources[best].utilization))
			best = i;
	if (best == ARCH_NONE) {
		answer_words(t, "-");
		return;
	}
	container = m->resources[best].container;
	answer_words(t, "%s%s%s %.1f%%",
		     container == ARCH_NONE ? "" : m->containers[container].name,
		     container == ARCH_NONE ? "" : ".", m->resources[best].name,
		     100 * s->resources[best].utilization);
}

/* Adds one line for each scenario of a point. */
static void arch_ask_lines(struct answer_table *t, const struct sweeps *w, size_t point,
			   const struct arch_model *m, const struct arch_solution *s)
{
	for (uint32_t i = 0; i < m->nr_scenarios; i++) {
		sweep_cells(w, point, t);
		answer_words(t, "%s", m->scenarios[i].name);
		if (s->overloaded)
			answer_words(t, "no steady state");
		else
			answer_number(t, s->times[i].mean.mean);
		answer_number(t, s->times[i].p95.mean);
		arch_answer_ratio(t, s->throughput[i].mean);
		arch_ask_busiest(t, m, s);
		answer_words(t, "%s", s->outside ? "outside" : "");
	}
}

/* Appends the names of the parameters that vary, and then the columns of the result. */
static int arch_ask_csv(struct arch_ask *q, size_t point, const struct arch_model *m,
			const struct arch_solution *s)
{
	char prefix[SWEEP_MAX * 32] = "";
	size_t len = 0;

	for (size_t k = 0; k < q->sweeps.nr; k++) {
		if (!point)
			buf_printf(&q->csv, "%s,", q->sweeps.items[k].name);
		len += (size_t)snprintf(prefix + len, sizeof(prefix) - len, "%.15g,",
					sweep_value(&q->sweeps, k, point));
	}
	if (!point)
		buf_printf(&q->csv, "%s\n", ARCH_RESULT_COLUMNS);
	return arch_result_csv(m, s, prefix, &q->csv);
}

/* Puts the solution of a point where the form says. */
static int arch_ask_put(struct arch_ask *q, size_t point, const struct arch_model *m,
			const struct arch_solution *s, double seconds)
{
	struct answer *a;
	int ret;

	if (q->form == ARCH_FORM_CSV)
		return arch_ask_csv(q, point, m, s);
	if (q->sweeps.nr && q->form == ARCH_FORM_TEXT) {
		arch_ask_lines(q->table, &q->sweeps, point, m, s);
		return 0;
	}
	a = arch_answer(m, s, q->run.seed, seconds);
	if (!q->sweeps.nr) {
		q->answer = a;
		return a ? 0 : -ENOMEM;
	}
	sweep_member(&q->sweeps, point, a);
	ret = json_array_append_new(q->points, answer_json(a)) ? -ENOMEM : 0;
	answer_free(a);
	return ret;
}

static int arch_ask_point(struct arch_ask *q, size_t point, struct err *err)
{
	struct arch_model m = { 0 };
	struct arch_solution s = { 0 };
	double seconds;
	int ret = arch_ask_one(q, point, &m, &s, &seconds, err);

	if (!ret)
		ret = arch_ask_put(q, point, &m, &s, seconds);
	arch_solution_release(&s);
	arch_release(&m);
	return ret;
}

/* The columns of the parameters that vary come first, and then those of the result. */
static struct answer_table *arch_ask_table(struct answer *a, const struct sweeps *w)
{
	static const struct answer_column results[] = {
		{ .title = "scenario" },
		{ .title = "response time", .unit = ANSWER_SECONDS, .right = true },
		{ .title = "p95", .unit = ANSWER_SECONDS },
		{ .title = "per second", .right = true },
		{ .title = "busiest" },
		{ .title = "training" },
	};

	return sweep_table(w, a, NULL, results, sizeof(results) / sizeof(*results));
}

int arch_ask_solve(struct arch_ask *q, struct err *err)
{
	int ret = sweeps_read(&q->sweeps, &q->sweep, &q->set, err);

	if (ret) {
		err_prefix(err, "sweep");
		return ret;
	}
	ret = arch_ask_record(q, err);
	if (ret)
		return ret;
	if (q->sweeps.nr && q->form == ARCH_FORM_LIST) {
		q->points = json_array();
	} else if (q->sweeps.nr && q->form == ARCH_FORM_TEXT) {
		q->answer = answer_new("blkcast.arch-sweep/1", q->path);
		q->table = arch_ask_table(q->answer, &q->sweeps);
	}
	for (size_t i = 0; i < q->sweeps.nr_points && !ret; i++)
		ret = arch_ask_point(q, i, err);
	/* Only models with regressions as storages have something to say on training. */
	answer_hide_empty(q->table);
	return ret;
}

int arch_ask_compare(struct arch_ask *q, const char *other, struct err *err)
{
	const char *const paths[2] = { q->path, other };
	struct arch_model m[2] = { 0 };
	struct arch_solution s[2] = { 0 };
	double seconds;
	int ret = 0;

	for (int i = 0; i < 2 && !ret; i++) {
		q->path = paths[i];
		ret = arch_ask_one(q, 0, &m[i], &s[i], &seconds, err);
	}
	if (!ret)
		q->answer = arch_compare_answer(m, s, q->run.seed);
	for (int i = 0; i < 2; i++) {
		arch_solution_release(&s[i]);
		arch_release(&m[i]);
	}
	return ret;
}

void arch_ask_release(struct arch_ask *q)
{
	json_decref(q->points);
	answer_free(q->answer);
	buf_release(&q->csv);
	sweep_record_release(&q->record);
	sweeps_release(&q->sweeps);
}
