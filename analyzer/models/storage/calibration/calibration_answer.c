// SPDX-License-Identifier: Apache-2.0
#include "analyzer/models/storage/calibration/calibration_answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/models/regression/technique.h"
#include "base/data/json.h"
#include "base/text/units.h"

static void calibration_number(struct answer_table *t, int digits, double v)
{
	if (isfinite(v))
		answer_words(t, "%.*g", digits, v);
	else
		answer_words(t, "-");
}

static void calibration_fit(struct answer_table *t, const char *what, const struct storage_fit *f)
{
	for (size_t i = 0; i < f->nr_terms; i++) {
		const struct storage_term *term = &f->terms[i];

		answer_words(t, "%s", i ? "" : what);
		answer_words(t, "%s", storage_term_name(term));
		if (term->pruned)
			answer_words(t, "pruned");
		else
			answer_number(t, term->coefficient);
		calibration_number(t, 2, term->p);
		if (i) {
			answer_words(t, "%s", "");
			answer_words(t, "%s", "");
			continue;
		}
		if (isfinite(f->r2))
			answer_words(t, "%.4f", f->r2);
		else
			answer_words(t, "-");
		answer_words(t, "%.2f %%", 100 * f->mean_error);
	}
}

static void calibration_bound(char *out, size_t size, const char *what,
			      const struct storage_case *c, int axis)
{
	char low[UNITS_BYTES], high[UNITS_BYTES];
	size_t used = strlen(out);

	if (axis == STORAGE_AXIS_CLIENTS) {
		snprintf(low, sizeof(low), "%.4g", c->low[axis]);
		snprintf(high, sizeof(high), "%.4g", c->high[axis]);
	} else {
		units_bytes(c->low[axis], low);
		units_bytes(c->high[axis], high);
	}
	if (isfinite(c->low[axis]))
		used += (size_t)snprintf(out + used, size - used, ", %s > %s", what, low);
	if (isfinite(c->high[axis]) && used < size)
		snprintf(out + used, size - used, ", %s <= %s", what, high);
}

static void calibration_cases(struct answer_table *t, const char *what,
			      const struct storage_cases *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		char text[200];

		snprintf(text, sizeof(text), "%s", what);
		calibration_bound(text, sizeof(text), "t", &c->items[i], STORAGE_AXIS_CLIENTS);
		calibration_bound(text, sizeof(text), "s", &c->items[i], STORAGE_AXIS_SIZE);
		calibration_bound(text, sizeof(text), "f", &c->items[i], STORAGE_AXIS_FILE_SET);
		calibration_fit(t, text, &c->items[i].fit);
	}
}

static void calibration_class(struct answer_table *t, const struct storage_class_model *c)
{
	calibration_cases(t, "cached", &c->cached);
	calibration_cases(t, "beyond", &c->uncached);
	for (size_t i = 0; i < c->nr_cases; i++) {
		calibration_fit(t,
				c->nr_cases == 1 ? "p1"
				: i		 ? "p1 at high load"
						 : "p1 at low load",
				&c->cases[i].share);
		calibration_cases(t, "hits", &c->cases[i].hit);
	}
}

/*
 * Adds the table of the terms of fits. first is the title of the column that says what each term
 * belongs to.
 */
static struct answer_table *calibration_terms(struct answer *a, const char *first)
{
	const struct answer_column columns[] = {
		{ .title = first },
		{ .title = "term" },
		{ .title = "coefficient", .right = true },
		{ .title = "p", .right = true },
		{ .title = "R2", .right = true },
		{ .title = "error", .right = true },
	};

	return answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns));
}

/* Writes a coefficient of determination, or "-" where all measured values are equal. */
static const char *calibration_r2(double r2, char text[16])
{
	if (!isfinite(r2))
		return "-";
	snprintf(text, 16, "%.4f", r2);
	return text;
}

/* Says below the terms of a class what they are made of, and how well they fit. */
static void calibration_class_line(struct answer *a, const struct storage_class_model *c,
				   enum storage_class class)
{
	char text[UNITS_BYTES], r2[16];
	struct buf words;

	buf_init(&words);
	buf_printf(&words, "%zu rows; ", c->nr_rows);
	if (c->cached.nr && c->uncached.nr)
		buf_printf(&words, "cached up to %s; ", units_bytes(c->file_set_max, text));
	else
		buf_printf(&words, "%s; ", c->cached.nr ? "all cached" : "all beyond the cache");
	for (size_t i = 0; i < c->nr_cases; i++) {
		const struct storage_load_case *load = &c->cases[i];

		buf_printf(&words, "hits and misses %s ", load->merged ? "merged" : "apart");
		if (isfinite(load->clients_max))
			buf_printf(&words, "up to %g clients; ", load->clients_max);
		else
			buf_printf(&words, "%s; ", i ? "above" : "at any load");
	}
	if (c->cached.nr)
		buf_printf(&words, "R2 cached %s; ", calibration_r2(c->cached.r2, r2));
	if (c->uncached.nr)
		buf_printf(&words, "R2 beyond %s; ", calibration_r2(c->uncached.r2, r2));
	buf_printf(&words, "response times missed by %.2f %% on average, %.2f %% at most",
		   100 * c->mean_error, 100 * c->max_error);
	answer_fail(a, words.error);
	answer_line(a, storage_class_name(class), "%.*s", (int)words.len, (char *)words.data);
	buf_release(&words);
}

static void calibration_delta(struct answer_table *t, const struct storage_service *s)
{
	for (int k = 0; k < 2; k++) {
		if (!isfinite(s->delta_p[k]))
			continue;
		answer_words(t, "%s", k ? "" : "  correction");
		answer_words(t, "%s", k ? "ln s" : "1");
		if (s->delta_p[k] > STORAGE_FIT_P)
			answer_words(t, "pruned");
		else
			answer_number(t, s->delta[k]);
		calibration_number(t, 2, s->delta_p[k]);
		answer_words(t, "%s", "");
		answer_words(t, "%s", "");
	}
}

static void calibration_parts(struct answer *a, const struct storage_parts *p)
{
	static const char *const types[] = { "reads", "writes" };
	char label[128], r2[16];

	answer_line(a, "parts",
		    "%zu shared server%s, the busiest of all missed by %.2f %%; up to %g requests "
		    "of a VM under way; of one VM, each mix with its own phi, missed by %.2f %%",
		    p->nr_shared, p->nr_shared == 1 ? "" : "s", 100 * p->utilization_error,
		    p->depth, 100 * p->depth_error);
	for (size_t i = 0; i < 2 * p->nr_shared; i++) {
		const size_t k = i / 2, w = i % 2;

		snprintf(label, sizeof(label), "  server %zu, %s", k + 1, types[w]);
		answer_line(a, label, "%.4g us + %.4g ns per byte", 1e6 * p->shared[k].base_s[w],
			    1e9 * p->shared[k].per_byte_s[w]);
	}
	if (!p->phi.technique)
		return;
	snprintf(label, sizeof(label), "  phi of %zu mixes that wait, %.3g to %.3g", p->nr_phi,
		 p->phi_low, p->phi_high);
	answer_line(a, label, "R2 %s, error of held-out rows %.2f %%",
		    calibration_r2(p->phi.quality.r2, r2),
		    100 * p->phi.quality.mean_relative_error);
}

static void calibration_phi(struct answer *a, const struct storage_mix *x)
{
	struct buf text;
	char label[128];

	buf_init(&text);
	technique_describe(x->phi.technique, x->phi.parameters, &text);
	snprintf(label, sizeof(label), "phi of %zu configurations, %.3g to %.3g", x->nr_phi,
		 x->phi_low, x->phi_high);
	answer_line(a, label, "%s (%.*s), %s, R2 %.4f, error of held-out rows %.2f %%",
		    x->phi.technique->name, (int)text.len, text.data ? (const char *)text.data : "",
		    x->phi.schema.log ? "of ln phi" : "of phi", x->phi.quality.r2,
		    100 * x->phi.quality.mean_relative_error);
	buf_release(&text);
}

static void calibration_mix(struct answer *a, const struct storage_mix *x)
{
	struct answer_table *t = calibration_terms(a, "service time");
	char label[128];

	for (int w = 0; w < 2; w++) {
		calibration_cases(t, w ? "writes" : "reads", &x->service[w].fit);
		calibration_delta(t, &x->service[w]);
	}
	calibration_phi(a, x);
	if (x->has_busy)
		answer_line(a, "utilization", "%s, R2 %.4f, error of held-out rows %.2f %%",
			    x->busy.technique->name, x->busy.quality.r2,
			    100 * x->busy.quality.mean_relative_error);
	answer_line(a, "one VM", "reads missed by %.2f %%, writes by %.2f %%",
		    100 * x->mean_error[0], 100 * x->mean_error[1]);
	if (x->parts.present)
		calibration_parts(a, &x->parts);
	for (int i = 0; i < STORAGE_NR_RULES; i++) {
		if (!isfinite(x->rule_error[i]))
			continue;
		snprintf(label, sizeof(label), "several VMs by %s", storage_rule_names[i]);
		answer_line(a, label, "missed by %.2f %%%s", 100 * x->rule_error[i],
			    (int)x->rule == i ? "; kept" : "");
	}
	if (isfinite(x->inversion_error))
		answer_line(a, "with the priority inversion", "missed by %.2f %%%s",
			    100 * x->inversion_error, x->inversion ? "; kept" : "");
}

struct answer *storage_model_answer(const struct storage_model *m)
{
	struct answer *a = answer_new("blkcast.calibration/1", "A model of a storage");

	if (m->kind >= STORAGE_MIXED)
		calibration_mix(a, &m->mix);
	for (int i = 0; i < STORAGE_NR_CLASSES && m->kind < STORAGE_MIXED; i++) {
		if (!m->classes[i].present)
			continue;
		calibration_class(calibration_terms(a, "fit"), &m->classes[i]);
		calibration_class_line(a, &m->classes[i], (enum storage_class)i);
	}
	return a;
}

struct answer *cache_model_answer(const struct cache_model *m, const char *path)
{
	static const struct answer_column columns[] = {
		{ .title = "term" },
		{ .title = "value", .right = true },
		{ .title = "p", .right = true },
	};
	const struct {
		const char *name;
		double value, p;
	} terms[] = {
		{ "c0 (s)", m->c0_s, m->p0 },
		{ "c1 (s/byte)", m->c1_s_per_byte, m->p1 },
		{ "sd (s)", m->sd_s, NAN },
	};
	const struct {
		const char *key;
		double value;
	} facts[] = { { "saturated_clients", m->saturated },
		      { "c0_s", m->c0_s },
		      { "c0_p", m->p0 },
		      { "c1_s_per_byte", m->c1_s_per_byte },
		      { "c1_p", m->p1 },
		      { "sd_s", m->sd_s },
		      { "r2", m->r2 },
		      { "mean_relative_error", m->mean_error },
		      { "max_relative_error", m->max_error } };
	struct answer *a = answer_new("blkcast.calibration/1", "A cache as a net");
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, columns, 3);
	char label[128], r2[16];

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		answer_words(t, "%s", terms[i].name);
		answer_words(t, "%.6g", terms[i].value);
		calibration_number(t, 2, terms[i].p);
	}
	answer_fact_words(a, "model", NULL, "cache");
	answer_member(a, "file", json_text(path));
	answer_fact(a, "rows", NULL, ANSWER_INTEGER, (double)m->nr_rows);
	answer_fact(a, "fitted_rows", NULL, ANSWER_INTEGER, (double)m->nr_fitted);
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		answer_fact(a, facts[i].key, NULL, ANSWER_NONE, facts[i].value);
	snprintf(label, sizeof(label), "service time from %zu runs of %g clients or more",
		 m->nr_fitted, m->saturated);
	answer_line(a, label, "R2 %s", calibration_r2(m->r2, r2));
	answer_line(a, "response time over all runs of several clients",
		    "error %.2f %% on average, %.2f %% at most", 100 * m->mean_error,
		    100 * m->max_error);
	return a;
}

static json_t *weights_step_json(const struct weights_step *s)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:f}", "alpha", s->alpha, "beta", s->beta,
			 "read_time", s->read_time, "write_time", s->write_time,
			 "mean_relative_error", s->error);
}

struct answer *weights_answer(const struct weights_found *f, uint64_t seed)
{
	static const struct answer_column columns[] = {
		{ .title = "step" },
		{ .title = "alpha", .right = true },
		{ .title = "beta", .right = true },
		{ .title = "reads" },
		{ .title = "writes" },
		{ .title = "error", .right = true },
	};
	struct answer *a = answer_new("blkcast.calibration/1", "Weights of reads and writes");
	struct answer_table *t = answer_table(a, NULL, NULL, NULL, ANSWER_COLUMNS(columns));
	json_t *steps = json_array();

	for (size_t i = 0; i <= f->nr_steps; i++) {
		const struct weights_step *s = i < f->nr_steps ? &f->steps[i] : &f->best;

		if (i < f->nr_steps) {
			json_array_append_new(steps, weights_step_json(s));
			answer_words(t, "%zu", i + 1);
		} else {
			answer_words(t, "best");
		}
		answer_words(t, "%g", s->alpha);
		answer_words(t, "%g", s->beta);
		answer_number(t, s->read_time);
		answer_number(t, s->write_time);
		answer_words(t, "%.2f%%", 100 * s->error);
	}
	answer_fact_words(a, "model", NULL, "weights");
	answer_member(a, "seed", json_integer((json_int_t)seed));
	answer_member(a, "best", weights_step_json(&f->best));
	answer_member(a, "steps", steps);
	return a;
}
