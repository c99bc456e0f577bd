// SPDX-License-Identifier: Apache-2.0
#include "analyzer/whatif/predict/busy_curves.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The low end of an interval is at least this share of the prediction. */
#define LEAST_RATIO 1e-3
/* This percentile shows, beside the mean, how much the times of a single client vary. */
#define SPREAD_POINT "p95"

void busy_curves_release(struct busy_curves *c)
{
	for (int end = 0; end < BUSY_NR_ENDS; end++) {
		free(c->all_s[end]);
		for (int side = 0; side < 2; side++) {
			free(c->side_s[side][end]);
			free(c->point_s[side][end]);
			free(c->gammas[side][end]);
		}
	}
	memset(c, 0, sizeof(*c));
}

/*
 * Returns the largest number of busy clients that the model covers, or 0 if the model cannot be
 * used.
 */
static size_t most_of(const struct predictor *p, const struct model *m)
{
	int clients = m && load_model_is_busy(m) ? load_model_clients(m) : -1;
	double high;

	if (clients < 0 || load_model_is_set(m, (size_t)clients, p->set, p->nr_set))
		return 0;
	high = floor(m->schema.variables[clients].high);
	return high >= 1 ? (size_t)fmin(high, BUSY_CLIENTS_MAX) : 0;
}

/* The load is converted to clients with one request each: requests in flight count as clients. */
static int make_rows(struct load_rows *rows, const struct predictor *p, const struct model *m,
		     const struct load_facts *joined, int side, struct err *err)
{
	int ret = load_rows_make(rows, m, joined, side, false, p->set, p->nr_set, err);
	int depth = load_model_depth(m);

	if (ret)
		return ret;
	if (depth >= 0 && !load_model_is_set(m, (size_t)depth, p->set, p->nr_set))
		load_rows_set(rows, (size_t)depth, fmax(1, m->schema.variables[depth].low));
	return 0;
}

/*
 * Gives one model's times with 1 to nr busy clients; *times becomes false if a value is not a valid
 * time.
 */
static int ask_curve(struct busy_curves *c, const struct predictor *p, const struct model *m,
		     const struct load_facts *joined, int side, double *to[BUSY_NR_ENDS],
		     bool *times, struct err *err)
{
	size_t clients = (size_t)load_model_clients(m);
	const struct variable *v = &m->schema.variables[clients];
	struct load_rows rows;
	int ret = make_rows(&rows, p, m, joined, side, err);

	if (ret)
		goto out;
	for (int end = 0; end < BUSY_NR_ENDS; end++) {
		if (!to[end] && !(to[end] = calloc(c->nr, sizeof(*to[end]))))
			ret = -ENOMEM;
		if (ret)
			goto out;
	}
	load_rows_set(&rows, clients, fmin(fmax(round(joined->concurrency), v->low), v->high));
	if (!c->outside)
		c->outside = load_rows_outside(&rows);
	for (size_t j = 0; j < c->nr; j++) {
		double low = NAN, high = NAN;

		load_rows_set(&rows, clients, fmax((double)(j + 1), v->low));
		ret = load_rows_ask(&rows, PREDICTOR_LEVEL, &to[BUSY_PREDICTED][j], &low, &high);
		*times = *times && to[BUSY_PREDICTED][j] > 0;
		to[BUSY_LOW][j] = fmax(low, LEAST_RATIO * to[BUSY_PREDICTED][j]);
		to[BUSY_HIGH][j] = high;
		if (isnan(low))
			to[BUSY_LOW][j] = NAN;
		if (ret)
			goto out;
	}
out:
	load_rows_release(&rows);
	return ret;
}

static int busy_curves_mix(struct busy_curves *c, const double share[2])
{
	for (int end = 0; end < BUSY_NR_ENDS; end++) {
		c->all_s[end] = calloc(c->nr, sizeof(*c->all_s[end]));
		if (!c->all_s[end])
			return -ENOMEM;
		for (size_t j = 0; j < c->nr; j++)
			for (int side = 0; side < 2; side++)
				if (share[side] > 0)
					c->all_s[end][j] += share[side] * c->side_s[side][end][j];
	}
	return 0;
}

static int fit_gammas(struct busy_curves *c, int side)
{
	for (int end = 0; end < BUSY_NR_ENDS; end++) {
		c->gammas[side][end] = calloc(c->nr, sizeof(*c->gammas[side][end]));
		if (!c->gammas[side][end])
			return -ENOMEM;
		if (!isnan(c->point_s[side][end][0]) && !isnan(c->side_s[side][end][0]))
			interactive_gammas(c->side_s[side][end], c->point_s[side][end], c->nr, c->p,
					   c->gammas[side][end]);
	}
	return 0;
}

/* Converts a point to a probability: "p999" is 0.999; "" is 0. */
static double busy_curves_probability(const char *point)
{
	return *point ? strtod(point + 1, NULL) / pow(10, (double)strlen(point + 1)) : 0;
}

struct models {
	const struct model *mean[2], *point[2];
};

/*
 * Finds the models of the loads, and the number of clients that all of them cover; c->nr is 0 if a
 * model is missing.
 */
static int find_models(struct busy_curves *c, struct predictor *p, const struct predictor_ask *ask,
		       const struct load_facts *joined, struct models *m, struct err *err)
{
	char response[64];
	int ret = 0;

	c->nr = BUSY_CLIENTS_MAX;
	for (int side = 0; side < 2 && !ret; side++) {
		size_t most;

		if (!load_facts_has(joined, side))
			continue;
		predictor_response("", side, response);
		ret = predictor_model(p, response, &m->mean[side], err);
		most = ret ? 0 : most_of(p, m->mean[side]);
		c->nr = most < c->nr ? most : c->nr;
		if (ret || !c->nr)
			break;
		c->variable =
			m->mean[side]->schema.variables[load_model_clients(m->mean[side])].name;
		if (!*ask->point || !ask->sides[side])
			continue;
		predictor_response(ask->point, side, response);
		ret = predictor_model(p, response, &m->point[side], err);
		most = ret ? 0 : most_of(p, m->point[side]);
		if (!most)
			m->point[side] = NULL;
		else if (most < c->nr)
			c->nr = most;
	}
	return ret;
}

static int ask_models(struct busy_curves *c, const struct predictor *p, const struct models *m,
		      const struct load_facts *joined, struct err *err)
{
	const double share[2] = { joined->read_ratio, 1 - joined->read_ratio };
	bool times = true;
	int ret = 0;

	for (int side = 0; side < 2 && !ret; side++) {
		if (m->mean[side])
			ret = ask_curve(c, p, m->mean[side], joined, side, c->side_s[side], &times,
					err);
		if (!ret && m->point[side])
			ret = ask_curve(c, p, m->point[side], joined, side, c->point_s[side],
					&times, err);
	}
	if (!times)
		c->nr = 0;
	if (ret)
		return ret;
	if (c->nr)
		ret = busy_curves_mix(c, share);
	if (ret)
		return ret;
	for (int side = 0; side < 2 && c->nr; side++) {
		if (m->point[side])
			ret = fit_gammas(c, side);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Gives the squared coefficient of variation of the times of a client alone; 1 if it is not known.
 */
static int side_scv(const struct busy_curves *c, struct predictor *p, int side,
		    const struct load_facts *joined, double *out)
{
	struct busy_curves alone = { .nr = 1 };
	const struct model *m = NULL;
	struct interactive_gamma gamma;
	double *p95[BUSY_NR_ENDS] = { NULL };
	char response[64];
	bool times = true;
	int ret;

	*out = 1;
	predictor_response(SPREAD_POINT, side, response);
	ret = predictor_model(p, response, &m, NULL);
	if (ret == -ENOMEM)
		return ret;
	if (ret || !most_of(p, m) ||
	    /* no measurement had a single client */
	    m->schema.variables[load_model_clients(m)].low > 1)
		return 0;
	ret = ask_curve(&alone, p, m, joined, side, p95, &times, NULL);
	if (!ret && times) {
		interactive_gammas(c->side_s[side][BUSY_PREDICTED], p95[BUSY_PREDICTED], 1,
				   busy_curves_probability(SPREAD_POINT), &gamma);
		*out = fmin(1 / gamma.shape, 1);
	}
	for (int end = 0; end < BUSY_NR_ENDS; end++)
		free(p95[end]);
	return ret == -ENOMEM ? ret : 0;
}

/* Computes the variation over the service times of all requests. */
static int take_scv(struct busy_curves *c, struct predictor *p, const struct load_facts *joined)
{
	const double share[2] = { joined->read_ratio, 1 - joined->read_ratio };
	double mean = 0, square = 0, scv;
	int ret = 0;

	for (int side = 0; side < 2 && !ret; side++) {
		double s = share[side] > 0 ? c->side_s[side][BUSY_PREDICTED][0] : 0;

		if (!(share[side] > 0))
			continue;
		ret = side_scv(c, p, side, joined, &scv);
		mean += share[side] * s;
		square += share[side] * s * s * (1 + scv);
	}
	c->scv = fmin(fmax(square / (mean * mean) - 1, 0), 1);
	return ret;
}

int busy_curves_make(struct busy_curves *c, struct predictor *p, const struct predictor_ask *ask,
		     const struct load_facts *f, size_t nr, struct err *err)
{
	struct models m = { 0 };
	struct load_facts joined;
	int ret;

	memset(c, 0, sizeof(*c));
	load_facts_join(f, nr, &joined);
	for (size_t i = 0; i < nr; i++) {
		c->clients += fmax(f[i].concurrency, 1);
		c->think_s += fmax(f[i].concurrency, 1) * load_away_s(&f[i]);
	}
	c->think_s /= c->clients;
	if (!(c->think_s > 0))
		return 0;
	if (c->clients > INTERACTIVE_CLIENTS_MAX)
		return err_set(err, EINVAL,
			       "the loads: expected up to %d clients that think, got %.6g",
			       INTERACTIVE_CLIENTS_MAX, c->clients);
	c->p = busy_curves_probability(ask->point);
	ret = find_models(c, p, ask, &joined, &m, err);
	if (ret)
		goto out;
	if (c->nr)
		ret = ask_models(c, p, &m, &joined, err);
	if (ret)
		goto out;
	if (c->nr)
		ret = take_scv(c, p, &joined);
out:
	if (ret)
		busy_curves_release(c);
	return ret;
}

bool busy_curves_has(const struct busy_curves *c, int side)
{
	return c->nr && (c->p > 0 ? c->point_s[side][0] : c->side_s[side][0]);
}

/*
 * Returns the time of a side's requests, averaged over the numbers of busy clients that they find.
 */
static double busy_curves_answer(const struct busy_curves *c, const struct interactive *a, int side,
				 int end)
{
	if (c->p > 0)
		return interactive_quantile(a, c->gammas[side][end], c->nr, c->p);
	return interactive_mean(a, c->side_s[side][end], c->nr);
}

static bool has_end(const struct busy_curves *c, int side, int end)
{
	return !isnan(c->all_s[end][0]) && (!(c->p > 0) || c->gammas[side][end][0].shape > 0);
}

int busy_curves_ask(const struct busy_curves *c, const struct load_facts *f, size_t nr,
		    double clients, double think, int side, double out[BUSY_NR_ENDS],
		    double *beyond)
{
	double *n = calloc(nr, sizeof(*n)), *z = calloc(nr, sizeof(*z));
	struct interactive a = { 0 };
	int ret = n && z ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !ret; i++) {
		n[i] = fmax(f[i].concurrency, 1) * clients;
		z[i] = load_think_s(&f[i]) * think + load_flush_wait_s(&f[i]);
	}
	/* The prediction itself is computed last. */
	for (int end = BUSY_NR_ENDS - 1; end >= 0 && !ret; end--) {
		out[end] = NAN;
		if (!has_end(c, side, end))
			continue;
		ret = interactive_solve_groups(&a, c->all_s[end], c->nr, c->scv, n, z, nr);
		if (!ret)
			out[end] = busy_curves_answer(c, &a, side, end);
		*beyond = a.beyond;
	}
	interactive_release(&a);
	free(n);
	free(z);
	return ret;
}
