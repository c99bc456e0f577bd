// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/predictor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/whatif/predict/busy_curves.h"
#include "formats/model_file.h"

/* An interval narrower than this share of the value is the rounding of equal numbers. */
#define PREDICTED_NO_WIDTH 1e-9

bool predicted_has_interval(double value, double low, double high)
{
	return high - low > PREDICTED_NO_WIDTH * value;
}

void predictor_release(struct predictor *p)
{
	for (size_t i = 0; i < p->nr_models; i++)
		model_release(&p->models[i]);
	if (p->net)
		storage_model_release(p->net);
	free(p->net);
	memset(p, 0, sizeof(*p));
}

/* Returns whether the model is of the response; "vm1.read_s" is of read_s. */
static bool is_of(const struct model *m, const char *response)
{
	const char *dot = strrchr(m->schema.response, '.');

	return !strcmp(m->schema.response, response) || (dot && !strcmp(dot + 1, response));
}

static int add_regression(struct predictor *p, const json_t *root, const char *path,
			  struct err *err)
{
	struct model *m = &p->models[p->nr_models];
	int ret;

	if (p->nr_models == PREDICTOR_MODELS_MAX)
		return err_set(err, EINVAL, "%s: expected up to %d models", path,
			       PREDICTOR_MODELS_MAX);
	memset(m, 0, sizeof(*m));
	ret = model_from_json(m, root, err);
	if (ret)
		err_prefix(err, "%s", path);
	if (ret)
		goto out;
	for (size_t i = 0; i < p->nr_models; i++) {
		if (is_of(&p->models[i], m->schema.response))
			ret = err_set(err, EINVAL,
				      "%s: expected one model of each response, this is another "
				      "of %s",
				      path, m->schema.response);
		if (ret)
			goto out;
	}
out:
	if (ret)
		model_release(m);
	else
		p->nr_models++;
	return ret;
}

static int add_net(struct predictor *p, const json_t *root, const char *path, struct err *err)
{
	int ret;

	if (p->net)
		return err_set(err, EINVAL, "%s: expected one calibrated net, this is another",
			       path);
	p->net = calloc(1, sizeof(*p->net));
	if (!p->net)
		return err_set(err, ENOMEM, "out of memory");
	p->net_path = path;
	ret = storage_model_from_json(p->net, root, err);
	if (ret) {
		err_prefix(err, "%s", path);
		free(p->net);
		p->net = NULL;
	}
	return ret;
}

int predictor_add(struct predictor *p, const char *path, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int ret = model_file_read(path, &root, &kind, err);

	if (!ret && !strcmp(kind, "qpn"))
		ret = add_net(p, root, path, err);
	else if (!ret && !strcmp(kind, "regression"))
		ret = add_regression(p, root, path, err);
	else if (!ret)
		ret = err_set(err, EINVAL, "%s: kind: expected 'regression' or 'qpn', got '%.40s'",
			      path, kind);
	json_decref(root);
	if (ret)
		return ret;
	if (p->net && p->nr_models)
		ret = err_set(err, EINVAL,
			      "%s: expected a calibrated net or models of responses, not both",
			      path);
	return ret;
}

int predictor_model(struct predictor *p, const char *response, const struct model **out,
		    struct err *err)
{
	struct model *m = &p->models[p->nr_models];
	int ret;

	*out = NULL;
	for (size_t i = 0; i < p->nr_models; i++)
		if (is_of(&p->models[i], response)) {
			*out = &p->models[i];
			return 0;
		}
	if (!p->db)
		return 0;
	if (p->nr_models == PREDICTOR_MODELS_MAX)
		return err_set(err, EINVAL, "%s: expected up to %d responses", p->db,
			       PREDICTOR_MODELS_MAX);
	memset(m, 0, sizeof(*m));
	ret = predictor_learn(p, response, m, err);
	if (ret)
		return ret;
	p->nr_models++;
	*out = m;
	return 0;
}

void predictor_response(const char *point, int side, char out[64])
{
	snprintf(out, 64, "%s%s%.20s_s", side ? "write" : "read", *point ? "_" : "", point);
}

static int ask_model(const struct predictor *p, const struct model *m, const struct load_facts *f,
		     int side, double *s, double *low, double *high, const char **outside,
		     struct err *err)
{
	struct load_rows rows;
	int ret = load_rows_make(&rows, m, f, side, false, p->set, p->nr_set, err);

	if (ret)
		goto out;
	if (!*outside)
		*outside = load_rows_outside(&rows);
	ret = load_rows_ask(&rows, PREDICTOR_LEVEL, s, low, high);
out:
	load_rows_release(&rows);
	return ret;
}

static const struct model *predictor_find(const struct predictor *p, const char *response)
{
	for (size_t i = 0; i < p->nr_models; i++)
		if (is_of(&p->models[i], response))
			return &p->models[i];
	return NULL;
}

bool predictor_knows(const struct predictor *p, const char *point, int side)
{
	static const char *const of_nets[] = { "p50", "p95", "p99" };
	char response[64];

	for (size_t i = 0; p->net && i < sizeof(of_nets) / sizeof(*of_nets); i++)
		if (!strcmp(point, of_nets[i]))
			return true;
	predictor_response(point, side, response);
	return !p->db && predictor_find(p, response);
}

int predictor_ask_flush(struct predictor *p, const char *point, const struct load_facts *f,
			size_t nr, double *s, double *low, double *high, const char **outside,
			struct err *err)
{
	const struct model *m;
	struct load_facts joined;
	char response[64];

	*s = *low = *high = NAN;
	snprintf(response, sizeof(response), "flush%s%.20s_s", *point ? "_" : "", point);
	m = predictor_find(p, response);
	if (!m)
		return 0;
	load_facts_join(f, nr, &joined);
	return ask_model(p, m, &joined, 1, s, low, high, outside, err);
}

/*
 * Predicts one direction of joined loads: with curves of clients that think if the models have
 * them, else directly.
 */
static int ask_side(struct predictor *p, const struct model *m, const struct busy_curves *busy,
		    const struct load_facts *joined, const struct load_facts *f, size_t nr,
		    int side, double out[BUSY_NR_ENDS], const char **outside, struct err *err)
{
	double beyond = 0;
	int ret;

	if (!busy_curves_has(busy, side))
		return ask_model(p, m, joined, side, &out[BUSY_PREDICTED], &out[BUSY_LOW],
				 &out[BUSY_HIGH], outside, err);
	ret = busy_curves_ask(busy, f, nr, 1, 1, side, out, &beyond);
	if (!*outside)
		*outside = beyond > BUSY_BEYOND ? busy->variable : busy->outside;
	return ret;
}

/*
 * Adjusts the time that all loads see to load f, whose requests have sizes and patterns of their
 * own.
 */
static int take_side(const struct predictor *p, const struct predictor_ask *ask,
		     const struct model *m, const struct load_facts *joined,
		     const struct load_facts *f, int side, const double s[BUSY_NR_ENDS],
		     struct predicted *out, struct err *err)
{
	struct load_own own;
	double factor = 1;
	int ret;

	if (!ask->any) { /* With ask->any the model covers only the neighbour's requests. */
		ret = load_model_own(&own, m, f, joined, side, p->set, p->nr_set, err);
		if (ret)
			return ret;
		factor = load_own_factor(&own, s[BUSY_PREDICTED]);
	}
	out->s[side] = s[BUSY_PREDICTED] * factor;
	out->low[side] = s[BUSY_LOW] * factor;
	out->high[side] = s[BUSY_HIGH] * factor;
	return 0;
}

static int ask_models(struct predictor *p, const struct predictor_ask *ask,
		      const struct load_facts *f, size_t nr, struct predicted *out,
		      const char **outside, struct err *err)
{
	struct busy_curves busy;
	struct load_facts joined;
	int ret = busy_curves_make(&busy, p, ask, f, nr, err);

	load_facts_join(f, nr, &joined);
	for (int side = 0; side < 2 && !ret; side++) {
		double s[BUSY_NR_ENDS] = { NAN, NAN, NAN };
		const struct model *m = NULL;
		char response[64];

		if (!ask->sides[side] || !(ask->any || load_facts_has(&joined, side)))
			continue;
		predictor_response(ask->point, side, response);
		ret = predictor_model(p, response, &m, err);
		if (ret || !m)
			continue;
		ret = ask_side(p, m, &busy, &joined, f, nr, side, s, outside, err);
		for (size_t i = 0; i < nr && !ret; i++)
			if (ask->any || load_facts_has(&f[i], side))
				ret = take_side(p, ask, m, &joined, &f[i], side, s, &out[i], err);
	}
	busy_curves_release(&busy);
	return ret;
}

static int ask_raw(struct predictor *p, const struct predictor_ask *ask, const struct load_facts *f,
		   size_t nr, struct predicted *out, const char **outside, struct err *err)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = PREDICTED_NONE;
	return p->net ? predictor_ask_net(p, ask, f, nr, out, outside, err)
		      : ask_models(p, ask, f, nr, out, outside, err);
}

/* Takes the slower of two answers, with its interval. */
static void take_slower(struct predicted *out, const struct predicted *other)
{
	for (int side = 0; side < 2; side++) {
		if (!(other->s[side] > out->s[side]))
			continue;
		out->s[side] = other->s[side];
		out->low[side] = fmax(out->low[side], other->low[side]);
		out->high[side] = fmax(out->high[side], other->high[side]);
	}
}

/*
 * Bounds each load by its answer alone. Equal loads, which often follow each other, are asked only
 * once.
 */
static int bound_by_alone(struct predictor *p, const struct predictor_ask *ask,
			  const struct load_facts *f, size_t nr, struct predicted *out,
			  struct err *err)
{
	const char *outside = NULL;
	struct predicted alone;
	int ret = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!i || memcmp(&f[i], &f[i - 1], sizeof(*f)))
			ret = ask_raw(p, ask, &f[i], 1, &alone, &outside, err);
		if (ret)
			return ret;
		take_slower(&out[i], &alone);
	}
	return 0;
}

/*
 * Uses the interactive response-time law: clients wait for their requests, flush, and think between
 * them.
 */
double predictor_rate(const struct load_facts *f, const double s[2])
{
	double mean_s = 0;

	for (int side = 0; side < 2; side++)
		if (load_facts_has(f, side))
			mean_s += s[side] * (side ? 1 - f->read_ratio : f->read_ratio);
	return f->concurrency / (mean_s + load_away_s(f));
}

/* Returns whether the rate is the models' only load variable, so that the rate is as measured. */
static bool predictor_is_by_rate(const struct predictor *p)
{
	bool by_rate = false;

	for (size_t i = 0; i < p->nr_models; i++) {
		const struct model *m = &p->models[i];

		if (load_model_clients(m) >= 0 || load_model_depth(m) >= 0)
			return false;
		by_rate |= load_model_rate(m) >= 0;
	}
	return by_rate;
}

/* Computes the requests per second of the load with the mean times of *out. */
static void predictor_take_rate(const struct predictor *p, const struct load_facts *f,
				struct predicted *out)
{
	out->rate_per_s = predictor_rate(f, out->s);
	out->rate_low_per_s = predictor_rate(f, out->high);
	out->rate_high_per_s = predictor_rate(f, out->low);
	if (isfinite(out->rate_per_s) && predictor_is_by_rate(p))
		out->rate_per_s = out->rate_low_per_s = out->rate_high_per_s = f->rate_per_s;
}

int predictor_ask(struct predictor *p, const struct predictor_ask *ask, const struct load_facts *f,
		  size_t nr, struct predicted *out, const char **outside, struct err *err)
{
	const char *which = NULL;
	int ret;

	if (nr > PREDICTOR_LOADS_MAX)
		return err_set(err, EINVAL, "expected up to %d loads at once, got %zu",
			       PREDICTOR_LOADS_MAX, nr);
	ret = ask_raw(p, ask, f, nr, out, &which, err);
	if (ret)
		goto out;
	if (nr > 1 && !ask->any)
		ret = bound_by_alone(p, ask, f, nr, out, err);
	if (ret)
		goto out;
	for (size_t i = 0; i < nr && !*ask->point; i++)
		predictor_take_rate(p, &f[i], &out[i]);
out:
	if (outside)
		*outside = which;
	return ret;
}
