// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/models/arch/ask/arch_ask.h"
#include "base/text/units.h"

/* Uses the given settings first, and then the parameters that are being fitted. */
static int arch_beside_settings(struct arch_beside *q, const struct arch_fit_parameter *p,
				struct arch_settings *s, struct err *err)
{
	int ret = arch_settings_read(s, &q->of.set, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < q->nr_parameters; i++) {
		char value[32];

		snprintf(value, sizeof(value), "%.17g", p[i].value);
		if (arch_settings_add(s, p[i].name, strlen(p[i].name), value))
			ret = err_set(err, ENOMEM, "out of memory");
		if (ret)
			return ret;
	}
	return 0;
}

static int arch_beside_predict(void *ctx, const struct arch_fit_parameter *p, struct arch_errors *e,
			       struct err *err)
{
	struct arch_beside *q = ctx;
	struct solve_options o = q->of.run;
	struct arch_settings s = { .nr = 0 };
	struct arch_solution solution = { 0 };
	struct arch_model m = { 0 };
	int ret = arch_beside_settings(q, p, &s, err);

	if (ret)
		goto out;
	ret = arch_open(&m, q->of.path, &s, err);
	if (ret)
		goto out;
	o.through_overload = q->fit.nr > 0;
	ret = arch_solve(&solution, &m, &o, err);
	if (ret)
		goto out;
	if (solution.overloaded) {
		char text[256];

		arch_load_describe(&solution.load, &m, text, sizeof(text));
		ret = err_set(err, EOVERFLOW,
			      "%s: no steady state: more work arrives than can be done%s%s",
			      q->of.path, *text ? ": " : "", text);
		goto out;
	}
	ret = arch_errors(e, &q->measured, &m, &solution, err);
	if (ret)
		goto out;
	if (!(q->of.run.model_time > 0))
		q->of.run.model_time = solution.model_time / (double)solution.nr_replications;
out:
	q->outside = solution.outside;
	q->asked = solution.asked;
	arch_solution_release(&solution);
	arch_release(&m);
	arch_settings_release(&s);
	return ret;
}

static json_t *arch_beside_times(const struct arch_beside *q)
{
	json_t *list = json_array();

	for (size_t i = 0; i < q->measured.nr; i++) {
		const struct arch_measured *one = &q->measured.items[i];

		json_array_append_new(
			list, json_pack("{s:s, s:b, s:f, s:f, s:f, s:f}", "time", one->name, "io",
					one->io, "per_round", one->per_round, "measured_s",
					one->mean_s, "predicted_s", one->predicted_s,
					"relative_error", one->predicted_s / one->mean_s - 1));
	}
	return list;
}

/* f is NULL if nothing was fitted. */
static struct answer *arch_beside_answer(const struct arch_beside *q, const struct arch_fit *f)
{
	static const struct answer_column columns[] = {
		{ .title = "time" },
		{ .title = "per round", .right = true },
		{ .title = "measured", .right = true },
		{ .title = "predicted", .right = true },
		{ .title = "error", .right = true },
	};
	struct answer *a =
		answer_new(f ? "blkcast.arch-calibrate/1" : "blkcast.arch-validate/1", q->of.path);
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns));
	json_t *fitted = json_object();
	char text[UNITS_BYTES];

	for (size_t i = 0; i < q->measured.nr; i++) {
		const struct arch_measured *one = &q->measured.items[i];

		answer_words(t, "%s", one->name);
		answer_words(t, "%.4g", one->per_round);
		answer_words(t, "%s", units_time(one->mean_s, text));
		answer_words(t, "%s", units_time(one->predicted_s, text));
		answer_words(t, "%+.2f%%", 100 * (one->predicted_s / one->mean_s - 1));
	}
	answer_member(a, "seed", json_integer((json_int_t)q->of.run.seed));
	answer_member(a, "times", arch_beside_times(q));
	answer_fact(a, "error_io", NULL, ANSWER_RATIO, q->errors.io);
	answer_fact(a, "error_end_to_end", NULL, ANSWER_RATIO, q->errors.end_to_end);
	answer_fact(a, "asked", NULL, ANSWER_INTEGER, (double)q->asked);
	answer_fact(a, "outside_training", NULL, ANSWER_INTEGER, (double)q->outside);
	if (f) {
		answer_fact(a, "solutions", NULL, ANSWER_INTEGER, (double)f->solutions);
		answer_fact(a, "rms_log_error", NULL, ANSWER_NONE, f->rms);
		for (size_t i = 0; i < q->nr_parameters; i++)
			json_object_set_new(fitted, q->parameters[i].name,
					    json_real(q->parameters[i].value));
		answer_member(a, "set", json_incref(fitted));
	}
	json_decref(fitted);
	return a;
}

/* Parses NAME=LOW:HIGH. */
static int arch_beside_parameters(struct arch_beside *q, struct err *err)
{
	for (size_t i = 0; i < q->fit.nr; i++) {
		const char *text = q->fit.items[i], *equals = strchr(text, '=');
		struct arch_fit_parameter *p = &q->parameters[i];
		char *end = NULL;

		if (i == ARCH_FIT_MAX)
			return err_set(err, EINVAL, "fit: more than %d", ARCH_FIT_MAX);
		if (equals && equals != text) {
			p->low = strtod(equals + 1, &end);
			if (end != equals + 1 && *end == ':')
				p->high = strtod(end + 1, &end);
			else
				end = NULL;
		}
		if (!end || *end || !(p->low > 0 && p->high > p->low && isfinite(p->high)))
			return err_set(err, EINVAL,
				       "fit: expected NAME=LOW:HIGH above 0, as "
				       "open=1e-6:1e-3, got '%s'",
				       text);
		p->value = sqrt(p->low * p->high);
		q->names[i] = strndup(text, (size_t)(equals - text));
		if (!q->names[i])
			return err_set(err, ENOMEM, "out of memory");
		p->name = q->names[i];
		q->nr_parameters++;
	}
	return 0;
}

static int arch_beside_work(struct arch_beside *q, struct err *err)
{
	struct arch_fit f = { .parameters = q->parameters,
			      .predict = arch_beside_predict,
			      .ctx = q,
			      .measured = &q->measured,
			      .max_rounds = 30 };
	int ret = arch_beside_parameters(q, err);

	f.nr = q->nr_parameters;
	if (!ret && f.nr)
		ret = arch_fit(&f, err);
	/* Predicts once more at the final parameters, because what is shown belongs to them. */
	if (!ret)
		ret = arch_beside_predict(q, q->parameters, &q->errors, err);
	if (ret)
		return ret;
	if (q->outside)
		teller_note(q->of.teller,
			    "%.3g%% of the requests asked the I/O model for what lies outside its "
			    "training range: extrapolated",
			    100 * (double)q->outside / (double)q->asked);
	q->of.answer = arch_beside_answer(q, f.nr ? &f : NULL);
	return 0;
}

int arch_beside(struct arch_beside *q, struct err *err)
{
	struct table table = { 0 };
	int ret = table_read(&table, q->table, err);

	if (!ret)
		ret = arch_measured_read(&q->measured, &table, err);
	if (!ret)
		ret = arch_beside_work(q, err);
	table_release(&table);
	return ret;
}

void arch_beside_release(struct arch_beside *q)
{
	for (size_t i = 0; i < q->nr_parameters; i++)
		free(q->names[i]);
	arch_measured_release(&q->measured);
	arch_ask_release(&q->of);
}
