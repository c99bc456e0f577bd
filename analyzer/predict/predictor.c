// SPDX-License-Identifier: Apache-2.0
#include "analyzer/predict/predictor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/model_file.h"

#define BISECTIONS 50

void predictor_release(struct predictor *p)
{
	for (size_t i = 0; i < p->nr_models; i++)
		model_release(&p->models[i]);
	if (p->net)
		storage_model_release(p->net);
	free(p->net);
	memset(p, 0, sizeof(*p));
}

/* "vm1.read_s" is of read_s. */
static bool is_of(const struct model *m, const char *response)
{
	const char *dot = strrchr(m->schema.response, '.');

	return !strcmp(m->schema.response, response) || (dot && !strcmp(dot + 1, response));
}

static int add_regression(struct predictor *p, const json_t *root, const char *path,
			  struct err *err)
{
	struct model *m = &p->models[p->nr_models];
	int status;

	if (p->nr_models == PREDICTOR_MODELS_MAX)
		return err_set(err, EINVAL, "%s: expected up to %d models", path,
			       PREDICTOR_MODELS_MAX);
	memset(m, 0, sizeof(*m));
	status = model_from_json(m, root, err);
	if (status)
		err_prefix(err, "%s", path);
	for (size_t i = 0; i < p->nr_models && !status; i++)
		if (is_of(&p->models[i], m->schema.response))
			status = err_set(err, EINVAL,
					 "%s: expected one model of each response, this is another "
					 "of %s",
					 path, m->schema.response);
	if (status)
		model_release(m);
	else
		p->nr_models++;
	return status;
}

static int add_net(struct predictor *p, const json_t *root, const char *path, struct err *err)
{
	int status;

	if (p->net)
		return err_set(err, EINVAL, "%s: expected one calibrated net, this is another",
			       path);
	p->net = calloc(1, sizeof(*p->net));
	if (!p->net)
		return err_set(err, ENOMEM, "out of memory");
	p->net_path = path;
	status = storage_model_from_json(p->net, root, err);
	if (status) {
		err_prefix(err, "%s", path);
		free(p->net);
		p->net = NULL;
	}
	return status;
}

int predictor_add(struct predictor *p, const char *path, struct err *err)
{
	const char *kind;
	json_t *root = NULL;
	int status = model_file_read(path, &root, &kind, err);

	if (!status && !strcmp(kind, "qpn"))
		status = add_net(p, root, path, err);
	else if (!status && !strcmp(kind, "regression"))
		status = add_regression(p, root, path, err);
	else if (!status)
		status = err_set(err, EINVAL,
				 "%s: kind: expected 'regression' or 'qpn', got '%.40s'", path,
				 kind);
	json_decref(root);
	if (!status && p->net && p->nr_models)
		status = err_set(err, EINVAL,
				 "%s: expected a calibrated net or models of responses, not both",
				 path);
	return status;
}

int predictor_model(struct predictor *p, const char *response, const struct model **out,
		    struct err *err)
{
	struct model *m = &p->models[p->nr_models];
	int status;

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
	status = predictor_learn(p, response, m, err);
	if (status)
		return status;
	p->nr_models++;
	*out = m;
	return 0;
}

void predictor_response(const char *point, int side, char out[64])
{
	snprintf(out, 64, "%s%s%.20s_s", side ? "write" : "read", *point ? "_" : "", point);
}

static int ask_model(const struct predictor *p, const struct model *m, const struct load_facts *f,
		     double *s, double *low, double *high, const char **outside, struct err *err)
{
	double *x = calloc(m->schema.nr + 1, sizeof(*x)), half;
	int status = x ? load_model_row(m, f, p->set, p->nr_set, x, err) : -ENOMEM;

	if (!status && !*outside)
		*outside = load_model_outside(m, x);
	if (!status)
		status = model_predict(m, x, 1, s);
	half = status ? NAN : model_half_width(m, PREDICTOR_LEVEL);
	if (isfinite(half))
		model_interval(m, *s, half, low, high);
	free(x);
	return status;
}

/* The time between a client's requests where it was characterized, by the response-time law. */
static double think_of(const struct load_facts *f)
{
	if (!(f->clients >= 1) || !(f->in_flight < f->clients) || !(f->rate_per_s > 0))
		return 0;
	return (f->clients - f->in_flight) / f->rate_per_s;
}

/* The mean response time of joined loads if n clients never thought; NaN where it is unknown. */
static double mean_of(const struct predictor *p, const struct model *const means[2],
		      const struct load_facts *joined, double n)
{
	const double share[2] = { joined->read_ratio, 1 - joined->read_ratio };
	struct load_facts busy = *joined;
	double sum = 0;

	busy.clients = n;
	for (int side = 0; side < 2; side++) {
		double s = NAN, low, high;
		const char *outside = NULL;

		if (!(share[side] > 0))
			continue;
		if (!means[side] || !load_model_is_busy(means[side]) ||
		    ask_model(p, means[side], &busy, &s, &low, &high, &outside, NULL) || !(s > 0))
			return NAN;
		sum += share[side] * s;
	}
	return sum;
}

/* How many clients that never think the loads are worth: a fixed point, by bisection. */
static int count_busy(struct predictor *p, const struct load_facts *f, size_t nr,
		      struct load_facts *joined, struct err *err)
{
	const struct model *means[2] = { NULL, NULL };
	double low = 1, high = joined->clients;
	bool thinks = false;
	int status = 0;

	for (size_t i = 0; i < nr; i++)
		thinks = thinks || think_of(&f[i]) > 0;
	if (!thinks || !(high > low))
		return 0;
	for (int side = 0; side < 2 && !status; side++) {
		char response[64];

		predictor_response("", side, response);
		if (side ? joined->read_ratio < 1 : joined->read_ratio > 0)
			status = predictor_model(p, response, &means[side], err);
	}
	if (status || isnan(mean_of(p, means, joined, high)))
		return status;
	for (int k = 0; k < BISECTIONS; k++) {
		double n = (low + high) / 2, r = mean_of(p, means, joined, n), busy = 0;

		for (size_t i = 0; i < nr; i++)
			busy += f[i].clients * r / (r + think_of(&f[i]));
		if (busy > n)
			low = n;
		else
			high = n;
	}
	joined->clients = high;
	return 0;
}

static bool has_side(const struct load_facts *f, int side)
{
	return side ? f->read_ratio < 1 : f->read_ratio > 0;
}

static int ask_models(struct predictor *p, const struct predictor_ask *ask,
		      const struct load_facts *f, size_t nr, struct predicted *out,
		      const char **outside, struct err *err)
{
	struct load_facts joined;
	int status = 0;

	load_facts_join(f, nr, &joined);
	status = count_busy(p, f, nr, &joined, err);
	for (int side = 0; side < 2 && !status; side++) {
		double s = NAN, low = NAN, high = NAN;
		const struct model *m = NULL;
		char response[64];

		if (!ask->sides[side] || !(ask->any || has_side(&joined, side)))
			continue;
		predictor_response(ask->point, side, response);
		status = predictor_model(p, response, &m, err);
		if (!status && m)
			status = ask_model(p, m, &joined, &s, &low, &high, outside, err);
		for (size_t i = 0; i < nr && !status; i++)
			if (ask->any || has_side(&f[i], side)) {
				out[i].s[side] = s;
				out[i].low[side] = low;
				out[i].high[side] = high;
			}
	}
	return status;
}

int predictor_ask(struct predictor *p, const struct predictor_ask *ask, const struct load_facts *f,
		  size_t nr, struct predicted *out, const char **outside, struct err *err)
{
	const char *which = NULL;
	int status;

	for (size_t i = 0; i < nr; i++)
		out[i] = (struct predicted){ { NAN, NAN }, { NAN, NAN }, { NAN, NAN } };
	if (nr > PREDICTOR_LOADS_MAX)
		return err_set(err, EINVAL, "expected up to %d loads at once, got %zu",
			       PREDICTOR_LOADS_MAX, nr);
	status = p->net ? predictor_ask_net(p, ask, f, nr, out, &which, err)
			: ask_models(p, ask, f, nr, out, &which, err);
	if (outside)
		*outside = which;
	return status;
}
